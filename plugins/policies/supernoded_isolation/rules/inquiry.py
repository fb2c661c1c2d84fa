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
    Rank,
    find_blame,
    follow,
    list_jobs,
    look_at_card,
    say,
)
from supernoded_isolation.evidence.card_views import ERRORS, HEALTH, PRESENT, is_quiet, is_well, list_fallen, read_serial
from supernoded_isolation.evidence.log_view import LOG_WATCHES, read_log
from supernoded_isolation.evidence.pace import PACE_WATCHES, Slow, tell_pace
from supernoded_isolation.evidence.shared import SHARED_WATCHES, find_common, find_heat, find_hog, has_settled, wait_for_hog
from supernoded_isolation.evidence.words import DRIVER_VIEWS, HISTORY, RANKS
from supernoded_isolation.health import Table
from supernoded_isolation.rules.findings import FAULTY, SILENT, Finding, Findings, Memory
from supernoded_isolation.rules.standing import STANDING_WATCHES, find_standstills, note_phased, note_quiet, note_stopped
from supernoded_isolation.settings import IsolationSettings

WATCHES: Mapping[str, float] = {**CARD_WATCHES, **RANK_WATCHES, **LOG_WATCHES, **SHARED_WATCHES, **STANDING_WATCHES, **PACE_WATCHES}
FEW = 256  # cards that are all looked at whenever anything is new; of more all are at times, and suspects always (ours)
SWEEP_S = 10.0
MOST_PAST = 8  # times of a card that are remembered
ILL_FOR = 2.0  # times `software_s` for which a card that was blamed so stays to blame: a saga for each of several before it (ours)
ECHO_S = 10.0  # a rank is not silent anew so soon: what is heard then was said of it before, as nodes tell every 5 s (ours)


class Inquiry:
    """Looks at the cards of a site."""

    def __init__(self, site: Topology, table: Table, settings: IsolationSettings, is_under_maintenance: Callable[[str], bool]) -> None:
        self._site, self._table, self._set, self._is_under_maintenance = site, table, settings, is_under_maintenance
        self._bounds = Bounds(settings.hang_looks, settings.code_looks)
        self._slow = Slow(settings.slow_z, settings.slow_percent, settings.slow_steps)
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
        memory = msgspec.structs.replace(memory, swept=swept, quiet=quiet, fallen=fallen, phased=note_phased(seen, memory))
        slow, paces = self._follow_pace(seen, of_card, memory)
        memory = msgspec.structs.replace(memory, slow=slow, stopped=note_stopped(seen.now, jobs, memory))
        memory = msgspec.structs.replace(memory, marks=self._mark(seen, cards, of_card, memory, paces))
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

    def _follow_pace(self, seen: View, of_card: Mapping[str, Job], memory: Memory) -> tuple[dict[str, float], dict[str, Evidence]]:
        """Which suspects have a slow rank and since which step, and what that says against them."""
        slow, paces = dict[str, float](), dict[str, Evidence]()
        for card, marks in memory.marks.items():
            job = of_card.get(card)
            if job is None or job.doubled or not _is_suspect_by_machine(marks.values(), self._bounds):
                continue
            first, said = tell_pace(seen, job, card, memory.slow.get(card), self._slow)
            slow |= {card: first} if first is not None else {}
            paces |= {card: said} if said is not None else {}
        return slow, paces

    def _mark(
        self, seen: View, cards: Iterable[str], of_card: Mapping[str, Job], memory: Memory, paces: Mapping[str, Evidence]
    ) -> dict[str, dict[str, Mark]]:
        found, fallen = {}, frozenset(memory.fallen)
        for card in cards:
            settled = has_settled(seen, card.partition("/")[0], self._set.settle_s)
            evidence = list(look_at_card(seen, card, self._site, self._table, settled=settled, fallen=fallen))
            evidence += [*self._ask_job(seen, card, of_card.get(card), memory), *([paces[card]] if card in paces else [])]
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
            near = [one for one in sorted(peers) if one != card and self._came_with(seen, memory, one, card)]
            comes = rank is not None and rank.state == "running"  # with it the job may step again, and whoever is ill then is found anew
            was_ill = card in memory.ill and not comes and any(one.hang for one in evidence)
            ill = was_ill or (bool(near) and job is not None and self._is_ill(seen, card, near, job, memory))
            thing, others = ("", ()) if is_victim or ill else self._find_common(card, job, of_card, memory, near)
            blame = () if is_victim else find_blame(evidence, self._bounds) or (evidence if was_ill else ())
            stands = was_ill or any(one.view == RANKS for one in evidence)
            yield Finding(
                card=card,
                evidence=evidence,
                blame=blame,
                excuse=self._excuse(seen, card, blame, _find_quiet(memory, job, rank, card)),
                thing=thing,
                others=others,
                rank=rank.subject if rank is not None and stands else "",
                job=job.subject if job is not None else "",
                kind=memory.kinds.get(card, SILENT if stands else FAULTY),
                since=memory.since[card],
                ill=ill and bool(blame),
                stood_s=_measure_stand(seen, job, memory),
                urgent=job is not None and job.is_dead,
            )

    def _excuse(self, seen: View, card: str, blame: Sequence[Evidence], since: float) -> str:
        """Heat explains any code; a process that takes too much explains what hangs, and no code that is grave.

        Both begin together: what rests on the job's word waits for a look at who else is on the node (H3).
        """
        if self._is_under_maintenance(card):
            return f"{card} is under maintenance, it is not judged"
        grave = any(one.grave and not one.hang and one.looks >= self._bounds.grave for one in blame)
        node, alone = card.partition("/")[0], find_blame([one for one in blame if one.view not in JOB_VIEWS], self._bounds)
        waits = wait_for_hog(seen, node, since) if blame and not alone else ""
        return find_heat(seen, card) or ("" if grave else find_hog(seen, node)) or (f"{card}: {say(blame)}. {waits}" if waits else "")

    def _came_with(self, seen: View, memory: Memory, one: str, card: str) -> bool:
        """Whether two came into trouble together. Who was blamed all the same, after so long, is explained, and explains nobody else."""
        explained = one in memory.kinds and seen.now - memory.since[one] >= self._set.software_s
        return abs(memory.since[one] - memory.since[card]) <= self._set.common_s and not explained

    def _find_common(
        self, card: str, job: Job | None, of_card: Mapping[str, Job], memory: Memory, near: Sequence[str]
    ) -> tuple[str, tuple[str, ...]]:
        """The job first: software is likelier than a cable (fleet row 20)."""
        mates = tuple(one for one in near if job is not None and of_card.get(one) == job)
        return (job.subject, mates) if job is not None and mates else find_common(card, memory.since, near, self._site, self._set.common_s)

    def _is_ill(self, seen: View, card: str, others: Sequence[str], job: Job, memory: Memory) -> bool:
        """Whether its job has stood still for `software_s` since all began, and this card is off the bus, or does not answer its tool.

        What several show alike, as one code, is that of what they share. Loops and feeds would show heat, or nothing at all.
        """
        youngest = max(memory.since[one] for one in (card, *others))  # so that all are blamed at one look: an abort ends what the job says
        if min(_measure_stand(seen, job, memory), seen.now - youngest) < self._set.software_s:
            return False
        mine, theirs = memory.marks[card].values(), [mark for other in others for mark in memory.marks[other].values()]
        codes = {mark.evidence.text for mark in theirs if not mark.evidence.hang and mark.evidence.view in DRIVER_VIEWS}
        alike = any(mark.evidence.text in codes for mark in mine)
        return not alike and any(mark.evidence.hang and mark.looks >= self._bounds.hang for mark in mine)

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
        ill = {one.card: memory.ill.get(one.card, seen.now) for one in findings if one.ill and not one.excuse}
        return msgspec.structs.replace(
            memory,
            kinds=kinds,
            ill={card: at for card, at in ill.items() if seen.now - at <= ILL_FOR * self._set.software_s},
            begun={card: memory.since.get(card, memory.begun.get(card, seen.now)) for card in kinds},
            blamed=_keep(blamed, seen.now, self._set.history_s),
            processes=_keep(past, seen.now, self._set.again_s),
        )


def _measure_stand(seen: View, job: Job | None, memory: Memory) -> float:
    return seen.now - memory.stopped[job.subject] if job is not None and job.subject in memory.stopped else 0.0


def _find_quiet(memory: Memory, job: Job | None, rank: Rank | None, card: str) -> float:
    """Since when the job says something against a card."""
    said = [memory.quiet[one.subject] for one in (rank, job) if one is not None and one.subject in memory.quiet]
    return said[0] if said else memory.since[card]


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
