"""A policy of the test's own: it holds the valve of a coolant unit where it stands, so that every put is a heartbeat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from supernoded.plugin import Loop, Node, Setpoint, View, hookimpl

CDU = "cdu/0"
HALF = 50.0  # % where the unit does not tell where its valve stands


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[plugins.turning]`."""

    period: float = 0.5  # seconds between two heartbeats


@dataclass(frozen=True)
class Turn:
    """Puts what it found."""

    period: float
    name: str = "turn"
    scope: str = CDU
    target: str = f"{CDU}/valve"
    watches: Mapping[str, float] = field(default_factory=dict)

    def start(self, now_at: Setpoint | None) -> float:
        """See `Loop.start`."""
        return HALF if now_at is None else now_at.value

    def steer(self, seen: View, memory: float) -> tuple[float, Setpoint]:
        """See `Loop.steer`."""
        until = seen.now + 3 * self.period
        return memory, Setpoint(target=self.target, quantity="coolant.valve", value=memory, unit="%", until=until)


@hookimpl
def supernoded_settings() -> type[Settings]:
    """The table."""
    return Settings


@hookimpl
def supernoded_loops(settings: Settings, node: Node) -> Sequence[Loop[float]]:
    """One."""
    del node
    return [Turn(settings.period)]
