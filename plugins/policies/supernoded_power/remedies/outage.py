"""No feed has mains: shed and cap at once, then save while the job runs on; when they are back, undo what is left to undo."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import Case, Node, Step, View, World
from supernoded_power import jobs as job_views
from supernoded_power import reserve
from supernoded_power.jobs import Job, list_jobs
from supernoded_power.mains import WATCHES, Feed, Feeds
from supernoded_power.outage import UNREAD
from supernoded_power.remedies.record import Deed, find_round, has_more_running, list_deeds, name_step, say_outcomes, take
from supernoded_power.remedies.saving import MOST_TRIES, ask_again, ask_to_save, can_withdraw, find_deadline, is_saved_since, say_silent
from supernoded_power.settings import PowerSettings
from supernoded_power.site import list_sheddable

EVENT = "pdu.event"
SAVE_BY_S = 1.5  # from the opening: then a checkpoint is asked for, however far sheds and caps are; ours, half a step
LIFTS = 15  # tries, after the first, to lift the cap of a node that may be off for now; with the next line a quarter of an hour, ours
LIFT_S = 60.0  # of each
RETURNING = frozenset({"withdraw", "lift", "restore", "back", *(f"lift{one}" for one in range(2, LIFTS + 2))})
AWAY_WORDS = {"shed": "fans shed", "cap": "nodes capped", "save": "jobs saved"}
AGAIN_WORDS = {f"save{one}": f"jobs saved at try {one}" for one in range(2, MOST_TRIES + 1)}
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
        del world
        deeds = list_deeds(case)
        number = find_round(deeds, RETURNING, away=case.still_raised)
        if not number:
            return ()
        mine = [deed for deed in deeds if deed.round == number]
        return self._go(case, number, mine, now) if case.still_raised else self._return(case, number, deeds)

    def _go(self, case: Case, number: int, deeds: Sequence[Deed], now: float) -> Sequence[Step]:
        feeds, jobs = self._feeds.look(case.seen), list_jobs(case.seen)
        begun = {deed.verb for deed in deeds}
        sheds = [] if begun - {"shed"} and "shed" not in begun else list(self._shed(number, feeds))
        told = [*say_outcomes(deeds, number, AWAY_WORDS), *(f"{job.subject} runs on" for job in jobs if job.runs)]
        text = case.incident.text.rstrip(".")
        if text.endswith(UNREAD):
            text += f". Now {'; '.join(feed.text for feed in feeds)}"
        reason = f"{'; '.join((text, *told))}.{say_silent(jobs)}"
        tell = Step(name=name_step(number, "away", "tell"), kind="notify", target=case.incident.subject, reason=reason)
        first, (saves, again) = [*sheds, *self._cap(number)], self._save(case, deeds, number, feeds, jobs)
        if any(step.name not in case.done for step in first) and _is_late(case, number, deeds, now):
            return (*take(case, first), *take(case, saves))
        if has_more_running(deeds, ("save",), (*saves, *again)):
            return take(case, first, saves)  # of an earlier life, and its job not yet heard
        return take(case, first, saves, [tell], again, _tell_again(case, number, deeds))

    def _shed(self, number: int, feeds: Sequence[Feed]) -> Iterator[Step]:
        """What the reflex has done already is seen by the PDU's own record; what it has not is triggered now."""
        if len(feeds) < 2 or not all(feed.sheds for feed in feeds):
            return
        reason = f"{' and '.join(feed.subject for feed in feeds)} have no mains: fans and lights are shed as armed (safety rule 5)"
        for pdu in self._pdus:
            yield Step(name=name_step(number, "shed", pdu), kind="power.shed", target=pdu, reason=reason, patience=self._set.patience_s)

    def _cap(self, number: int) -> Iterator[Step]:
        reason = f"no feed has mains: cards are capped to {self._set.cap_w:g} W before anything else (safety rule 9)"
        for node in self._nodes:
            name = name_step(number, "cap", node)
            yield Step(name=name, kind="power.cap", target=node, reason=reason, patience=self._set.cap_patience_s, amount=self._set.cap_w)

    def _save(
        self, case: Case, deeds: Sequence[Deed], number: int, feeds: Sequence[Feed], jobs: Sequence[Job]
    ) -> tuple[Sequence[Step], Sequence[Step]]:
        """Each running job, but for one that has saved since the mains went; it runs on. Then again those whose save came to nothing."""
        reserves = self._batteries.list_reserves(case.seen, feeds, self._batteries.spend(case.seen, feeds, {}))
        begun = {deed.target for deed in deeds if deed.verb == "save"}
        new = [job for job in jobs if not job.is_asked and (number > 1 or not is_saved_since(job, case.incident.opened, case.seen))]
        due = [job for job in jobs if job.subject in begun or job in new]
        limits = {job.subject: find_deadline(job, feeds, reserves, self._set) for job in jobs}
        reason = "no feed has mains: save at the next step that all ranks agree on, and run on"
        again = ask_again(jobs, deeds, number, f"{reason}; the try before came to nothing", limits, case)
        return list(ask_to_save(due, f"{number}-save-", reason, limits)), list(again)

    def _return(self, case: Case, number: int, deeds: Sequence[Deed]) -> Sequence[Step]:
        mine, capped = [deed for deed in deeds if deed.round == number], list_capped(deeds)
        told = list(say_outcomes(deeds, number, BACK_WORDS))
        reason = f"The mains are back for {self._set.stable_s:g} s or longer; {'; '.join(told) or 'nothing was left to undo'}."
        tell = Step(name=name_step(number, "back", "tell"), kind="notify", target=case.incident.subject, reason=reason)
        undo = [*self._withdraw(case.seen, number, mine), *_lift(number, capped), *self._restore(case.seen, number, mine)]
        return take(case, undo, [tell], _lift_again(number, capped, mine), _tell_capped(case, number, capped))

    def _withdraw(self, seen: View, number: int, deeds: Sequence[Deed]) -> Iterator[Step]:
        asked = {deed.target for deed in deeds if deed.verb.startswith("save")}
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


def _tell_again(case: Case, number: int, deeds: Sequence[Deed]) -> Iterator[Step]:
    told = "; ".join(say_outcomes(deeds, number, AGAIN_WORDS))
    if told:
        reason = f"{told[0].upper()}{told[1:]}."
        yield Step(name=name_step(number, "away", "again"), kind="notify", target=case.incident.subject, reason=reason)


def _is_late(case: Case, number: int, deeds: Sequence[Deed], now: float) -> bool:
    """Whether a save waits no longer for caps that are slow; of a later round no more is known than when the first step of it ended."""
    ended = [deed.outcome.at for deed in deeds if deed.outcome is not None]
    begun = case.incident.opened if number == 1 else min(ended, default=now)
    return now - begun >= SAVE_BY_S


def list_capped(deeds: Sequence[Deed]) -> list[str]:
    """The nodes that were capped, in whatever round, and have not been seen without their cap since."""
    capped: dict[str, None] = {}
    for deed in deeds:
        if deed.verb == "cap" and deed.sent:
            capped[deed.target] = None
        elif deed.verb.startswith("lift") and deed.done:
            capped.pop(deed.target, None)
    return list(capped)


def _lift(number: int, capped: Sequence[str]) -> Iterator[Step]:
    for node in capped:
        yield Step(name=name_step(number, "lift", node), kind="power.cap", target=node, reason="the mains are back: the cap is lifted")


def _lift_again(number: int, capped: Sequence[str], deeds: Sequence[Deed]) -> Iterator[Step]:
    """A node that was switched off in the same outage takes no order before it is on again; at the end people are told."""
    tries = {
        node: sum(deed.verb.startswith("lift") and deed.target == node and deed.outcome is not None for deed in deeds) for node in capped
    }
    for node, ended in tries.items():
        if ended <= LIFTS:
            reason = "the mains are back: the cap is lifted, which was not seen before"
            yield Step(name=name_step(number, f"lift{ended + 1}", node), kind="power.cap", target=node, reason=reason, patience=LIFT_S)


def _tell_capped(case: Case, number: int, capped: Sequence[str]) -> Iterator[Step]:
    if capped:
        reason = f"The caps of {', '.join(capped)} are not seen lifted after {LIFTS + 1} tries: lift them by hand, once these are on."
        yield Step(name=name_step(number, "back", "capped"), kind="notify", target=case.incident.subject, reason=reason)
