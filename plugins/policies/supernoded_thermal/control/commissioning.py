"""What commissioning recorded of a CDU: the valve's positions, and the temperatures at each."""

from __future__ import annotations

import math
from pathlib import Path
from statistics import fmean

import msgspec

from supernoded.plugin import PluginError
from supernoded_thermal.control.tracing import Trace

LEAST_POINTS = 3
LEAST_SPAN = 20.0  # % of stroke that they must cover
LEAST_HEAT = 0.3  # K between return and supply, below which 0.1 K steps are most of what is seen


class Point(msgspec.Struct, frozen=True, kw_only=True, rename={"returned": "return"}):
    """One position of the valve, held until everything was steady. %, C and L/min."""

    valve: float
    supply: float
    returned: float
    primary: float
    flow: float

    @property
    def effectiveness(self) -> float:
        """What the coolant was cooled by, of what it could have been."""
        return (self.returned - self.supply) / (self.returned - self.primary)


class Commissioning(msgspec.Struct, frozen=True, kw_only=True):
    """The file that `supernodectl thermal commission` writes; what has a default may be missing."""

    cdu: str
    points: tuple[Point, ...]
    recorded: str = ""
    silence_s: float | None = None
    fallback_c: float | None = None
    trace: Trace | None = None

    @property
    def flow(self) -> float:
        """Mean flow, L/min."""
        return fmean(point.flow for point in self.points)

    @property
    def primary(self) -> float:
        """Mean temperature of the primary water, C."""
        return fmean(point.primary for point in self.points)


def read_commissioning(path: Path) -> Commissioning | None:
    """What is in the file; None when there is none. Raises PluginError that says what is wrong with it."""
    try:
        return parse_commissioning(path.read_bytes(), str(path))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise PluginError(f"{path}: commissioning data cannot be read: {error.strerror}") from error


def parse_commissioning(text: bytes, name: str) -> Commissioning:
    """The data in a file's text. Raises PluginError that says what is wrong with it."""
    try:
        data = msgspec.toml.decode(text, type=Commissioning)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise PluginError(f"{name}: {error}; record it anew with `supernodectl thermal commission`") from error
    fault = _find_fault(data)
    if fault:
        raise PluginError(f"{name}: {fault}; record it anew with `supernodectl thermal commission`")
    return data


def _find_fault(data: Commissioning) -> str:
    if len(data.points) < LEAST_POINTS:
        return f"{len(data.points)} points, at least {LEAST_POINTS} are needed"
    for point in data.points:
        fault = _find_point_fault(point)
        if fault:
            return f"point at valve {point.valve:g} %: {fault}"
    span = max(point.valve for point in data.points) - min(point.valve for point in data.points)
    if span < LEAST_SPAN:
        return f"its points cover {span:g} % of the valve's stroke, at least {LEAST_SPAN:g} % are needed"
    flows = [point.flow for point in data.points]
    if max(flows) > 1.5 * min(flows):
        return f"flow went from {min(flows):g} to {max(flows):g} L/min; keep the pumps as they are while it is recorded"
    if data.trace is not None and not data.trace.is_whole:
        return "the lists of its trace differ in length"
    return ""


def _find_point_fault(point: Point) -> str:
    if not all(map(math.isfinite, (point.valve, point.supply, point.returned, point.primary, point.flow))):
        return "a value is no number"
    if not 0.0 <= point.valve <= 100.0:
        return "a valve stands at 0 to 100 %"
    if point.flow <= 0.0:
        return f"flow {point.flow:g} L/min, must be above 0"
    if not -20.0 <= point.primary < point.supply < point.returned <= 110.0:
        words = f"primary {point.primary:g}, supply {point.supply:g}, return {point.returned:g} C"
        return f"{words}: they must rise in this order"
    if point.returned - point.supply < LEAST_HEAT:
        return f"return is {point.returned - point.supply:.2f} K over supply, at least {LEAST_HEAT:g} K are needed to see heat"
    return ""
