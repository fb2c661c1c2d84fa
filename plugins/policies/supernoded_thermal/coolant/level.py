"""The reservoir, and air in the coolant."""

from __future__ import annotations

from collections.abc import Mapping

from supernoded.plugin import Severity, View, find_least, find_most, is_read, say_why
from supernoded_thermal.coolant import water
from supernoded_thermal.coolant.rule import Look, LoopRule, Memory
from supernoded_thermal.coolant.seeing import LEAK, LEVEL, list_past
from supernoded_thermal.coolant.water import Water, learn, look_at_water

FALL_S = 180.0  # over which a fall is measured (ours): a large leak takes a per cent in a minute
LEAST_S = 30.0  # that two levels must lie apart


def find_fall(seen: View, cdu: str) -> float:
    """Per cent of the reservoir that went within three minutes, as every source that shows enough sees it; 0 when none does."""
    falls = []
    for source in seen.sources(LEVEL, cdu):
        past = list_past(seen, LEVEL, cdu, source, FALL_S)
        if len(past) >= 3 and past[-1][0] - past[0][0] >= LEAST_S and seen.now - past[-1][0] < LEAST_S:
            falls.append(max(value for _, value in past[:-2]) - max(value for _, value in past[-2:]))
    return max(0.0, min(falls, default=0.0))


class LevelRule(LoopRule):
    """Raises a reservoir that is low or falls, and air: pumps that give less pressure at the same speed than they did."""

    kind = "coolant.level"
    advice = "refill and vent it, and look where the coolant went"
    watches: Mapping[str, float] = {**water.WATCHES, LEVEL: FALL_S, LEAK: 60.0}

    def look(self, seen: View, memory: Memory) -> tuple[Mapping[str, Look], Mapping[str, float]]:
        """The unit, where its level or the pressure of its pumps was ever read."""
        known = learn(seen, self._loop, memory.known)
        now = look_at_water(seen, self._loop, known, self._set)
        if not is_read(seen, LEVEL, self._cdu) and now.lift_share is None:
            return {}, known
        return {self._cdu: self._look(seen, now)}, known

    def _is_disturbed(self, now: Water) -> bool:
        """Whether a pump that has failed explains the pressure: till the takeover is confirmed by flow."""
        return bool(now.fault) and now.is_short(self._set.low_flow_percent / 100.0)

    def _look(self, seen: View, now: Water) -> Look:
        level, fall = find_least(seen, LEVEL, self._cdu), find_fall(seen, self._cdu)
        wet = [one for one in sorted(self._loop.detectors) if find_most(seen, LEAK, one)]
        leak = f"coolant.leak of {', '.join(wet)}" if wet else ""
        told = f"the reservoir of {self._cdu} is at {level:.0f} %" if level is not None else f"of the level of {self._cdu} nothing is told"
        if level is not None and level < self._set.level_low_percent:
            text = f"{told}, the limit is {self._set.level_low_percent:g}"
            return Look(trouble=True, text=text, severity=Severity.CRITICAL, explained=leak)
        if fall >= self._set.leak_level_percent:
            text = f"{told}, and has lost {fall:.1f} % in 3 minutes, the limit is {self._set.leak_level_percent:g}"
            return Look(trouble=True, text=text, explained=leak)
        if now.lift_share is not None and now.lift_share < self._set.air_percent / 100.0 and not self._is_disturbed(now):
            gives = f"its pumps give {now.lift or 0.0:.0f} kPa at {now.speed or 0.0:.0f} %, {100 * now.lift_share:.0f} % of what they did"
            return Look(trouble=True, text=f"{told}; {gives}, the limit is {self._set.air_percent:g}: there is air in the coolant")
        if level is None and is_read(seen, LEVEL, self._cdu):
            return Look(trouble=None, text=f"the level of {self._cdu} cannot be seen: {say_why(seen, LEVEL, self._cdu)}")
        return Look(trouble=False, text=told)
