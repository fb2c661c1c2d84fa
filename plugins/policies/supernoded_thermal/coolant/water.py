"""How much coolant flows against what pump speed and pressure should give, as learned from the loop while it is well. Pure.

At one opening of the branches flow goes with pump speed, and with the root of the pressure difference; pressure goes with the square
of speed. The numbers between them are learned: slowly, and never from less than they were by more than a little, which is the trouble
that is looked for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec

from supernoded.plugin import View, find_least
from supernoded_thermal.coolant.pumps import WATCHES as PUMPS
from supernoded_thermal.coolant.pumps import Pump, list_pumps
from supernoded_thermal.coolant.seeing import BRANCH, FLOW, LIFT
from supernoded_thermal.coolant.site import Loop
from supernoded_thermal.settings import ThermalSettings

WATCHES: Mapping[str, float] = {**PUMPS, FLOW: 60.0, LIFT: 60.0, BRANCH: 60.0}
LEARN_S = 600.0  # time constant
FIRST = 20.0  # readings at first count alike
LESS, NOTHING = 0.85, 0.5  # shares of what is known: less of a ratio, or of flow, is not learned from
RATED = "rated"


class Water(msgspec.Struct, frozen=True):
    """A loop's flow now, and what it should be; None = not told, or not known. L/min, kPa, %."""

    flow: float | None
    lift: float | None
    speed: float | None  # mean of the pumps that turn
    pumps: tuple[Pump, ...]
    rated: float | None
    by_speed: float | None
    by_lift: float | None
    at_best: float | None  # at this speed with as many pumps as it has been seen to need
    lift_share: float | None  # of the pressure that this speed gave when the loop was well
    closed: bool = False  # every branch is closed: nothing can flow

    @property
    def runs(self) -> bool:
        """Whether any pump turns, or is told to."""
        return any(pump.turns or (pump.command or 0.0) > 0.0 or pump.fault for pump in self.pumps)

    @property
    def fault(self) -> str:
        """What is wrong with its pumps; empty when nothing is."""
        return "; ".join(pump.fault for pump in self.pumps if pump.fault)

    def is_gone(self, share: float) -> bool:
        """Whether there is no flow: less than a share of what is usual, none at all, or backwards."""
        if self.flow is None or self.closed or (self.rated is None and not self.runs):
            return False
        return self.flow <= 0.0 or (self.rated is not None and self.flow < share * self.rated)

    def is_short(self, share: float) -> bool:
        """Whether flow is not seen to be what speed and pressure should give with as many pumps as it needs."""
        if self.closed:
            return False
        if self.flow is None or self.flow <= 0.0 or self.list_short(share):
            return True
        usual = self.rated if self.speed is None else self.at_best
        return self.flow < share * usual if usual is not None else self.speed is None

    def list_short(self, share: float) -> list[str]:
        """By which measures there is less flow than a share of what should be."""
        wanted = {"speed": self.by_speed, "pressure": self.by_lift}
        if self.flow is None or self.closed:
            return []
        return [name for name, flow in wanted.items() if flow is not None and self.flow < share * flow]


def look_at_water(seen: View, loop: Loop, known: Mapping[str, float], settings: ThermalSettings) -> Water:
    """The loop as it is told now, beside what is known of it."""
    pumps = tuple(list_pumps(seen, loop))
    flow, lift, speed, turning = _measure(seen, loop, pumps)
    rated = settings.rated_flow.get(loop.name, known.get(RATED))
    per_speed, per_root = known.get(f"flow/speed {turning}"), known.get("flow/root")
    per_square = known.get(f"lift/square {turning}")
    by_speed = per_speed * speed if per_speed is not None and speed is not None else None
    by_lift = per_root * math.sqrt(lift) * _find_open(seen, loop) if per_root is not None and lift is not None and lift > 0.0 else None
    share = lift / (per_square * speed**2) if per_square and speed and lift is not None else None
    best = max((ratio for name, ratio in known.items() if name.startswith("flow/speed ")), default=None)
    at_best = best * speed if best is not None and speed is not None else None
    return Water(flow, lift, speed, pumps, rated, by_speed, by_lift, at_best, share, closed=_find_open(seen, loop) <= 0.0)


def _measure(seen: View, loop: Loop, pumps: tuple[Pump, ...]) -> tuple[float | None, float | None, float | None, int]:
    speeds = [pump.speed for pump in pumps if pump.turns and pump.speed is not None]
    speed = sum(speeds) / len(speeds) if speeds else None
    return find_least(seen, FLOW, loop.subject), find_least(seen, LIFT, loop.subject), speed, len(speeds)


def _find_open(seen: View, loop: Loop) -> float:
    """The share of its branches that are not closed."""
    closed = [node for node in loop.nodes if find_least(seen, BRANCH, node) == 0.0]
    return (1.0 - len(closed) / len(loop.nodes)) if loop.nodes else 1.0


def learn(seen: View, loop: Loop, known: Mapping[str, float]) -> dict[str, float]:
    """What is known after this look: nothing more while a pump fails, as it runs down and another starts."""
    pumps = tuple(list_pumps(seen, loop))
    flow, lift, speed, turning = _measure(seen, loop, pumps)
    fresh = dict(known)
    if any(pump.fault for pump in pumps):
        return fresh
    wide = _find_open(seen, loop)
    if flow is None or flow <= 0.0 or speed is None or speed < TURNING_LEAST or wide <= 0.0:
        return fresh
    since = max(0.0, min(seen.now - known.get("at", seen.now), LEARN_S))
    fresh["at"], fresh["looks"] = seen.now, min(known.get("looks", 0.0) + 1.0, FIRST)
    weight = max(since / LEARN_S, 1.0 / fresh["looks"] if fresh["looks"] < FIRST else 0.0)
    _blend(fresh, RATED, flow, weight, NOTHING)
    if wide == 1.0:
        _blend(fresh, f"flow/speed {turning}", flow / speed, weight, LESS)
    if lift is not None and lift > 0.0:
        _blend(fresh, "flow/root", flow / math.sqrt(lift) / wide, weight, LESS)
        _blend(fresh, f"lift/square {turning}", lift / speed**2, weight, LESS)
    return fresh


TURNING_LEAST = 10.0  # % of speed, below which ratios say little


def _blend(known: dict[str, float], name: str, value: float, weight: float, least: float) -> None:
    """One more value; the first is taken as it is. Too little is none, and too much counts as not more than that way up.

    Else a meter that showed full scale for a minute would leave behind a usual flow that no healthy loop can have.
    """
    before = known.get(name)
    if before is None:
        known[name] = value
    elif value >= least * before:
        known[name] = before + weight * (min(value, before / least) - before)
