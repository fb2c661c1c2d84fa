"""The fan loop of a node: PI on how far the worst part is over its aim, with a band in which nothing moves. Pure, with memory.

It begins from wherever the fans are. Its integral stops where the duty cannot follow: at full speed, and at the least that is called for,
which is found anew at every look, a cause each. While every fan stands, after a shed or a loss of their power, it keeps the duty that it
had: they come back calmly, and what has become hot meanwhile is seen by its temperature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Setpoint, View
from supernoded_thermal.node.demand import FULL, WATCHES, Demand, find_demand, find_least
from supernoded_thermal.node.settings import NodeSettings

PERIOD = 2.0  # s between two outputs; parts take 40 to 90 s, dies under air about 10 (ours)

# The air gains about -0.4 K for a per cent at half speed, less above, and lags by 40 to 90 s: these damp it by 0.8 or more (ours).
_PROPORTIONAL = 1.0  # % per K
_INTEGRAL = 0.02  # % per K and second
_BAND = 4.0  # K below the aim, in which nothing moves
_UP, _DOWN = 8.0, 1.0  # most, % a second
_LEAST_MOVE = 2.0  # %: smaller changes are heard and do not cool


class FanMemory(msgspec.Struct, frozen=True):
    """Where the fans were left."""

    duty: float  # % as worked out
    put: float  # % as put
    integral: float | None = None  # %; None = it has to fit where the fans are
    at: float | None = None
    known: frozenset[str] = frozenset()


class FanLoop:
    """Turns `n0/fans`."""

    scope, period = NODE, PERIOD
    watches: Mapping[str, float] = WATCHES

    def __init__(self, node: str, air_cards: Sequence[str], settings: NodeSettings) -> None:
        self.name, self.target = f"fans of {node}", f"{node}/fans"
        self._node, self._cards, self._settings = node, tuple(air_cards), settings

    def start(self, now_at: Setpoint | None) -> FanMemory:
        """From where they are; from full speed when that cannot be seen."""
        duty = FULL if now_at is None else min(max(now_at.value, 0.0), FULL)
        return FanMemory(duty=duty, put=duty)

    def steer(self, seen: View, memory: FanMemory) -> tuple[FanMemory, Setpoint | None]:
        """The next duty; None until the first temperature was read: nothing is taken from a BMC to go by nothing."""
        demand = find_demand(seen, self._node, self._cards, memory.known, self._settings)
        if not demand.known:
            return memory, None
        if demand.standing:
            kept = msgspec.structs.replace(memory, at=seen.now, known=demand.known)
            return kept, self._make(memory.put, f"at its last duty: all fans of {self._node} stand, their power is away")
        step = PERIOD if memory.at is None else min(max(seen.now - memory.at, 0.0), 3.0 * PERIOD)
        least = find_least(demand, self._settings)
        integral, wanted = _work(memory, demand.over, least, step)
        slowest = memory.duty - (0.0 if any(floor.is_blind for floor in demand.floors) else _DOWN * step)
        duty = min(max(wanted, least, slowest), memory.duty + _UP * step, FULL)
        put = duty if abs(duty - memory.put) >= _LEAST_MOVE or duty in (FULL, least) else memory.put
        return FanMemory(duty, put, integral, seen.now, demand.known), self._make(put, demand.note)

    def hold(self, seen: View, memory: FanMemory, value: float) -> tuple[FanMemory, Setpoint | None]:
        """A person's duty, but never less than the worst part and what is not known call for."""
        demand = find_demand(seen, self._node, self._cards, memory.known, self._settings)
        if not demand.known:
            return memory, None
        least = find_least(demand, self._settings)
        duty = min(max(value, least), FULL)
        note = "; ".join(filter(None, [_say_kept(value, least, demand), demand.note]))
        return FanMemory(duty, duty, None, seen.now, demand.known), self._make(duty, note)

    def _make(self, duty: float, note: str) -> Setpoint:
        return Setpoint(target=self.target, quantity="fan.duty", value=duty, unit="%", note=note)


def _work(memory: FanMemory, over: float | None, least: float, step: float) -> tuple[float | None, float]:
    """The integral and what PI wants, %; without a temperature it wants what there is."""
    if over is None:
        return memory.integral, memory.duty
    error = _dead(over)
    quick = _PROPORTIONAL * error
    integral = memory.duty - quick if memory.integral is None else memory.integral
    wanted = quick + integral
    if (wanted < FULL or error < 0.0) and (wanted > least or error > 0.0):
        integral += _INTEGRAL * error * step
    return integral, quick + integral


def _dead(over: float) -> float:
    """K outside the band that reaches from the aim downwards."""
    return over if over > 0.0 else min(over + _BAND, 0.0)


def _say_kept(value: float, least: float, demand: Demand) -> str:
    if value >= least:
        return ""
    room = "" if demand.room is None else f", the worst part is {demand.room:.0f} K below its limit"
    return f"not held at {value:.0f} % but at {least:.0f} %{room}"
