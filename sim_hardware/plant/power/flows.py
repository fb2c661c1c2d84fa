"""What flows: the powers between two events, and the book of energy."""

from __future__ import annotations

import math

import msgspec

from sim_hardware.plant.power.things import DEAD, Shares


class UpsFlow(msgspec.Struct, frozen=True):
    """The powers of a UPS, W, and when its battery and its inverter come to their next mark."""

    phases: Shares = DEAD
    output: float = 0.0
    input: float = 0.0
    stored: float = 0.0  # into the battery; negative: out of it
    battery_due: float = math.inf
    battery_mark: float = 0.0
    strain: float = 0.0  # 1/s
    strain_due: float = math.inf
    strain_mark: float = 0.0


class BreakerFlow(msgspec.Struct, frozen=True):
    """The heat that a breaker tends to, and when it opens."""

    target: float = 0.0
    trip_at: float = math.inf


class ShelfFlow(msgspec.Struct, frozen=True):
    """A shelf that fills or empties, W, until `due`, when it holds `mark` J."""

    node: int
    stored: float
    due: float
    mark: float


class EnergyBook(msgspec.Struct, frozen=True):
    """Joules since the start; as rates, watts. What came in is what went out, was lost, and is stored more than at the start."""

    utilities: tuple[float, float] = (0.0, 0.0)
    generator: float = 0.0
    delivered: float = 0.0
    lost: float = 0.0
    batteries: float = 0.0
    shelves: float = 0.0

    @property
    def drawn(self) -> float:
        """What came in."""
        return self.utilities[0] + self.utilities[1] + self.generator

    def add(self, rate: EnergyBook, seconds: float) -> EnergyBook:
        """After so many seconds at these watts."""
        return EnergyBook(
            utilities=(self.utilities[0] + rate.utilities[0] * seconds, self.utilities[1] + rate.utilities[1] * seconds),
            generator=self.generator + rate.generator * seconds,
            delivered=self.delivered + rate.delivered * seconds,
            lost=self.lost + rate.lost * seconds,
            batteries=self.batteries + rate.batteries * seconds,
            shelves=self.shelves + rate.shelves * seconds,
        )


class Flow(msgspec.Struct, frozen=True):
    """All powers, constant until the next event."""

    outlets: tuple[float, ...]
    pdus: tuple[float, ...]
    ups: tuple[UpsFlow, ...]
    breakers: tuple[BreakerFlow, ...]
    shelves: tuple[ShelfFlow, ...]
    book: EnergyBook
