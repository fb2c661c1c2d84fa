"""The steps of cooling in their order: flow, fans, power cap, checkpoint, lower cap, stop, off. Pure.

A rung begins when the one below has its outcome and its time, and the trouble is still there; later ones only while dies come close to
where they slow down. Between checkpoint and stop nodes are drained, where that is wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from supernoded.plugin import Case, Record, Step, Topology, View, find_most, list_jobs
from supernoded_thermal.coolant.seeing import LIFT
from supernoded_thermal.remedies.cords import list_cords
from supernoded_thermal.remedies.margin import Margin
from supernoded_thermal.remedies.place import Place
from supernoded_thermal.remedies.saving import save_jobs, stop_jobs, time_save
from supernoded_thermal.settings import ThermalSettings

CAP, ASKED = "card.power_cap", "coolant.pressure_asked"
FLOW_S, FAN_S, OFF_S = 20.0, 15.0, 10.0  # for an order to be seen; a PDU takes up to 2.5 s, a pump's own loop a ramp (ours)
DRAIN_S = 45.0  # for a grant and a scheduler (ours)
MOST_DRAINED = 2  # nodes, as many as breakers let out at once; what is hot beyond that is the hall's trouble, not theirs (ours)
RECAPS = 3  # times that a cap is set again, when another has lifted it
GRACE_W = 5.0  # above a cap that still counts as capped: BMCs round (ours)


class Rung(msgspec.Struct, frozen=True):
    """One step of the way: its verbs, its orders, and whether it may begin now."""

    verbs: tuple[str, ...]
    steps: tuple[Step, ...]
    due: bool


class Ladder:
    """Makes the orders of one incident."""

    def __init__(self, case: Case, record: Record, place: Place, site: Topology, settings: ThermalSettings) -> None:
        self._seen: View = case.seen
        self._record, self._place, self._site, self._set = record, place, site, settings
        self._text = case.incident.text.partition(";")[0].rstrip(".")
        self._capped = tuple(node for node in place.nodes if place.cards[node])

    def raise_flow(self) -> Iterator[Step]:
        """More pressure difference for the pumps to hold, where it is known what they hold."""
        held = max(find_most(self._seen, ASKED, self._place.cdu) or find_most(self._seen, LIFT, self._place.cdu) or 0.0, 0.0)
        name = self._record.name("flow", self._place.cdu)
        if self._place.cdu and (held or self._record.has_begun("flow")):
            most = max(self._set.control.most_pressure_kpa, held)
            asked = round(min(held + self._set.flow_more_kpa, most), 1)
            reason = f"{self._text}: pumps are to hold {asked:g} kPa"
            yield Step(name=name, kind="coolant.flow", target=self._place.cdu, reason=reason, patience=FLOW_S, amount=asked)

    def blow(self) -> Iterator[Step]:
        """All fans of the nodes at full speed, by their BMCs; where our own loop turns them, it knows by itself."""
        if self._set.node.fans == "bmc":
            for node in self._place.nodes:
                name = self._record.name("fans", node)
                yield Step(name=name, kind="fan.full", target=node, reason=f"{self._text}: fans at full speed", patience=FAN_S)

    def cap(self, verb: str, watts: float) -> Iterator[Step]:
        """Each card of the nodes at so many watts."""
        for node in self._capped:
            yield self._make_cap(verb, node, watts)

    def cap_again(self) -> Iterator[Step]:
        """Caps that another has lifted while this trouble stands."""
        watts = self._set.cap_low_w if self._record.has_begun("low") else self._set.cap_w
        ended = {deed.target for deed in self._record.list_of("cap") if deed.done}
        for node in self._capped:
            tries = [deed for deed in self._record.deeds if deed.round == self._record.round and deed.target == node]
            again = [deed for deed in tries if deed.verb.startswith("recap")]
            number = len(again) if any(deed.outcome is None for deed in again) else len(again) + 1
            lasts = all(deed.outcome is not None and self._seen.now - deed.outcome.at > self._set.cap_patience_s for deed in tries)
            ordered = max((deed.outcome.at for deed in tries if deed.outcome is not None), default=0.0)
            is_due = node in ended and number <= RECAPS and (lasts or number == len(again))
            if is_due and self._is_uncapped(node, watts, ordered):
                yield self._make_cap(f"recap{number}", node, watts)

    def _is_uncapped(self, node: str, watts: float, since: float) -> bool:
        """By what was read last, and after the last order: a BMC may be asked every two minutes, and shows what was till then."""
        return any(find_young(self._seen, CAP, card, since) > watts + GRACE_W for card in self._place.cards[node])

    def _make_cap(self, verb: str, node: str, watts: float) -> Step:
        name, patience = self._record.name(verb, node), self._set.cap_patience_s
        reason = f"{self._text}: cards are capped to {watts:g} W"
        return Step(name=name, kind="power.cap", target=node, reason=reason, patience=patience, amount=watts)

    def save(self, margin: Margin) -> Iterator[Step]:
        """A checkpoint of each job; it runs on. Its deadline is the time to the limit, where that is longer than a save takes."""
        jobs = list_jobs(self._seen)
        least = {job.subject: time_save(job, self._set) for job in jobs}
        left = margin.left if margin.left is not None and margin.left < 3600.0 else 0.0
        limits = {subject: max(seconds, min(left, 2.0 * seconds)) for subject, seconds in least.items()}
        return save_jobs(self._record, "save", jobs, f"{self._text}: save at the next step that all ranks agree on, and run on", limits)

    def drain(self) -> Iterator[Step]:
        """Nothing new is put on these nodes; what runs there runs on."""
        for node in self._place.nodes if self._set.drain and len(self._place.nodes) <= MOST_DRAINED else ():
            name, reason = self._record.name("drain", node), f"{self._text}: nothing new is to be put there"
            yield Step(name=name, kind="node.drain", target=node, reason=reason, patience=DRAIN_S)

    def stop(self) -> Iterator[Step]:
        """Each job at a saved step."""
        return stop_jobs(self._record, list_jobs(self._seen), f"{self._text}: cards get too hot, stop at a saved step", self._set)

    def cut(self, verb: str, nodes: Sequence[str]) -> Iterator[Step]:
        """The cords of these nodes, and of no other."""
        for cord in list_cords(self._site, nodes, self._set.never_off):
            if not cord.shared:
                reason = f"{cord.node} stays above {self._set.die_over_c:g} C, whatever was done before"
                name, details = self._record.name(verb, cord.outlet), {"node": cord.node}
                yield Step(name=name, kind="power.off", target=cord.outlet, reason=reason, patience=OFF_S, details=details)


def find_young(seen: View, quantity: str, subject: str, since: float) -> float:
    """What was read last by whomever, if that was after a moment; else 0."""
    found = [one for source in seen.sources(quantity, subject) if (one := seen.good(quantity, subject, source)) is not None]
    return max(((one.at, one.value) for one in found if one.at > since and isinstance(one.value, int | float)), default=(0.0, 0.0))[1]


def climb(case: Case, rungs: Sequence[Rung], record: Record) -> tuple[Step, ...]:
    """The orders of the first rung that is not begun yet, when it is due; what was begun is finished.

    What is under way holds up no rung by itself: each says for what it waits. So a checkpoint that takes its minutes delays no lower cap.
    """
    for rung in rungs:
        wanted = [step for step in rung.steps if step.name not in case.done]
        if wanted and not rung.due and not record.has_begun(*rung.verbs):
            return ()
        fresh = tuple(step for step in wanted if step.name not in case.running)
        if fresh:
            return fresh
    return ()
