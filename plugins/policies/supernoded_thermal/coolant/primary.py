"""The building's water."""

from __future__ import annotations

from collections.abc import Mapping

from supernoded.plugin import Severity, View, find_least, find_most, is_read, say_why
from supernoded_thermal.coolant import setpoint
from supernoded_thermal.coolant.causes import say_primary_lost, say_primary_warm
from supernoded_thermal.coolant.rule import Look, LoopRule, Memory
from supernoded_thermal.coolant.seeing import PRESSURE, PRIMARY
from supernoded_thermal.coolant.setpoint import find_setpoint

LOST_S = 2.0  # that pressure must be gone: a stroke of a building's valve is longer (ours)


class PrimaryRule(LoopRule):
    """Raises primary water that is gone, or too warm to cool to the setpoint."""

    kind = "coolant.primary"
    advice = "call the building: nothing here can cool without it"
    watches: Mapping[str, float] = {**setpoint.WATCHES, PRESSURE: 60.0, PRIMARY: 60.0}

    def look(self, seen: View, memory: Memory) -> tuple[Mapping[str, Look], Mapping[str, float]]:
        """The unit, where it tells anything of its primary water."""
        if not any(is_read(seen, quantity, self._cdu) for quantity in (PRESSURE, PRIMARY)):
            return {}, memory.known
        return {self._cdu: self._look(seen)}, memory.known

    def _look(self, seen: View) -> Look:
        lost = say_primary_lost(seen, self._cdu, self._set)
        if lost:
            return Look(trouble=True, text=lost, severity=Severity.CRITICAL, after_s=LOST_S)
        span = find_setpoint(seen, self._cdu, self._set.control.setpoint_c, self._set.control.dew_margin_k, self._set.follow_s)
        warm = say_primary_warm(seen, self._cdu, span.now, self._set)
        if warm:
            return Look(trouble=True, text=warm)
        pressure, celsius = find_most(seen, PRESSURE, self._cdu), find_least(seen, PRIMARY, self._cdu)
        unseen = [say_why(seen, PRESSURE, self._cdu)] if pressure is None else []
        unseen += [say_why(seen, PRIMARY, self._cdu)] if celsius is None else []
        told = [f"{pressure:.0f} kPa"] if pressure is not None else []
        told += [f"{celsius:.1f} C"] if celsius is not None else []
        if not told or (pressure is None and is_read(seen, PRESSURE, self._cdu)):
            return Look(trouble=None, text=f"the primary water of {self._cdu} cannot be seen: {'; '.join(unseen)}", unseen=tuple(unseen))
        return Look(trouble=False, text=f"the primary water of {self._cdu} has {', '.join(told)}", unseen=tuple(unseen))
