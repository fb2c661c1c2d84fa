"""The words that every part of the plant uses."""

from __future__ import annotations

import msgspec

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
    """Something that happened to the plant, at `at` seconds: the truth by which scenarios are judged."""

    at: float
    kind: str  # such as ups.on_battery, breaker.tripped, job.lost
    subject: str
    text: str = ""  # one sentence
    value: float | None = None


class Sensor(msgspec.Struct, frozen=True):
    """A place where something is measured."""

    subject: str
    quantity: str
    unit: str
