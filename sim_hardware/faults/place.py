"""Where a fault is: the rig, the target, and what is remembered of both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from sim_hardware.plant.words import Order, OrderError
from sim_hardware.rig import Rig

T = TypeVar("T")


@dataclass(frozen=True)
class Place:
    """One kind of fault at one target of one rig."""

    rig: Rig
    kind: str
    target: str

    @property
    def short(self) -> str:
        """The target without its family: `A` of `ups/A`."""
        return self.target.partition("/")[2]

    @property
    def node(self) -> str:
        """The node of a subject below one: `n0` of `n0/card3`."""
        return self.target.partition("/")[0]

    @property
    def owner(self) -> str:
        """What the target is a numbered part of: `cdu/0` of `cdu/0/pump1`."""
        return self.target.rpartition("/")[0]

    @property
    def number(self) -> int:
        """The number at its end: 1 of `cdu/0/pump1`. Raises ValueError when there is none."""
        return int(self.target[len(self.target.rstrip("0123456789")) :])

    def order(self, order: Order) -> None:
        """Do something to the plant. Raises OrderError."""
        self.rig.world.order(order)

    def order_if_possible(self, order: Order) -> None:
        """End something that may not be there."""
        try:
            self.order(order)
        except OrderError:
            return  # there is nothing to end

    def remember(self, what: str, value: T) -> T:
        """What was remembered first; from now on this value, when it is the first."""
        kept: T = self.rig.baselines.setdefault((self.kind, self.target, what), value)
        return kept

    def replace(self, what: str, value: T) -> T | None:
        """What was remembered last, and remember this now."""
        before: T | None = self.rig.baselines.get((self.kind, self.target, what))
        self.rig.baselines[self.kind, self.target, what] = value
        return before

    def recall(self, what: str) -> Any:
        """What is remembered; None when nothing is."""
        return self.rig.baselines.get((self.kind, self.target, what))

    def forget(self, what: str) -> None:
        """Remember it no more."""
        self.rig.baselines.pop((self.kind, self.target, what), None)
