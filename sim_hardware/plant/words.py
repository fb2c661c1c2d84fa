"""The words that every part of the plant uses."""

from __future__ import annotations

import msgspec

from sim_hardware.plant.kinds import KINDS

Value = float | str | frozenset[str] | None  # None: there is no such value at present


class PlantError(Exception):
    """The plant was asked for something that is not there, or told something that cannot be."""


class UnknownSensorError(PlantError):
    """No sensor measures this quantity of this subject."""


class OrderError(PlantError):
    """The thing that the order names is not there, or the value is outside of what it can take."""


class Order(msgspec.Struct, frozen=True):
    """Something done to the plant: by a device that was told to, by a hand, or by a fault."""


class Happening(msgspec.Struct, frozen=True):
    """Something that happened to the plant, at `at` seconds: the truth by which scenarios are judged.

    Raises PlantError for a kind that is not known.
    """

    at: float
    kind: str  # of `kinds.KINDS`
    subject: str
    text: str = ""  # one sentence
    value: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise PlantError(f"{self.kind} is no kind of happening; add it to sim_hardware/plant/kinds.py")


class Sensor(msgspec.Struct, frozen=True):
    """A place where something is measured."""

    subject: str
    quantity: str
    unit: str
