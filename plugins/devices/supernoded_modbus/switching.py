"""Single outlets: off and on, judged by state and by watts (safety rules 8, 23)."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import Action, Effect, Sight
from supernoded_modbus.pdu import IDLE_W, Outlet, ShedPdu

OFF = frozenset({"power.off", "outlet.off"})
ON = frozenset({"power.on", "outlet.on"})


class Switching:
    """Performs both on every outlet that the topology describes."""

    kinds = OFF | ON

    def __init__(self, pdus: Sequence[ShedPdu]) -> None:
        self._outlets = {f"{pdu.subject}/outlet{one.number}": (pdu, str(one.number)) for pdu in pdus for one in pdu.spec.outlets}
        self.targets = tuple(self._outlets)

    async def apply(self, action: Action) -> None:
        """Switch it, unless it is locked. Raises WireError, NotHeldError."""
        pdu, number = self._outlets[action.step.target]
        await pdu.switch(action.scope, number, on=action.step.kind in ON)

    async def observe(self, action: Action) -> Sight:
        """What state and meter show. Raises WireError."""
        pdu, number = self._outlets[action.step.target]
        outlet = (await pdu.look_outlets()).get(number)
        if outlet is None:
            return Sight(effect=Effect.UNKNOWN, text="its register map has no such outlet")
        return judge_on(outlet) if action.step.kind in ON else judge_off(outlet)


def judge_off(outlet: Outlet) -> Sight:
    """PRESENT: off, and it draws nothing."""
    if outlet.on:
        return Sight(effect=Effect.ABSENT, text=f"it is on, {outlet.watts:g} W")
    if not outlet.watts <= IDLE_W:
        return Sight(effect=Effect.UNKNOWN, text=f"it shows off, and {outlet.watts:g} W where at most {IDLE_W:g} W are due")
    return Sight(effect=Effect.PRESENT, text=f"it is off, {outlet.watts:g} W")


def judge_on(outlet: Outlet) -> Sight:
    """PRESENT: on, and something is drawn."""
    if not outlet.on:
        return Sight(effect=Effect.ABSENT, text="it is off")
    if not outlet.watts > 0.0:
        return Sight(effect=Effect.UNKNOWN, text=f"it shows on, and {outlet.watts:g} W: nothing on it has started")
    return Sight(effect=Effect.PRESENT, text=f"it is on, {outlet.watts:g} W")
