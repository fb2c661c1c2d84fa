"""Which roles this node holds. A site without a database fixes them in its settings; with one they are leased in it (`leased.py`)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Protocol

import msgspec

from supernoded.journal.leases import FIXED
from supernoded.model import NODE

FIXED_TERM = 15.0  # seconds for which what the holder of a fixed seat tells is believed: it is told anew three times meanwhile (ours)


class Tenure(msgspec.Struct, frozen=True, kw_only=True):
    """A role that this node holds. Times are on the scale of `Clock.now`."""

    role: str
    epoch: int
    since: float
    until: float | None = None  # when it ends unless it is renewed; None = the settings fix it
    bridging: bool = False  # its lease has run out, the database is lost, and no candidate has it (design section 10)


class Seats(Protocol):
    """What the house needs to know of roles. `changed` is set when a role was gained, lost or given another epoch."""

    changed: asyncio.Event

    @property
    def held(self) -> list[str]:
        """The roles of this node, sorted."""
        ...

    @property
    def tenures(self) -> list[Tenure]:
        """The same with their epochs and ends, sorted by role."""
        ...

    @property
    def roles(self) -> Mapping[str, str]:
        """Every role whose holder is known, and that node."""
        ...

    @property
    def age(self) -> float:
        """How old the oldest part of that knowledge is, in seconds."""
        ...

    def epoch(self, role: str) -> int:
        """The highest epoch of a role that is known here; 0 = fixed, or never heard of."""
        ...

    def find_refusal(self, scope: str) -> str | None:
        """Why this node may not write for a scope; None = it may. Asked by the pen, so it answers at once."""
        ...

    def is_vacant(self, role: str) -> bool:
        """Whether this node neither holds a role nor will take it within a term: the answer to a holder that has lost the database."""
        ...

    def step_down(self, role: str, epoch: int, why: str) -> None:
        """Give up a role that has gone to another, if it is still held with that epoch."""
        ...

    async def run(self) -> None:
        """Keep what is held, take what is vacant; for ever."""
        ...

    async def give_back(self) -> None:
        """At an orderly end: the next holder need not wait. Bounded, and never fails."""
        ...


class FixedSeats:
    """The roles that the settings give to this node, for as long as it runs since `since`."""

    def __init__(self, node: str, roles: Mapping[str, str], since: float = 0.0) -> None:
        self._node, self._roles, self._since = node, dict(roles), since
        self.changed = asyncio.Event()

    @property
    def held(self) -> list[str]:
        """See `Seats.held`."""
        return sorted(role for role, node in self._roles.items() if node == self._node)

    @property
    def tenures(self) -> list[Tenure]:
        """See `Seats.tenures`."""
        return [Tenure(role=role, epoch=FIXED, since=self._since) for role in self.held]

    @property
    def roles(self) -> Mapping[str, str]:
        """See `Seats.roles`."""
        return self._roles

    @property
    def age(self) -> float:
        """See `Seats.age`: what the settings say is never old."""
        return 0.0

    def epoch(self, role: str) -> int:
        """See `Seats.epoch`."""
        del role
        return FIXED

    def find_refusal(self, scope: str) -> str | None:
        """See `Seats.find_refusal`."""
        if scope == NODE or self._roles.get(scope) == self._node:
            return None
        holder = self._roles.get(scope)
        return f"the settings give {scope} to {holder}" if holder else f"the settings give {scope} to nobody"

    def is_vacant(self, role: str) -> bool:
        """See `Seats.is_vacant`."""
        return self._roles.get(role) != self._node

    def step_down(self, role: str, epoch: int, why: str) -> None:
        """See `Seats.step_down`; there is nobody to step down for."""

    async def run(self) -> None:
        """See `Seats.run`; the settings have said it all."""

    async def give_back(self) -> None:
        """See `Seats.give_back`; nobody may take them."""
