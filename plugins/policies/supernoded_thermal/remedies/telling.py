"""Troubles that people repair: they are told, in one sentence; and the few that ask for fans, a cap or a checkpoint first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Case, Node, Record, Step, World, read_record, say_outcomes, take
from supernoded_thermal.coolant.dew import find_dew, has_no_sensor
from supernoded_thermal.coolant.seeing import DEW, list_past
from supernoded_thermal.remedies.cooling import WATCHES, WORDS, has_listened
from supernoded_thermal.remedies.ladder import Ladder, Rung, climb
from supernoded_thermal.remedies.margin import measure
from supernoded_thermal.remedies.place import Place, Places
from supernoded_thermal.remedies.undoing import UNDOING, list_kept, undo
from supernoded_thermal.settings import ThermalSettings

# What is done before people are told.
NOTHING: tuple[str, ...] = ()
FIRST: Mapping[str, tuple[str, ...]] = {
    "coolant.band": NOTHING,
    "coolant.swing": NOTHING,
    "coolant.leak_sensor": NOTHING,
    "coolant.level": ("save",),
    "coolant.valve": NOTHING,
    "coolant.masters": NOTHING,
    "coolant.dew": ("cap",),
    "coolant.fallback": NOTHING,
    "coolant.sensor": NOTHING,
    "coolant.frozen": NOTHING,
    "heat.uneven": NOTHING,
    "card.throttled": NOTHING,  # heat is answered as heat
    "fan.failed": ("fans",),
    "fan.control": NOTHING,
    "air.hot": ("fans", "cap"),
}


class TellRemedy:
    """Answers one of these kinds."""

    def __init__(self, answers: str, node: Node, settings: ThermalSettings) -> None:
        self.answers = answers
        self._site, self._set = node.topology, settings
        self.watches: Mapping[str, float] = {**WATCHES, DEW: max(settings.control.dew_hold_s, 60.0)}
        self._places = Places(node.topology)

    def next(self, case: Case, world: World, now: float) -> Sequence[Step]:
        """What comes first, then the sentence; and the way back."""
        record, place = read_record(case, UNDOING), self._places.find(case.incident)
        if not case.still_raised:
            helped = record.has_begun("fans", "cap", "save") or case.incident.members
            return undo(case, record, place, world, self._set) if FIRST[self.answers] and helped else ()
        steps = climb(case, self._list_rungs(case, record, place, now), record)
        return steps or self._tell(case, record)

    def keeps_open(self, case: Case, world: World) -> bool:
        """Whether a cap still stands, and is lifted later."""
        place = self._places.find(case.incident)
        return bool(FIRST[self.answers]) and bool(list_kept(case, read_record(case, UNDOING), place, world, self._set))

    def _list_rungs(self, case: Case, record: Record, place: Place, now: float) -> list[Rung]:
        ladder, verbs = Ladder(case, record, place, self._site, self._set), FIRST[self.answers]
        rungs = []
        if "fans" in verbs:
            rungs.append(Rung(("fans",), tuple(ladder.blow()), due=True))
        if "save" in verbs:
            at = measure(case.seen, place.cards, self._set.node)
            rungs.append(Rung(("save",), tuple(ladder.save(at)), due=True))
        if "cap" in verbs:
            due = record.has_had(self._set.pace_s, now, "fans") if "fans" in verbs else self._is_blind(case, place, now)
            rungs.append(Rung(("cap",), tuple(ladder.cap("cap", self._set.cap_w)), due=due))
        return rungs

    def _is_blind(self, case: Case, place: Place, now: float) -> bool:
        """Whether no dew point has been known for so long that the commissioned floor has had its time, too (safety rule 18)."""
        hold, heard = self._set.control.dew_hold_s, has_listened(case, place)
        known = any(list_past(case.seen, DEW, one, within=hold) for one in (place.loop, *place.nodes))
        lost = heard and not known and find_dew(case.seen, place.loop, place.nodes) is None
        on_purpose = has_no_sensor(case.seen, place.loop, place.nodes, self._set)
        return lost and not on_purpose and now - case.incident.opened >= hold

    def _tell(self, case: Case, record: Record) -> Sequence[Step]:
        ended = [verb for verb in WORDS if record.has_begun(verb) and record.has_had(0.0, case.seen.now, verb)]
        if record.has_begun(*WORDS) and not ended:
            return ()
        told = "; ".join(say_outcomes(record, WORDS))
        reason = f"{case.incident.text.rstrip('.')}.{f' {told[0].upper()}{told[1:]}.' if told else ''}"
        name = record.name("tell", ended[-1] if ended else "people")
        return take(case, [Step(name=name, kind="notify", target=case.incident.subject, reason=reason)])
