"""What explains that a loop as a whole is hot: another trouble of it, which is told and answered in its place. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping

from supernoded.plugin import Node, View, find_least
from supernoded_thermal.coolant import setpoint, water
from supernoded_thermal.coolant.causes import say_primary_lost, say_primary_warm
from supernoded_thermal.coolant.holding import STOP
from supernoded_thermal.coolant.seeing import LEVEL, PRESSURE, PRIMARY, SUPPLY, VALVE, list_past
from supernoded_thermal.coolant.setpoint import find_setpoint
from supernoded_thermal.coolant.site import Loop
from supernoded_thermal.coolant.water import Water, learn, look_at_water
from supernoded_thermal.settings import ThermalSettings

LONGEST = 3600.0  # s, the most of `capacity_s`
ENDED = 3.0  # times `settle_s`, after which nothing of what explained it is left (ours); rules take two to be clear
EXPLAINED = "explained"  # when it last was
FEWEST = 3  # readings of a valve at its stop


class LoopCause:
    """Says it, beside what has been learned of the loop's flow."""

    def __init__(self, loop: Loop, node: Node, settings: ThermalSettings) -> None:
        self._loop, self._cdu, self._set, self._band_c = loop, loop.subject, settings, node.limits.coolant.band_c
        self._spares = node.is_under_maintenance
        long = dict.fromkeys((VALVE, SUPPLY), settings.capacity_s)
        self.watches: Mapping[str, float] = {**water.WATCHES, **setpoint.WATCHES, **dict.fromkeys((PRESSURE, PRIMARY, LEVEL), 60.0), **long}

    def explain(self, seen: View, known: Mapping[str, float]) -> tuple[dict[str, float], str]:
        """What is known by now, and the cause; empty when there is none that anybody answers: while people work at the unit nobody does."""
        learned = learn(seen, self._loop, known)
        if self._spares(self._cdu):
            return learned, ""
        cause, ended = self._find(seen, learned), min(known.get(EXPLAINED, -math.inf), seen.now)
        if cause:
            return {**learned, EXPLAINED: seen.now}, cause
        lasts = seen.now - ended  # what has just ended is not clear yet, and still answered
        return learned, f"what ended {lasts:.0f} s ago" if lasts < ENDED * self._set.settle_s else ""

    def _find(self, seen: View, learned: Mapping[str, float]) -> str:
        asked = find_setpoint(seen, self._cdu, self._set.control.setpoint_c, self._set.control.dew_margin_k, self._set.follow_s)
        primary = say_primary_lost(seen, self._cdu, self._set) or say_primary_warm(seen, self._cdu, asked.now, self._set)
        if primary:
            return f"coolant.primary ({primary})"
        now = look_at_water(seen, self._loop, learned, self._set)
        return self._say_flow(seen, now) or self._say_stop(seen, asked.high)

    def _say_flow(self, seen: View, now: Water) -> str:
        """Not when the reservoir is low: then that is told, and nobody cools for it."""
        if now.fault and now.is_short(self._set.low_flow_percent / 100.0):
            return f"coolant.pump ({now.fault})"
        level = find_least(seen, LEVEL, self._cdu)
        low = level is not None and level < self._set.level_low_percent
        short = bool(now.list_short(self._set.low_flow_percent / 100.0)) and not low
        return f"coolant.flow (flow is {now.flow or 0.0:.0f} L/min)" if short or now.is_gone(self._set.no_flow_percent / 100.0) else ""

    def _say_stop(self, seen: View, setpoint_c: float) -> str:
        """As `coolant.capacity` has it, and as long: before that nobody answers it."""
        valves, supplies = ([value for _, value in list_past(seen, name, self._cdu)] for name in (VALVE, SUPPLY))
        past = list_past(seen, VALVE, self._cdu)
        if len(past) < FEWEST or past[-1][0] - past[0][0] < 0.9 * self._set.capacity_s or not supplies:
            return ""
        held = min(valves) >= STOP and min(supplies) > setpoint_c + self._band_c
        return f"coolant.capacity (the valve is at {valves[-1]:.0f} %)" if held else ""
