"""Leaks: one wet detector is small for a while; two, or a reservoir that falls, are large (safety rule 20)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from supernoded.plugin import Severity, View, find_most, say_why
from supernoded_thermal.coolant.detectors import list_detectors
from supernoded_thermal.coolant.level import FALL_S, find_fall
from supernoded_thermal.coolant.rule import Look, LoopRule, Memory
from supernoded_thermal.coolant.seeing import BRANCH, LEAK, LEVEL, STICKY, list_past

DRIES_S = 60.0  # after a branch was closed, in which what has run out of it still wets the unit (ours)
WATCHES: Mapping[str, float] = {LEAK: 60.0, STICKY: 60.0, LEVEL: FALL_S, BRANCH: DRIES_S}
SURE_S = 2.0  # that a detector must be wet before power is taken for it: one odd reading is no leak (ours)
LARGE = "large "  # of a place whose leak was large: it stays so till a person has cleared it


class Place(msgspec.Struct, frozen=True):
    """A unit or node now; None = not told. `wet_at` are those of its detectors that are wet, each by its own name where it has several."""

    subject: str
    wet: bool | None
    sticky: bool | None
    wet_at: tuple[str, ...] = ()


class LeakRule(LoopRule):
    """Raises a place that is wet, or was since a person last cleared its sticky bit."""

    kind = "coolant.leak"
    advice = "send somebody; it stays open till the place is dry and its bit is cleared by a person"
    watches = WATCHES

    @property
    def after_s(self) -> float:
        """At once."""
        return 0.0

    def look(self, seen: View, memory: Memory) -> tuple[Mapping[str, Look], Mapping[str, float]]:
        """Every place of the loop with a detector that was ever read."""
        places = [self._find(seen, subject) for subject in self._loop.list_places({*seen.subjects(LEAK), *seen.subjects(STICKY)})]
        wet = [detector for place in places for detector in place.wet_at]
        since = {name: min(memory.known.get(name, seen.now), seen.now) for name in wet}
        since |= {name: at for name, at in memory.known.items() if not name.startswith(LARGE) and find_most(seen, LEAK, name) is None}
        since |= {name: at for name, at in memory.known.items() if name.startswith(LARGE) and self._is_kept(name, places)}
        fall = find_fall(seen, self._cdu)
        lasting = {name: seen.now - since[name] for name in wet}
        looks = {place.subject: self._look(seen, place, lasting, fall, memory.known) for place in places}
        large = [name for name, look in looks.items() if look.trouble and look.severity is Severity.CRITICAL and not look.explained]
        return looks, {**since, **{f"{LARGE}{name}": since.get(f"{LARGE}{name}", seen.now) for name in large}}

    def _find(self, seen: View, subject: str) -> Place:
        wet, sticky = (self._find_worst(seen, quantity, subject) for quantity in (LEAK, STICKY))
        wet_at = [one for one in list_detectors(seen, LEAK, subject) if (find_most(seen, LEAK, one) or 0.0) > 0.0]
        return Place(subject, wet, sticky, tuple(wet_at or ([subject] if wet else [])))

    def _find_worst(self, seen: View, quantity: str, subject: str) -> bool | None:
        told = [find_most(seen, quantity, one) for one in {subject, *list_detectors(seen, quantity, subject)}]
        return True if any(told) else None if None in told else False

    def _is_kept(self, name: str, places: list[Place]) -> bool:
        """A large one is forgotten when its place is seen dry, and so is its sticky bit; not while nobody has read it yet."""
        return not any(f"{LARGE}{one.subject}" == name and one.wet is False and not one.sticky for one in places)

    def _look(self, seen: View, place: Place, wet: Mapping[str, float], fall: float, known: Mapping[str, float]) -> Look:
        """`wet` = since how many seconds, by detector."""
        subject, was_large = place.subject, f"{LARGE}{place.subject}" in known
        if place.wet:
            return self._weigh_wet(seen, place, wet, fall, known)
        if place.sticky:
            severity = Severity.CRITICAL if was_large else Severity.WARNING
            now = "dry" if place.wet is False else "not read"
            text = f"the detector of {subject} was wet since a person last cleared it, and is {now} now"
            after = self._set.leak_sensor_s if subject == self._cdu and not was_large else None  # a node's detector is read a moment later
            return Look(trouble=True, text=text, severity=severity, after_s=after, explained=self._find_sticky(seen, subject, wet))
        if place.wet is None:
            return Look(trouble=None, text=f"whether {subject} leaks cannot be seen: {say_why(seen, LEAK, subject)}")
        return Look(trouble=False, text=f"{subject} is dry")

    def _weigh_wet(self, seen: View, place: Place, wet: Mapping[str, float], fall: float, known: Mapping[str, float]) -> Look:
        first = max(place.wet_at, key=wet.__getitem__)
        lasts, others = wet[first], [one for one, seconds in wet.items() if one != first and seconds >= SURE_S]
        signs = [f"so is that of {', '.join(others)}"] if others else []
        signs += [f"the reservoir has lost {fall:.1f} % in 3 minutes"] if fall >= self._set.leak_level_percent else []
        if 0.0 < self._set.leak_minor_s <= lasts:
            signs.append(f"for {lasts:.0f} s, the limit of a small leak is {self._set.leak_minor_s:g}")
        large = f"{LARGE}{place.subject}" in known or (bool(signs) and lasts >= SURE_S)
        told = f"the detector of {first} is wet"
        text = f"{told}{''.join(f', {sign}' for sign in signs)}: a {'large' if large else 'small'} leak"
        severity = Severity.CRITICAL if large else Severity.WARNING
        return Look(trouble=True, text=text, severity=severity, explained=self._find_node(seen, place.subject, wet, known))

    def _find_node(self, seen: View, subject: str, wet: Mapping[str, float], known: Mapping[str, float]) -> str:
        """The unit's own detector gets wet of any large leak: of a node that is not closed off, or was just now, it is that node's.

        A node whose power has gone tells no more whether it is wet, so that what it told last counts.
        """
        leaking = {*self._list_nodes(wet), *(one for one in self._loop.nodes if f"{LARGE}{one}" in known)}
        nodes = [one for one in self._loop.nodes if one in leaking and not is_closed_off(seen, one)]
        return f"coolant.leak of {', '.join(nodes)}" if subject == self._cdu and nodes else ""

    def _find_sticky(self, seen: View, subject: str, wet: Mapping[str, float]) -> str:
        """What is left at the unit of a leak at a node is that node's, closed off or not."""
        nodes = [one for one in self._loop.nodes if one in self._list_nodes(wet) or (find_most(seen, STICKY, one) or 0.0) > 0.0]
        return f"coolant.leak of {', '.join(nodes)}" if subject == self._cdu and nodes else ""

    def _list_nodes(self, wet: Mapping[str, float]) -> list[str]:
        """The nodes that these detectors are in."""
        return list(dict.fromkeys(node for one in wet if (node := one.partition("/")[0]) in self._loop.nodes))


def is_closed_off(seen: View, node: str) -> bool:
    """Whether its branch has been closed for so long that nothing of it wets anything any more."""
    past = [value for _, value in list_past(seen, BRANCH, node)]
    return bool(past) and not any(past)
