"""What can be wrong with a sensor, whatever it measures: it stands between the plant's truth and what a device shows."""

from __future__ import annotations

import math
from collections import deque
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from sim_hardware.plant.words import Value


class Freeze(msgspec.Struct, frozen=True, tag="freeze"):
    """It shows the same for ever: `value`, or what it showed when it froze."""

    value: float | None = None


class NotANumber(msgspec.Struct, frozen=True, tag="nan"):
    """It shows NaN, or what its device makes of it."""


class Absent(msgspec.Struct, frozen=True, tag="absent"):
    """It is not there."""


class Drift(msgspec.Struct, frozen=True, tag="drift"):
    """It goes away from the truth by so much an hour, in its own unit."""

    per_hour: float


class UnitSlip(msgspec.Struct, frozen=True, tag="unit_slip"):
    """It shows another unit: Fahrenheit for Celsius, or a thousandfold (milli) of anything."""

    into: Literal["fahrenheit", "milli"] = "fahrenheit"


class Swap(msgspec.Struct, frozen=True, tag="swap"):
    """It shows what belongs to another subject."""

    with_: str


class Late(msgspec.Struct, frozen=True, tag="late"):
    """It shows what was so many seconds ago."""

    seconds: Annotated[float, Meta(gt=0, le=600)]


Pathology = Freeze | NotANumber | Absent | Drift | UnitSlip | Swap | Late


class SickSensor:
    """One sensor with one pathology since `since`; `first` is what it showed then."""

    def __init__(self, pathology: Pathology, since: float, first: Value) -> None:
        self.pathology, self.since, self._first = pathology, since, first
        self._past: deque[tuple[float, Value]] = deque([(since, first)])

    def note(self, at: float, truth: Value) -> None:
        """Remember the truth, so that a late sensor can show it later. To be called on every step of the plant."""
        if not isinstance(self.pathology, Late):
            return
        self._past.append((at, truth))
        self._forget(at - self.pathology.seconds)

    def show(self, at: float, truth: Value) -> Value:
        """What it shows at a time; a swap is the panel's to answer."""
        match self.pathology:
            case Freeze(value=value):
                return self._first if value is None else value
            case NotANumber():
                return math.nan
            case Absent():
                return None
            case Late(seconds=seconds):
                self._forget(at - seconds)
                return self._past[0][1]
            case Drift(per_hour=rate) if isinstance(truth, float | int):
                return truth + rate * (at - self.since) / 3600.0
            case UnitSlip(into=into) if isinstance(truth, float | int):
                return truth * 1.8 + 32.0 if into == "fahrenheit" else truth * 1000.0
        return truth

    def _forget(self, before: float) -> None:
        """Keep what was true at that time, and since."""
        while len(self._past) > 1 and self._past[1][0] <= before:
            self._past.popleft()
