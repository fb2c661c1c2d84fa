"""Controllers of a CDU's primary valve on the bench: ours, and what others have published, re-made.

All start without a bump and have the gains of the reference plant's own PI, 8 % of stroke for a kelvin and 0.8 for a kelvin and second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Protocol

from benchmarks.cooled import CARDS, LOOP, NODES, SETPOINT
from supernoded.history import History
from supernoded.plugin import Reading, Setpoint, State
from supernoded_thermal.control.commissioning import Commissioning
from supernoded_thermal.control.settings import ControlSettings
from supernoded_thermal.control.valve import ValveLoop

GAIN, RATE = 8.0, 0.8  # % for a kelvin; the same a second (facility's reference: 0.08 and 0.008 of stroke)
SUPPLY = "coolant.supply_temperature"
FRESH = 12.5  # s for which a reading counts, as of a sensor that is read every 5 s
SLEW = 10.0  # % a second


class Controller(Protocol):
    """Asked once a second."""

    def take(self, readings: Sequence[Reading]) -> None:
        """Hear what was read."""
        ...

    def step(self, now: float) -> float | None:
        """The valve, %; None = nothing is put."""
        ...


class Ours:
    """The loop of `supernoded_thermal`, with commissioning data."""

    def __init__(self, stands: float, data: Commissioning | None, settings: ControlSettings | None = None) -> None:
        self.loop = _make_loop(data, settings or ControlSettings())
        self.memory = self.loop.start(Setpoint(target=self.loop.target, quantity="coolant.valve", value=stands))
        self.history = History(self.loop.watches)
        self.note = ""

    def take(self, readings: Sequence[Reading]) -> None:
        self.history.add(readings, FRESH)

    def step(self, now: float) -> float | None:
        self.memory, setpoint = self.loop.steer(self.history.view(now, self.loop.watches), self.memory)
        self.note = "" if setpoint is None else setpoint.note
        return None if setpoint is None else setpoint.value


@cache
def _make_loop(data: Commissioning | None, settings: ControlSettings) -> ValveLoop:
    """A loop is pure, and reading what commissioning recorded takes longer than a run."""
    return ValveLoop(LOOP, [f"n{node}/card{card}" for node in range(NODES) for card in range(CARDS)], (LOOP,), settings, data)


class _Alone:
    """What goes by the supply's newest reading alone."""

    def __init__(self, stands: float, data: Commissioning | None) -> None:
        del data
        self.output = stands
        self.supply: float | None = SETPOINT

    def take(self, readings: Sequence[Reading]) -> None:
        for reading in readings:
            if reading.quantity == SUPPLY:
                good = reading.state is State.GOOD and isinstance(reading.value, float)
                self.supply = float(reading.value) if good and isinstance(reading.value, float) else None


class Pi(_Alone):
    """PI alone, which does not integrate against an end stop; without a reading it stays where it is."""

    integral: float | None = None

    def step(self, now: float) -> float | None:
        del now
        if self.supply is None:
            return self.output
        error = self.supply - SETPOINT
        before = self.output - GAIN * error if self.integral is None else self.integral
        wish = before + RATE * error + GAIN * error
        free = 0.0 < wish < 100.0 or (wish >= 100.0) == (error < 0.0)
        self.integral = before + RATE * error if free else before
        self.output = max(0.0, min(100.0, self.integral + GAIN * error))
        return self.output


class Swampd(_Alone):
    """The structure of phosphor-pid-control's `pid/ec/pid.cpp`, with a slew set.

    Clamped integral; feed-forward of the setpoint alone, which is a constant here; clamped output; slew, and only with one a
    back-calculation, of which the feed-forward is no part. A reading that is no number counts as no error.
    """

    integral: float | None = None
    forward = 0.0  # gain 0: a constant of the setpoint would only move the integral

    def step(self, now: float) -> float | None:
        del now
        error = 0.0 if self.supply is None else self.supply - SETPOINT
        proportional = GAIN * error
        before = self.output - proportional if self.integral is None else self.integral
        integral = max(0.0, min(100.0, before + RATE * error))
        wish = max(0.0, min(100.0, proportional + integral + self.forward))
        output = max(self.output - SLEW, min(self.output + SLEW, wish))
        self.integral = output - proportional if output != wish else integral
        self.output = output
        return output


class Thermald(_Alone):
    """The structure of thermald's PID: no limit to its sum of errors, whole seconds, and a read error is 0 C."""

    total: float | None = None
    last = 0

    def step(self, now: float) -> float | None:
        error = (0.0 if self.supply is None else self.supply) - SETPOINT
        if self.total is None:
            self.total, self.last = (self.output - GAIN * error) / RATE, int(now)
        self.total += error * (int(now) - self.last)
        self.last = int(now)
        self.output = max(0.0, min(100.0, GAIN * error + RATE * self.total))
        return self.output


CONTROLLERS: Mapping[str, Callable[[float, Commissioning | None], Controller]] = MappingProxyType(
    {"ours": Ours, "pi": Pi, "swampd": Swampd, "thermald": Thermald}
)
