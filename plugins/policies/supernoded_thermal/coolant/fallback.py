"""What a unit holds alone: it goes back to that whenever nobody steers it, and then nobody is there to lift it."""

from __future__ import annotations

from collections.abc import Mapping

from supernoded.plugin import View, find_least, find_most, is_read, say_why
from supernoded_thermal.coolant.dew import find_dew
from supernoded_thermal.coolant.rule import Look, LoopRule, Memory
from supernoded_thermal.coolant.seeing import DEW, FALLBACK

LASTS_S = 60.0  # of a dew point above it: weather, not a door (ours)


class FallbackRule(LoopRule):
    """Raises a fallback below the dew point and its margin (safety rule 18), or far from what is held here (rule 15)."""

    kind = "coolant.fallback"
    advice = "set the unit's own setpoint at its panel: nothing here writes it"
    watches: Mapping[str, float] = {FALLBACK: 60.0, DEW: 60.0}

    @property
    def after_s(self) -> float:
        """There is time."""
        return LASTS_S

    @property
    def clear_s(self) -> float:
        """As long."""
        return LASTS_S

    def look(self, seen: View, memory: Memory) -> tuple[Mapping[str, Look], Mapping[str, float]]:
        """The unit, where its fallback was ever read."""
        if not is_read(seen, FALLBACK, self._cdu):
            return {}, memory.known
        return {self._cdu: self._look(seen)}, memory.known

    def _look(self, seen: View) -> Look:
        least, most = find_least(seen, FALLBACK, self._cdu), find_most(seen, FALLBACK, self._cdu)
        if least is None or most is None:
            return Look(trouble=None, text=f"what {self._cdu} holds alone cannot be seen: {say_why(seen, FALLBACK, self._cdu)}")
        dew, ours = find_dew(seen, self._cdu, self._loop.nodes), self._set.control
        floor = ours.floor_c if dew is None else dew + ours.dew_margin_k
        told = "the commissioned floor is" if dew is None else f"the dew point of {dew:.1f} C and its margin make"
        if least < floor - self._limits.band_c:
            return Look(trouble=True, text=f"alone {self._cdu} would hold {least:.1f} C, {told} {floor:.1f}: pipes would get wet")
        usual, apart = max(ours.setpoint_c, floor), self._set.fallback_apart_k
        if abs(most - usual) > apart:
            return Look(
                trouble=True, text=f"alone {self._cdu} would hold {most:.1f} C where {usual:.1f} are held here, the limit is {apart:g} K"
            )
        return Look(trouble=False, text=f"alone {self._cdu} would hold {most:.1f} C")
