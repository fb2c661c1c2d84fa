"""The roles that this node holds on lease, and for how long each is still good: by two clocks, counted from before it was asked for."""

from __future__ import annotations

import logging
from typing import NamedTuple

import msgspec

from supernoded.clock import Clock
from supernoded.cluster.roles.seats import Tenure

MARGIN = 0.1  # share of the term before whose end a lease is given up: two clocks run at two speeds, and frames take time (ours)


class Asked(NamedTuple):
    """The moment before a lease was asked for, on both scales of the clock."""

    now: float
    wall: float


class Holding(msgspec.Struct, frozen=True, kw_only=True):
    """One role that is ours."""

    epoch: int
    since: float
    asked: Asked
    bridging: bool = False


class Tenancy:
    """All of them. Gain and loss are logged once, with the reason."""

    def __init__(self, term: float, clock: Clock, log: logging.Logger) -> None:
        self.good_for = term * (1.0 - MARGIN)  # seconds
        self._clock, self._log = clock, log
        self._held: dict[str, Holding] = {}

    def ask(self) -> Asked:
        """Now."""
        return Asked(self._clock.now(), self._clock.wall())

    def find(self, role: str) -> Holding | None:
        """One that was taken and not yet given up; it may have run out all the same."""
        return self._held.get(role)

    def list_good(self) -> dict[str, Holding]:
        """Those that are still good."""
        return {role: held for role, held in sorted(self._held.items()) if self.left(held) > 0.0}

    def list_spent(self) -> list[str]:
        """Those that are not."""
        return sorted(role for role, held in self._held.items() if self.left(held) <= 0.0)

    def left(self, held: Holding) -> float:
        """Seconds for which it is still good, by the scale that never jumps."""
        return self.good_for - (self._clock.now() - held.asked.now)

    def age(self, held: Holding) -> float:
        """Seconds since it was asked for, by the scale that has run further: the one that never jumps stands while a machine sleeps.

        What is written is judged by this. A wall clock that is set forth only delays it until the lease has been renewed, which is at once.
        """
        return max(self._clock.now() - held.asked.now, self._clock.wall() - held.asked.wall)

    def renew(self, role: str, epoch: int, asked: Asked) -> bool:
        """Take note of a lease; whether it is a new one, or has another epoch than ours had."""
        before = self._held.get(role)
        if before is not None and before.epoch == epoch:
            self._held[role] = msgspec.structs.replace(before, asked=max(before.asked, asked), bridging=False)
            return False
        self._held[role] = Holding(epoch=epoch, since=self._clock.now(), asked=asked)
        self._log.info("role %s: taken with epoch %d", role, epoch)
        return True

    def bridge(self, role: str, asked: Asked) -> None:
        """Keep it for another term though the database is lost."""
        held = self._held[role]
        if not held.bridging:
            self._log.warning("role %s: kept past its lease of epoch %d, since nobody else has it or can take it", role, held.epoch)
        self._held[role] = msgspec.structs.replace(held, asked=asked, bridging=True)

    def drop(self, role: str, why: str, level: int = logging.WARNING) -> None:
        """Give it up."""
        held = self._held.pop(role)
        self._log.log(level, "role %s: given up with epoch %d after %.1f s: %s", role, held.epoch, self._clock.now() - held.since, why)

    def describe(self) -> list[Tenure]:
        """The good ones, as the house knows them."""
        return [
            Tenure(role=role, epoch=held.epoch, since=held.since, until=self._clock.now() + self.left(held), bridging=held.bridging)
            for role, held in self.list_good().items()
        ]
