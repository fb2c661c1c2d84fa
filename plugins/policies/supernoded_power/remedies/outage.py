"""No feed has mains: shed and cap at once, then save while the job runs on; when they are back, undo what is left to undo."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import (
    JOB_WATCHES,
    Case,
    Deed,
    Job,
    Node,
    Record,
    Step,
    View,
    World,
    ask_to_save,
    has_more_running,
    list_jobs,
    read_record,
    say_outcomes,
    say_silent,
    take,
)
from supernoded_power import reserve
from supernoded_power.mains import WATCHES, Feed, Feeds
from supernoded_power.outage import UNREAD
from supernoded_power.remedies.saving import MOST_TRIES, ask_again, find_deadline
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
    watches: Mapping[str, float] = {**WATCHES, **reserve.WATCHES, **reserve.RECALLED, **JOB_WATCHES, EVENT: 60.0}

    def __init__(self, feeds: Feeds, node: Node, settings: PowerSettings) -> None:
        site = node.topology
        self._feeds, self._set = feeds, settings
        self._batteries = reserve.Batteries(site, settings)
        self._pdus = tuple(f"pdu/{pdu.name}" for pdu in site.pdus if list_sheddable(site, pdu.name))
        self._nodes = tuple(one.name for one in site.nodes if one.cards)

    def next(self, case: Case, world: World, now: float) -> Sequence[Step]:
        """Shed and cap, then save, then tell; and the way back."""
        del world
        record = read_record(case, RETURNING)
        if not record.round:
            return ()
        return self._go(case, record, now) if case.still_raised else self._return(case, record)

    def _go(self, case: Case, record: Record, now: float) -> Sequence[Step]:
        feeds, jobs = self._feeds.look(case.seen), list_jobs(case.seen)
        begun = {deed.verb for deed in record.list_round()}
        sheds = [] if begun - {"shed"} and "shed" not in begun else list(self._shed(record, feeds))
        told = [*say_outcomes(record, AWAY_WORDS), *(f"{job.subject} runs on" for job in jobs if job.runs)]
        text = case.incident.text.rstrip(".")
        if text.endswith(UNREAD):
            text += f". Now {'; '.join(feed.text for feed in feeds)}"
        reason = f"{'; '.join((text, *told))}.{say_silent(jobs)}"
        tell = Step(name=record.name("away", "tell"), kind="notify", target=case.incident.subject, reason=reason)
        first, (saves, again) = [*sheds, *self._cap(record)], self._save(case, record, feeds, jobs)
        if any(step.name not in case.done for step in first) and _is_late(case, record, now):
            return (*take(case, first), *take(case, saves))
        if has_more_running(record.list_round(), ("save",), (*saves, *again)):
            return take(case, first, saves)  # of an earlier life, and its job not yet heard
        return take(case, first, saves, [tell], again, _tell_again(case, record))

    def _shed(self, record: Record, feeds: Sequence[Feed]) -> Iterator[Step]:
        """What the reflex has done already is seen by the PDU's own record; what it has not is triggered now."""
        if len(feeds) < 2 or not all(feed.sheds for feed in feeds):
            return
        reason = f"{' and '.join(feed.subject for feed in feeds)} have no mains: fans and lights are shed as armed (safety rule 5)"
        for pdu in self._pdus:
            yield Step(name=record.name("shed", pdu), kind="power.shed", target=pdu, reason=reason, patience=self._set.patience_s)

    def _cap(self, record: Record) -> Iterator[Step]:
        reason = f"no feed has mains: cards are capped to {self._set.cap_w:g} W before anything else (safety rule 9)"
        for node in self._nodes:
            name = record.name("cap", node)
            yield Step(name=name, kind="power.cap", target=node, reason=reason, patience=self._set.cap_patience_s, amount=self._set.cap_w)

    def _save(self, case: Case, record: Record, feeds: Sequence[Feed], jobs: Sequence[Job]) -> tuple[Sequence[Step], Sequence[Step]]:
        """Each running job, but for one that has saved since the mains went; it runs on. Then again those whose save came to nothing."""
        reserves = self._batteries.list_reserves(case.seen, feeds, self._batteries.recall(case.seen, feeds, case.incident.opened))
        begun, opened = {deed.target for deed in record.list_of("save")}, case.incident.opened
        new = [job for job in jobs if not job.is_asked and (record.round > 1 or not job.is_saved_since(opened, case.seen.now))]
        due = [job for job in jobs if job.subject in begun or job in new]
        limits = {job.subject: find_deadline(job, feeds, reserves, self._set) for job in jobs}
        reason = "no feed has mains: save at the next step that all ranks agree on, and run on"
        again = ask_again(jobs, record, f"{reason}; the try before came to nothing", limits, case)
        return list(ask_to_save(due, record.name("save", ""), reason, limits)), list(again)

    def _return(self, case: Case, record: Record) -> Sequence[Step]:
        capped = list_capped(record.deeds)
        told = list(say_outcomes(record, BACK_WORDS))
        reason = f"The mains are back for {self._set.stable_s:g} s or longer; {'; '.join(told) or 'nothing was left to undo'}."
        tell = Step(name=record.name("back", "tell"), kind="notify", target=case.incident.subject, reason=reason)
        undo = [*self._withdraw(case.seen, record), *_lift(record, capped), *self._restore(case.seen, record)]
        return take(case, undo, [tell], _lift_again(record, capped), _tell_capped(case, record, capped))

    def _withdraw(self, seen: View, record: Record) -> Iterator[Step]:
        asked = {deed.target for deed in record.list_round() if deed.verb.startswith("save")}
        reason = "the mains are back, and no rank has agreed on a step yet (safety rule 11)"
        for job in list_jobs(seen):
            if job.subject in asked and job.can_withdraw:
                yield Step(name=record.name("withdraw", job.subject), kind="job.withdraw", target=job.subject, reason=reason)

    def _restore(self, seen: View, record: Record) -> Iterator[Step]:
        """Only where the PDU's own timer has not (safety rule 8)."""
        reason = "the mains are back, and its own timer has not closed what the shed opened"
        for deed in record.list_of("shed"):
            if deed.sent and seen.text(EVENT, deed.target) == "fired":
                yield Step(name=record.name("restore", deed.target), kind="power.restore", target=deed.target, reason=reason)


def _tell_again(case: Case, record: Record) -> Iterator[Step]:
    told = "; ".join(say_outcomes(record, AGAIN_WORDS))
    if told:
        reason = f"{told[0].upper()}{told[1:]}."
        yield Step(name=record.name("away", "again"), kind="notify", target=case.incident.subject, reason=reason)


def _is_late(case: Case, record: Record, now: float) -> bool:
    """Whether a save waits no longer for caps that are slow; of a later round no more is known than when the first step of it ended."""
    ended = [deed.outcome.at for deed in record.list_round() if deed.outcome is not None]
    begun = case.incident.opened if record.round == 1 else min(ended, default=now)
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


def _lift(record: Record, capped: Sequence[str]) -> Iterator[Step]:
    for node in capped:
        yield Step(name=record.name("lift", node), kind="power.cap", target=node, reason="the mains are back: the cap is lifted")


def _lift_again(record: Record, capped: Sequence[str]) -> Iterator[Step]:
    """A node that was switched off in the same outage takes no order before it is on again; at the end people are told."""
    ended_lifts = [deed.target for deed in record.list_round() if deed.verb.startswith("lift") and deed.outcome is not None]
    tries = {node: ended_lifts.count(node) for node in capped}
    for node, ended in tries.items():
        if ended <= LIFTS:
            reason = "the mains are back: the cap is lifted, which was not seen before"
            yield Step(name=record.name(f"lift{ended + 1}", node), kind="power.cap", target=node, reason=reason, patience=LIFT_S)


def _tell_capped(case: Case, record: Record, capped: Sequence[str]) -> Iterator[Step]:
    if capped:
        reason = f"The caps of {', '.join(capped)} are not seen lifted after {LIFTS + 1} tries: lift them by hand, once these are on."
        yield Step(name=record.name("back", "capped"), kind="notify", target=case.incident.subject, reason=reason)
