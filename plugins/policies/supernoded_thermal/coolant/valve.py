"""The primary valve: whether it goes where it is told, and whether its position is true."""

from __future__ import annotations

from collections.abc import Mapping

from supernoded.plugin import Severity, View, find_most, is_read, say_why
from supernoded_thermal.coolant import setpoint
from supernoded_thermal.coolant.causes import STILL
from supernoded_thermal.coolant.rule import Look, LoopRule, Memory
from supernoded_thermal.coolant.seeing import ALARM, COMMAND, SECOND, SUPPLY, VALVE, list_supplies
from supernoded_thermal.coolant.setpoint import find_setpoint


class ValveRule(LoopRule):
    """Raises a valve whose position stands still beside its command: stuck, or, when the supply is held all the same, told wrongly."""

    kind = "coolant.valve"
    advice = "look at the actuator and its feedback"
    watches: Mapping[str, float] = {**setpoint.WATCHES, VALVE: 60.0, COMMAND: 60.0, SUPPLY: 60.0, SECOND: 60.0, ALARM: 60.0}

    @property
    def after_s(self) -> float:
        """At once: standing still has its own time."""
        return 0.0

    def look(self, seen: View, memory: Memory) -> tuple[Mapping[str, Look], Mapping[str, float]]:
        """The unit, where both were ever read."""
        if not is_read(seen, VALVE, self._cdu) or not is_read(seen, COMMAND, self._cdu):
            return {}, {}
        position, command = find_most(seen, VALVE, self._cdu), find_most(seen, COMMAND, self._cdu)
        if position is None or command is None:
            why = say_why(seen, VALVE if position is None else COMMAND, self._cdu)
            return {self._cdu: Look(trouble=None, text=f"the valve of {self._cdu} cannot be seen: {why}")}, {}
        known = self._follow_position(memory.known, position, command, seen.now)
        moved = abs(command - known["command"]) > self._set.valve_off_percent  # a register that nobody writes is no command
        still_s = seen.now - known["since"] if moved else 0.0
        return {self._cdu: self._look(seen, position, command, still_s)}, known

    def _follow_position(self, known: Mapping[str, float], position: float, command: float, now: float) -> dict[str, float]:
        """Since when the position has stood still away from its command, and where that was by then."""
        apart = abs(command - position) > self._set.valve_off_percent
        still = abs(position - known.get("position", position)) <= STILL
        if known and apart and still:
            return {**known, "since": min(known["since"], now)}
        return {"position": position, "since": now, "command": command if apart else position}

    def _look(self, seen: View, position: float, command: float, still_s: float) -> Look:
        off = abs(command - position)
        text = f"the valve of {self._cdu} is at {position:.0f} %, told to go to {command:.0f} %"
        if off <= self._set.valve_off_percent or still_s < self._set.valve_still_s:
            return Look(trouble=False, text=text)
        text = f"{text}, and has not moved for {still_s:.0f} s; {self._set.valve_off_percent:g} % are let be"
        span = find_setpoint(seen, self._cdu, self._set.control.setpoint_c, self._set.control.dew_margin_k, self._set.follow_s)
        supplies = list_supplies(seen, self._cdu)
        held = supplies and all(span.low - self._limits.band_c <= value <= span.high + self._limits.band_c for value in supplies)
        if held:
            lies = f"{text}. The supply is held at {max(supplies):.2f} C all the same: its feedback is frozen"
            return Look(trouble=True, text=lies)
        return Look(trouble=True, text=f"{text}: it is stuck", severity=Severity.CRITICAL)
