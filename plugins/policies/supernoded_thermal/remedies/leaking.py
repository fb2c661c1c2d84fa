"""Leaks: a small one is saved from in time; a large one takes the power first, and the water when no current flows (safety rule 20)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import (
    JOB_WATCHES,
    Case,
    Node,
    Record,
    Severity,
    Step,
    World,
    find_most,
    list_jobs,
    read_record,
    say_outcomes,
    say_silent,
    take,
)
from supernoded_thermal.coolant.seeing import LEAK
from supernoded_thermal.remedies.cords import Cord, list_cords
from supernoded_thermal.remedies.place import Place, Places
from supernoded_thermal.remedies.saving import save_jobs, time_save
from supernoded_thermal.remedies.undoing import UNDOING
from supernoded_thermal.settings import ThermalSettings

OFF = ("off", "off2", "off3")  # tries: a PDU that did not show it the first time
OFF_S, CLOSE_S = 10.0, 30.0  # for current to be gone, and for a branch to be closed
WORDS = {
    "save": "jobs saved",
    "rush": "jobs saved in haste",
    "off": "cords opened and without current",
    "off2": "at the second try",
    "off3": "at the third try",
    "close": "branches closed",
}


class LeakRemedy:
    """Answers `coolant.leak`. Nothing is switched on again, nor opened, by itself."""

    answers = "coolant.leak"
    watches: Mapping[str, float] = {**JOB_WATCHES, LEAK: 60.0}

    def __init__(self, node: Node, settings: ThermalSettings) -> None:
        self._site, self._own, self._set = node.topology, node.name, settings
        self._places = Places(node.topology)

    def next(self, case: Case, world: World, now: float) -> Sequence[Step]:
        """The next steps; a large one that was begun is finished, whatever is dry by then."""
        del world, now
        record, place = read_record(case, UNDOING), self._places.find(case.incident)
        if not case.still_raised and not record.has_begun(*OFF):
            return self._end(case, record)
        if case.incident.severity is not Severity.CRITICAL and not record.has_begun("rush", *OFF):
            return self._save(case, record)
        steps = self._cut_off(case, record, place)
        return steps if steps or case.still_raised else self._end(case, record)

    def _save(self, case: Case, record: Record) -> Sequence[Step]:
        """Small: a checkpoint within the time that it is small, and people know."""
        found = list_jobs(case.seen)
        within = self._set.leak_minor_s or float("inf")
        limits = {job.subject: min(2.0 * time_save(job, self._set), within) for job in found}
        reason = f"{case.incident.text.partition(';')[0]}: save, and run on"
        saves = list(save_jobs(record, "save", found, reason, limits))
        told = "; ".join(say_outcomes(record, WORDS)) or "no job is there to save"
        becomes = f" It counts as large after {within:g} s, and then the power goes." if self._set.leak_minor_s else ""
        text = f"{case.incident.text}. {told[0].upper()}{told[1:]}.{becomes}{say_silent(found)}"
        return take(case, saves, [self._notify(case, record, "small", text)])

    def _cut_off(self, case: Case, record: Record, place: Place) -> Sequence[Step]:
        """Large: what can be saved in ten seconds; the power, whatever came of that; the branch, once no current flows."""
        wet = self._list_wet(case, record, place)
        others, mine = [node for node in wet if node != self._own], [node for node in wet if node == self._own]
        cords = list_cords(self._site, wet, self._set.never_off, parts=True)
        batches: list[Sequence[Step]] = [self._rush(case, record)]
        for nodes in (others, mine):  # this very node last: what is to be done beside it is done by then
            batches += [list(self._open(record, cords, nodes, verb)) for verb in OFF]
            batches.append(list(self._close(record, cords, nodes, case.incident.members or (case.incident.subject,))))
            if nodes is others:
                batches.append([self._notify(case, record, "large", self._say_large(case, record, wet, cords))])
        return take(case, *batches)

    def _list_wet(self, case: Case, record: Record, place: Place) -> Sequence[str]:
        """The nodes that leak; all of a loop whose unit leaks by itself, unless its own detector says that it is dry by now."""
        named = [node for node in place.nodes if node in (case.incident.members or (case.incident.subject,))]
        if not place.loop:
            return place.nodes
        whole = list_cords(self._site, [node for node in place.nodes if node not in named], parts=True)
        begun = {deed.target for deed in record.list_of(*OFF)} & {cord.outlet for cord in whole}
        return place.nodes if begun or find_most(case.seen, LEAK, place.loop) != 0.0 else named

    def _rush(self, case: Case, record: Record) -> Sequence[Step]:
        found = list_jobs(case.seen)
        due = [job for job in found if not job.is_saved_since(case.incident.opened, case.seen.now) or record.has_begun("rush")]
        reason = f"{case.incident.text.partition(';')[0]}: what is saved within {self._set.leak_save_s:g} s is saved, then the power goes"
        if record.has_begun(*OFF):
            return ()
        return list(save_jobs(record, "rush", due, reason, dict.fromkeys((job.subject for job in due), self._set.leak_save_s)))

    def _open(self, record: Record, cords: Sequence[Cord], nodes: Sequence[str], verb: str) -> Iterator[Step]:
        """Each cord of these nodes that feeds nothing else; again, where no zero current was seen."""
        before = OFF[: OFF.index(verb)]
        gone = {deed.target for deed in record.list_of(*before) if deed.done}
        for cord in cords:
            if cord.node in nodes and not cord.shared and cord.outlet not in gone:
                reason = f"coolant leaks at {cord.node}: its power goes before its water"
                name, details = record.name(verb, cord.outlet), {"node": cord.node}
                yield Step(name=name, kind="power.off", target=cord.outlet, reason=reason, patience=OFF_S, details=details)

    def _close(self, record: Record, cords: Sequence[Cord], nodes: Sequence[str], leaking: Sequence[str]) -> Iterator[Step]:
        """The branch of a node that leaks, all of whose cords are without current. A leak at the unit itself has no branch."""
        gone = {deed.target for deed in record.list_of(*OFF) if deed.done}
        for node in (node for node in nodes if node in leaking):
            mine = [cord for cord in cords if cord.node == node]
            if mine and all(cord.outlet in gone for cord in mine):
                reason = f"{node} leaks, and no current flows in it: its branch is closed"
                yield Step(name=record.name("close", node), kind="coolant.close", target=node, reason=reason, patience=CLOSE_S)

    def _say_large(self, case: Case, record: Record, wet: Sequence[str], cords: Sequence[Cord]) -> str:
        told = "; ".join(say_outcomes(record, WORDS)) or "nothing could be ordered"
        known = {cord.node for cord in cords}
        left = [f"{cord.outlet} stays on: {cord.shared}" for cord in cords if cord.shared]
        left += [f"no cord of {node} is described" for node in wet if node not in known]
        gone = {deed.target for deed in record.list_of(*OFF) if deed.done}
        left += [f"current in {cord.outlet} is not seen gone" for cord in cords if not cord.shared and cord.outlet not in gone]
        unit = self._places.find(case.incident).loop
        left += [f"the valves of {unit} are a person's"] if unit else []
        more = f" By hand: {'; '.join(left)}." if left else ""
        return (
            f"{case.incident.text}. {told[0].upper()}{told[1:]}.{more} Nothing comes on again by itself.{say_silent(list_jobs(case.seen))}"
        )

    def _end(self, case: Case, record: Record) -> Sequence[Step]:
        """It is dry, and a person has cleared it."""
        if not record.round:
            return ()
        off = sorted({deed.target for deed in record.deeds if deed.verb in OFF and deed.sent})
        closed = sorted({deed.target for deed in record.deeds if deed.verb == "close" and deed.sent})
        left = [f"off: {', '.join(off)}"] if off else []
        left += [f"closed: {', '.join(closed)}"] if closed else []
        what = f"A person brings back what is {'; '.join(left)}." if left else "Nothing was switched off."
        return take(case, [self._notify(case, record, "back", f"{case.incident.subject} is dry and cleared. {what}")])

    def _notify(self, case: Case, record: Record, name: str, text: str) -> Step:
        verb, target = ("back", "tell") if name == "back" else ("tell", name)
        return Step(name=record.name(verb, target), kind="notify", target=case.incident.subject, reason=text)
