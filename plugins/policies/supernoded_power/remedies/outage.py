"""No feed has mains: shed and cap at once, then save while the job runs on; when they are back, undo what is left to undo."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import Case, Node, Step, View, World
from supernoded_power import jobs as job_views
from supernoded_power import reserve
from supernoded_power.jobs import Job, list_jobs
from supernoded_power.mains import WATCHES, Feed, Feeds
from supernoded_power.remedies.record import Deed, find_round, list_deeds, name_step, say_outcomes, take
from supernoded_power.remedies.saving import ask_to_save, can_withdraw, find_deadline, is_saved_since, say_silent
from supernoded_power.settings import PowerSettings
from supernoded_power.site import list_sheddable

EVENT = "pdu.event"
RETURNING = frozenset({"withdraw", "lift", "restore", "back"})
AWAY_WORDS = {"shed": "fans shed", "cap": "nodes capped", "save": "jobs saved"}
BACK_WORDS = {"withdraw": "requests withdrawn", "lift": "caps lifted", "restore": "PDUs restored"}


class OutageRemedy:
    """Answers `power.outage`. One feed never sheds; a generator is no return, since the rule keeps it raised (safety rules 5, 9, 11)."""

    answers = "power.outage"
    watches: Mapping[str, float] = {**WATCHES, **reserve.WATCHES, **job_views.WATCHES, EVENT: 60.0}

    def __init__(self, feeds: Feeds, node: Node, settings: PowerSettings) -> None:
        site = node.topology
        self._feeds, self._set = feeds, settings
        self._batteries = reserve.Batteries(site, settings)
        self._pdus = tuple(f"pdu/{pdu.name}" for pdu in site.pdus if list_sheddable(site, pdu.name))
        self._nodes = tuple(one.name for one in site.nodes if one.cards)

    def next(self, case: Case, world: World, now: float) -> Sequence[Step]:
        """Shed and cap, then save, then tell; and the way back."""
        del world, now
        deeds = list_deeds(case)
        number = find_round(deeds, RETURNING, away=case.still_raised)
        if not number:
            return ()
        mine = [deed for deed in deeds if deed.round == number]
        return self._go(case, number, mine) if case.still_raised else self._return(case, number, mine)

    def _go(self, case: Case, number: int, deeds: Sequence[Deed]) -> Sequence[Step]:
        feeds, jobs = self._feeds.look(case.seen), list_jobs(case.seen)
        begun = {deed.verb for deed in deeds}
        sheds = [] if begun - {"shed"} and "shed" not in begun else list(self._shed(number, feeds))
        told = [*say_outcomes(deeds, number, AWAY_WORDS), "the job runs on"]
        reason = f"{case.incident.text.rstrip('.')}. {'; '.join(told)}.{say_silent(jobs)}"
        tell = Step(name=name_step(number, "away", "tell"), kind="notify", target=case.incident.subject, reason=reason)
        return take(case, [*sheds, *self._cap(number)], self._save(case, deeds, number, feeds, jobs), [tell])

    def _shed(self, number: int, feeds: Sequence[Feed]) -> Iterator[Step]:
        """What the reflex has done already is seen by the PDU's own record; what it has not is triggered now."""
        if len(feeds) < 2 or not all(feed.sheds for feed in feeds):
            return
        reason = f"{' and '.join(feed.subject for feed in feeds)} have no mains: fans and lights are shed as armed (safety rule 5)"
        for pdu in self._pdus:
            yield Step(name=name_step(number, "shed", pdu), kind="power.shed", target=pdu, reason=reason, patience=self._set.patience_s)

    def _cap(self, number: int) -> Iterator[Step]:
        reason = f"on battery: cards are capped to {self._set.cap_w:g} W before anything else (safety rule 9)"
        for node in self._nodes:
            name = name_step(number, "cap", node)
            yield Step(name=name, kind="power.cap", target=node, reason=reason, patience=self._set.patience_s, amount=self._set.cap_w)

    def _save(self, case: Case, deeds: Sequence[Deed], number: int, feeds: Sequence[Feed], jobs: Sequence[Job]) -> Iterator[Step]:
        """Each running job once a round, but for one that has saved since the mains went; it runs on."""
        reserves = self._batteries.list_reserves(case.seen, feeds, self._batteries.spend(case.seen, feeds, {}))
        begun = {deed.target for deed in deeds if deed.verb == "save"}
        new = [job for job in jobs if not job.is_asked and (number > 1 or not is_saved_since(job, case.incident.opened, case.seen))]
        due = [job for job in jobs if job.subject in begun or job in new]
        limits = {job.subject: find_deadline(job, feeds, reserves, self._set) for job in due}
        reason = "no feed has mains: save at the next step that all ranks agree on, and run on"
        return ask_to_save(due, f"{number}-save-", reason, limits)

    def _return(self, case: Case, number: int, deeds: Sequence[Deed]) -> Sequence[Step]:
        told = list(say_outcomes(deeds, number, BACK_WORDS))
        reason = f"The mains are back for {self._set.stable_s:g} s or longer. {'; '.join(told) or 'Nothing was left to undo'}."
        tell = Step(name=name_step(number, "back", "tell"), kind="notify", target=case.incident.subject, reason=reason)
        undo = [*self._withdraw(case.seen, number, deeds), *_lift(number, deeds), *self._restore(case.seen, number, deeds)]
        return take(case, undo, [tell])

    def _withdraw(self, seen: View, number: int, deeds: Sequence[Deed]) -> Iterator[Step]:
        asked = {deed.target for deed in deeds if deed.verb == "save"}
        reason = "the mains are back, and no rank has agreed on a step yet (safety rule 11)"
        for job in list_jobs(seen):
            if job.subject in asked and can_withdraw(job):
                yield Step(name=name_step(number, "withdraw", job.subject), kind="job.withdraw", target=job.subject, reason=reason)

    def _restore(self, seen: View, number: int, deeds: Sequence[Deed]) -> Iterator[Step]:
        """Only where the PDU's own timer has not (safety rule 8)."""
        reason = "the mains are back, and its own timer has not closed what the shed opened"
        for deed in deeds:
            if deed.verb == "shed" and deed.sent and seen.text(EVENT, deed.target) == "fired":
                yield Step(name=name_step(number, "restore", deed.target), kind="power.restore", target=deed.target, reason=reason)


def _lift(number: int, deeds: Sequence[Deed]) -> Iterator[Step]:
    for deed in deeds:
        if deed.verb == "cap" and deed.sent:
            name = name_step(number, "lift", deed.target)
            yield Step(name=name, kind="power.cap", target=deed.target, reason="the mains are back: the cap is lifted")
