"""Before and beside operation: the preflight check and the fault a scenario may inject."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from supernoded.plugin import NODE, Effect, Fidelity, Finding, Severity, Sight, Tree, Undo, World
from supernoded_acme.device import HEAL, Chiller

MODEL = "acme-chiller/1"


@dataclass(frozen=True)
class IdentityCheck:
    """Model and serial must match before anything is written to a device."""

    chiller: Chiller
    serial: str
    id: str = "x.acme.identity"
    source: str = "x.acme.manual"
    stage: str = "compute"
    severity: Severity = Severity.CRITICAL

    async def check(self, world: World) -> Finding:
        """See `Check.check`."""
        del world
        found = await self.chiller.ask("hello", "hello")
        wanted = [MODEL, self.serial or found[-1]]
        fix = f"set [plugins.acme] serial to {found[-1]!r}, or point wire at the chiller {self.serial!r}"
        return Finding(passed=found == wanted, found=" ".join(found), wanted=" ".join(wanted), fix=fix)


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fault takes no parameters."""


@dataclass(frozen=True)
class FailingFault:
    """The chiller says that it is failing. Its own simulation, so it is never true to physics and never meant for production."""

    chiller: Chiller
    notes: Tree
    kind: str = "x.acme.failing"
    danger: str = "telemetry"

    @property
    def parameters(self) -> type[Nothing]:
        """None."""
        return Nothing

    def fidelity(self, drive: str) -> Fidelity:
        """See `Fault.fidelity`."""
        return Fidelity.ABSENT if drive == "live" else Fidelity.TELEMETRY

    async def inject(self, target: str, with_: Nothing) -> Undo:
        """See `Fault.inject`."""
        del with_
        undo = Undo(steps=({"kind": HEAL, "target": target},))
        await self.notes.order(NODE, "x.acme.failing.undo.json", msgspec.json.encode(undo).decode())
        await self.chiller.order(NODE, "simulate failing x.acme.failing")
        return undo

    async def manifest(self) -> Sight:
        """See `Fault.manifest`."""
        health = await self.chiller.ask("get health", "health")
        return Sight(effect=Effect.PRESENT if health == ["failing"] else Effect.ABSENT, text=f"health {health[0]}")
