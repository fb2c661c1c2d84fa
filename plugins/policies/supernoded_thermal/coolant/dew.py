"""Condensation: no supply below the dew point and its margin (safety rule 18)."""

from __future__ import annotations

from collections.abc import Mapping

from supernoded.plugin import Severity, View, find_most, is_read, say_why
from supernoded_thermal.coolant.rule import Look, LoopRule, Memory
from supernoded_thermal.coolant.seeing import ALARM, DEW, SECOND, SUPPLY, list_supplies
from supernoded_thermal.settings import ThermalSettings

FOLLOW_S = 30.0  # for a supply that is still above the dew point to follow a floor that rises (ours)
HEARD = "heard"  # when a dew point was last known


class DewRule(LoopRule):
    """Raises a supply below the dew point and its margin, and a dew point that is not known for long."""

    kind = "coolant.dew"
    advice = "dry the hall or raise the setpoint: water condenses on cold pipes"
    watches: Mapping[str, float] = {DEW: 60.0, SUPPLY: 60.0, SECOND: 60.0, ALARM: 60.0}

    def look(self, seen: View, memory: Memory) -> tuple[Mapping[str, Look], Mapping[str, float]]:
        """The unit, where its supply was ever read."""
        if not is_read(seen, SUPPLY, self._cdu):
            return {}, memory.known
        dew = find_dew(seen, self._cdu, self._loop.nodes)
        if dew is None and has_no_sensor(seen, self._cdu, self._loop.nodes, self._set):
            floor = self._set.control.floor_c
            said = f"no dew point is measured there, as the settings say, and the commissioned floor is {floor:.1f}"
            return {self._cdu: self._look_at(seen, floor, floor - self._set.control.dew_margin_k, said)}, {}
        heard = seen.now if dew is not None else min(memory.known.get(HEARD, seen.now), seen.now)
        if dew is None:
            return {self._cdu: self._look_unknown(seen, seen.now - heard)}, {HEARD: heard}
        floor = dew + self._set.control.dew_margin_k
        look = self._look_at(seen, floor, dew, f"the dew point {dew:.1f} C and its margin make {floor:.1f}")
        return {self._cdu: look}, {HEARD: heard}

    def _look_unknown(self, seen: View, lasts: float) -> Look:
        why = say_why(seen, DEW, self._cdu)
        text = f"the dew point at {self._cdu} is not known for {lasts:.0f} s, the limit is {self._set.control.dew_hold_s:g} ({why})"
        advice = (
            "bring its sensor back, or set no_dew_sensor where there is none on purpose; the last floor has held for that long, "
            "now the commissioned one does, and cards are capped when it has held as long (safety rule 18)"
        )
        if lasts < self._set.control.dew_hold_s:
            return Look(trouble=None, text=text)
        return Look(trouble=True, text=text, advice=advice)

    def _look_at(self, seen: View, floor: float, wet_c: float, said: str) -> Look:
        supplies = list_supplies(seen, self._cdu)
        if not supplies:
            return Look(trouble=None, text=f"the supply of {self._cdu} cannot be seen: {say_why(seen, SUPPLY, self._cdu)}")
        coldest = min(supplies)  # guard dew on the colder (safety rule 19)
        text = f"the supply of {self._cdu} is at {coldest:.2f} C, {said}"
        wet = coldest <= wet_c
        trouble = coldest < floor - self._limits.band_c  # within the band control may be below for a moment
        after = self._set.settle_s if wet else FOLLOW_S
        return Look(trouble=trouble, text=text, severity=Severity.CRITICAL if wet else Severity.WARNING, after_s=after)


def has_no_sensor(seen: View, cdu: str, nodes: tuple[str, ...], settings: ThermalSettings) -> bool:
    """Whether none is there on purpose; one that was ever read is there, whatever the settings say."""
    return settings.no_dew_sensor and not any(is_read(seen, DEW, subject) for subject in (cdu, *nodes))


def find_dew(seen: View, cdu: str, nodes: tuple[str, ...]) -> float | None:
    """The highest dew point that the unit, or any node at it, tells; None when none does."""
    told = [find_most(seen, DEW, subject) for subject in (cdu, *nodes)]
    return max((dew for dew in told if dew is not None), default=None)
