"""Who is a suspect, who is to blame, and what else may be: one inquiry for all rules, so that they never contradict each other. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from supernoded.plugin import Topology, View
from supernoded_isolation.evidence import (
    CARD_WATCHES,
    JOB_VIEWS,
    RANK_WATCHES,
    Bounds,
    Evidence,
    Job,
    Mark,
    find_blame,
    follow,
    list_jobs,
    look_at_card,
)
from supernoded_isolation.evidence.card_views import ERRORS, HEALTH, PRESENT, is_quiet, is_well, list_fallen, read_serial
from supernoded_isolation.evidence.log_view import LOG_WATCHES, read_log
from supernoded_isolation.evidence.shared import SHARED_WATCHES, find_common, find_heat, find_hog, has_settled
from supernoded_isolation.evidence.words import HISTORY, RANKS
from supernoded_isolation.health import Table
from supernoded_isolation.rules.findings import FAULTY, SILENT, Finding, Findings, Memory
from supernoded_isolation.rules.standing import find_standstills, note_quiet
from supernoded_isolation.settings import IsolationSettings

WATCHES: Mapping[str, float] = {**CARD_WATCHES, **RANK_WATCHES, **LOG_WATCHES, **SHARED_WATCHES}
FEW = 256  # cards that are all looked at whenever anything is new; of more all are at times, and suspects always (ours)
SWEEP_S = 10.0
MOST_PAST = 8  # times of a card that are remembered
ECHO_S = 10.0  # a rank is not silent anew so soon: what is heard then was said of it before, as nodes tell every 5 s (ours)


class Inquiry:
    """Looks at the cards of a site."""

    def __init__(self, site: Topology, table: Table, settings: IsolationSettings, is_under_maintenance: Callable[[str], bool]) -> None:
        self._site, self._table, self._set, self._is_under_maintenance = site, table, settings, is_under_maintenance
        self._bounds = Bounds(settings.hang_looks, settings.code_looks)
        self._answered: tuple[tuple[float, int, Memory], tuple[Memory, Findings]] | None = None

    def inquire(self, seen: View, memory: Memory) -> tuple[Memory, Findings]:
        """What there is now, and what is to be remembered; for the rules that ask one after the other it is looked for once."""
        own = {"raised": memory.raised, "cleared": memory.cleared}
        asked = (seen.now, seen.turn, msgspec.structs.replace(memory, raised={}, cleared=0.0))
        if self._answered is None or self._answered[0] != asked:
            self._answered = asked, self._inquire(seen, asked[2])
        found, findings = self._answered[1]
        return msgspec.structs.replace(found, **own), findings

    def _inquire(self, seen: View, memory: Memory) -> tuple[Memory, Findings]:
        every = {card for quantity in (PRESENT, HEALTH, ERRORS) for card in seen.subjects(quantity)}
        whole = len(every) <= FEW or not 0.0 <= seen.now - memory.swept < SWEEP_S
        jobs = list_jobs(seen, standing=not whole and not memory.marks)
        of_card = {rank.card: job for job in jobs for rank in job.ranks if rank.card}
        held_up = {rank.card for job in jobs for rank in (job.ranks if job.hangs else job.culprits) if rank.card}
        loud = {card for card in every if not is_quiet(seen, card)} if whole else set[str]()
        cards = sorted(loud | held_up | memory.marks.keys())
        swept, quiet = seen.now if whole else memory.swept, note_quiet(seen.now, jobs, memory)
        fallen = tuple(list_fallen(seen, frozenset(memory.fallen))) if whole else memory.fallen
        memory = msgspec.structs.replace(memory, swept=swept, quiet=quiet, fallen=fallen)
        memory = msgspec.structs.replace(memory, marks=self._mark(seen, cards, of_card, memory))
        culprits = {rank.card for job in jobs for rank in job.culprits}
        since = {
            card: memory.since.get(card, memory.begun.get(card, seen.now))
            for card, marks in memory.marks.items()
            if card in culprits or _is_suspect_by_machine(marks.values(), self._bounds)
        }
        memory = msgspec.structs.replace(memory, since=since)
        findings = list(self._judge(seen, memory, of_card))
        standing = list(find_standstills(seen, jobs, findings, memory, self._table, self._set))
        restarted = [(one.cards[0], one.subject) for one in standing if one.sure and len(one.cards) == 1]
        return self._remember(seen, memory, findings, restarted), Findings(tuple(findings), tuple(standing), len(every) <= FEW)

    def _mark(self, seen: View, cards: Iterable[str], of_card: Mapping[str, Job], memory: Memory) -> dict[str, dict[str, Mark]]:
        found, fallen = {}, frozenset(memory.fallen)
        for card in cards:
            settled = has_settled(seen, card.partition("/")[0], self._set.settle_s)
            evidence = list(look_at_card(seen, card, self._site, self._table, settled=settled, fallen=fallen))
            evidence += self._ask_job(seen, card, of_card.get(card), memory)
            marks = follow(memory.marks.get(card, {}), evidence, seen.now, self._set.memory_s)
            if marks:
                found[card] = marks
        return found

    def _ask_job(self, seen: View, card: str, job: Job | None, memory: Memory) -> Iterator[Evidence]:
        said, rank = (job.tell(card), job.find(card)) if job is not None else (None, None)
        if job is None or said is None or rank is None:
            return
        yield said
        number = rank.subject.rpartition("/rank")[2]
        if number.isdecimal():
            yield from read_log(seen, job, int(number), memory.quiet.get(rank.subject, seen.now))

    def _judge(self, seen: View, memory: Memory, of_card: Mapping[str, Job]) -> Iterator[Finding]:
        by_machine = {card for card in memory.since if _is_suspect_by_machine(memory.marks[card].values(), self._bounds)}
        struck = {of_card[card].subject for card in by_machine if card in of_card}  # their other ranks are victims
        for card in memory.since:
            job = of_card.get(card)
            rank = job.find(card) if job is not None else None
            evidence = tuple(mark.evidence for mark in memory.marks[card].values())
            evidence += tuple(self._recall(seen, card, rank.subject if rank is not None else "", memory))
            peers = by_machine if card in by_machine else memory.since.keys() - by_machine
            is_victim = job is not None and job.subject in struck and card not in by_machine
            thing, others = ("", ()) if is_victim else self._find_common(card, job, of_card, memory, peers)
            blame = () if is_victim else find_blame(evidence, self._bounds)
            stands = any(one.view == RANKS for one in evidence)
            yield Finding(
                card=card,
                evidence=evidence,
                blame=blame,
                excuse=self._excuse(seen, card, blame),
                thing=thing,
                others=others,
                rank=rank.subject if rank is not None and stands else "",
                job=job.subject if job is not None else "",
                kind=memory.kinds.get(card, SILENT if stands else FAULTY),
                since=memory.since[card],
                urgent=job is not None and job.is_dead,
            )

    def _excuse(self, seen: View, card: str, blame: Sequence[Evidence]) -> str:
        """Heat explains any code; a process that takes too much explains what hangs, and no code that is grave."""
        if self._is_under_maintenance(card):
            return f"{card} is under maintenance, it is not judged"
        grave = any(one.grave and not one.hang and one.looks >= self._bounds.grave for one in blame)
        return find_heat(seen, card) or ("" if grave else find_hog(seen, card.partition("/")[0]))

    def _find_common(
        self, card: str, job: Job | None, of_card: Mapping[str, Job], memory: Memory, peers: Iterable[str]
    ) -> tuple[str, tuple[str, ...]]:
        """The job first: software is likelier than a cable (fleet row 20)."""
        near = [one for one in peers if one != card and abs(memory.since[one] - memory.since[card]) <= self._set.common_s]
        mates = tuple(one for one in sorted(near) if job is not None and of_card.get(one) == job)
        return (job.subject, mates) if job is not None and mates else find_common(card, memory.since, near, self._site, self._set.common_s)

    def _recall(self, seen: View, card: str, rank: str, memory: Memory) -> Iterator[Evidence]:
        """What was before this suspicion began: it counts only beside what is seen now, and of the card that is in the slot now."""
        begun, name, now = memory.since[card], _name(seen, card), seen.now
        for times, before, within, text in (
            (memory.blamed, begun, self._set.history_s, "it was blamed"),
            (memory.processes, begun - ECHO_S, self._set.again_s, "a process on it was blamed and started anew"),
        ):
            past, of_rank = ([at for at in times.get(key, ()) if at < before and now - at <= within] for key in (name, rank))
            if past and len(of_rank) <= len(past):  # else it was so elsewhere, too: the trouble goes with the rank
                yield Evidence(HISTORY, max(past), f"{text} {now - max(past):.0f} s ago already")

    def _remember(self, seen: View, memory: Memory, findings: Sequence[Finding], processes: Sequence[tuple[str, str]]) -> Memory:
        """As what a card is blamed stays so until it is seen well, and is one blame: that its node is not heard ends nothing."""
        kinds = {card: kind for card, kind in memory.kinds.items() if card in memory.since or not is_well(seen, card, self._table, 0.0)}
        fresh = [one for one in findings if one.blame and not one.excuse and not one.thing and one.card not in kinds]
        blamed, past = dict(memory.blamed), dict(memory.processes)
        for one in fresh:
            kinds[one.card] = one.kind
            name = _name(seen, one.card)
            blamed[name] = [*blamed.get(name, ()), seen.now][-MOST_PAST:]
        for card, rank in processes:
            begun = memory.since.get(card, seen.now)
            for key in (_name(seen, card), rank):
                if not any(at >= begun for at in past.get(key, ())):
                    past[key] = [*past.get(key, ()), seen.now][-MOST_PAST:]
        return msgspec.structs.replace(
            memory,
            kinds=kinds,
            begun={card: memory.since.get(card, memory.begun.get(card, seen.now)) for card in kinds},
            blamed=_keep(blamed, seen.now, self._set.history_s),
            processes=_keep(past, seen.now, self._set.again_s),
        )


def _name(seen: View, card: str) -> str:
    """The card that is in a slot: another one has another past."""
    return f"{card}={read_serial(seen, card)}"


def _is_suspect_by_machine(marks: Iterable[Mark], bounds: Bounds) -> bool:
    """One hiccup of a tool makes no suspect."""
    seen = (mark.evidence for mark in marks)
    return any(one.view not in JOB_VIEWS and (not one.hang or one.looks >= bounds.hang) for one in seen)


def _keep(times: Mapping[str, Sequence[float]], now: float, within: float) -> dict[str, list[float]]:
    kept = {card: [at for at in ats if now - at <= within] for card, ats in times.items()}
    return {card: ats for card, ats in kept.items() if ats}
