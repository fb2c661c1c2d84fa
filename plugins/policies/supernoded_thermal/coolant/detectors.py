"""Detectors that cannot tell any more: reduced safety, and so an incident of its own (safety rule 20)."""

from __future__ import annotations

from collections.abc import Mapping

from supernoded.plugin import State, View, is_read, list_numbers, say_why
from supernoded_thermal.coolant.rule import Look, LoopRule, Memory
from supernoded_thermal.coolant.seeing import ALARM, LEAK, find_flags

FAULTS = ("sensor", "fault", "detector")  # beside `leak` in the words of an alarm
UNHEARD_S = 120.0  # for which nothing at all may be heard of a detector: its node may be starting anew (ours)


class DetectorRule(LoopRule):
    """Raises a leak detector that says that it is faulty, or that was readable and is not."""

    kind = "coolant.leak_sensor"
    advice = "a leak there would not be seen: bring it back or replace it, and look there by eye till then"
    watches: Mapping[str, float] = {LEAK: 60.0, ALARM: 60.0}

    @property
    def after_s(self) -> float:
        """A poll or two may fail."""
        return self._set.leak_sensor_s

    def look(self, seen: View, memory: Memory) -> tuple[Mapping[str, Look], Mapping[str, float]]:
        """Every detector of the loop that was ever read."""
        looks = dict[str, Look]()
        for place in self._loop.list_places(seen.subjects(LEAK)):
            several = [one for one in list_detectors(seen, LEAK, place) if one != place]
            looks[place] = self._look_at_whole(seen, place, several)
            looks |= {one: self._look(seen, one) for one in several}
        return looks, memory.known

    def _look_at_whole(self, seen: View, place: str, several: list[str]) -> Look:
        flags = [flag for flag in sorted(find_flags(seen, place)) if "leak" in flag and any(word in flag for word in FAULTS)]
        if flags:
            return Look(trouble=True, text=f"the leak detector of {place} is faulty: it says {', '.join(flags)}")
        return (
            Look(trouble=False, text=f"{place} has {len(several)} leak detectors, each told by itself")
            if several
            else self._look(seen, place)
        )

    def _look(self, seen: View, subject: str) -> Look:
        if list_numbers(seen, LEAK, subject):
            return Look(trouble=False, text=f"the leak detector of {subject} tells")
        if subject == self._cdu and self._is_silent(seen):
            text = f"{subject} tells nothing at all, nor does its leak detector: {say_why(seen, ALARM, subject)}"
            return Look(trouble=True, text=text, unseen=(text,), advice="a leak there would not be seen: look at its power and its line")
        newest = seen.newest(LEAK, subject)
        why = "never read" if newest is None else newest.note or newest.state.value
        text = f"the leak detector of {subject} tells nothing: {why}"
        if newest is not None and newest.state is State.STALE:
            return Look(trouble=True, text=text, unseen=(text,), after_s=UNHEARD_S)
        return Look(trouble=True, text=text, unseen=(text,))

    def _is_silent(self, seen: View) -> bool:
        """Whether the unit tells not even its alarms, which it did."""
        return is_read(seen, ALARM, self._cdu) and all(seen.flags(ALARM, self._cdu, one) is None for one in seen.sources(ALARM, self._cdu))


def list_detectors(seen: View, quantity: str, place: str) -> list[str]:
    """The detectors of a unit or node: itself, or each as `n0/leak/tray` where it has several, which it is then the worst of."""
    return [one for one in seen.subjects(quantity) if one.startswith(f"{place}/leak/")] or [place]
