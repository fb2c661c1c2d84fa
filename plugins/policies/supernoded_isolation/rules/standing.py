"""Jobs that stand still on cards that look well: then the process is to blame, and not the card. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from supernoded.plugin import State, View, find_most
from supernoded_isolation.evidence import Job, Rank
from supernoded_isolation.evidence.card_views import is_well
from supernoded_isolation.evidence.shared import find_heat, find_hog, wait_for_hog
from supernoded_isolation.health import Table
from supernoded_isolation.rules.findings import Finding, Memory, Standstill
from supernoded_isolation.settings import IsolationSettings

PHASE, STEP_TIME, TIMEOUTS, USE = "job.phase", "job.step_time", "comm.timeouts", "card.utilisation"
STANDING_WATCHES: Mapping[str, float] = {PHASE: 30.0, STEP_TIME: 30.0, TIMEOUTS: 60.0, USE: 30.0}
NO_MAP = "two ranks of its job are on one card by their own word, so nobody is blamed by what the job says: see rank.map"
MAY_PAUSE = (
    "All its cards answer, show no code and do nothing, and it has never told a phase: whether it pauses or hangs cannot be told. "
    "See to it; a script tells its pauses by `job.phase`, and `restart_idle` makes that it is started anew"
)
STEPS = 20.0  # p95 steps for which a job may stand still at the shortest, however short `unnamed_s` is (ours)
IDLE = 5.0  # % of a card's time up to which it does nothing (ours)


def note_phased(seen: View, memory: Memory) -> tuple[str, ...]:
    """The jobs that have ever told that they do something else than steps, of those that are heard."""
    jobs = seen.subjects(PHASE)
    return tuple(job for job in jobs if job in memory.phased or any(seen.text(PHASE, job, one) for one in seen.sources(PHASE, job)))


def note_quiet(now: float, jobs: Sequence[Job], memory: Memory) -> dict[str, float]:
    """Since when each rank holds its job up, and each job hangs."""
    subjects = [rank.subject for job in jobs for rank in job.culprits] + [job.subject for job in jobs if job.hangs]
    return {subject: memory.quiet.get(subject, now) for subject in subjects}


def note_stopped(now: float, jobs: Sequence[Job], memory: Memory) -> dict[str, float]:
    """Since when each job does not step: it hangs, waits for somebody, or has no rank left."""
    return {job.subject: memory.stopped.get(job.subject, now) for job in jobs if job.hangs or job.culprits or job.is_dead}


def find_standstills(
    seen: View, jobs: Sequence[Job], findings: Sequence[Finding], memory: Memory, table: Table, settings: IsolationSettings
) -> Iterator[Standstill]:
    """The ranks that hold others up, and jobs that hang for nobody in particular; none where a card is to blame or shares its trouble."""
    by_card = {one.card: one for one in findings}
    for job in jobs:
        suspects = [by_card[rank.card] for rank in job.ranks if rank.card in by_card]
        named = [one for one in suspects if one.thing or (one.blame and not one.excuse)]
        if named or not (job.culprits or job.hangs):
            continue
        if job.culprits:
            yield from (_look_at_rank(seen, rank, job, memory, table) for rank in job.culprits)
        else:
            yield _look_at_job(seen, job, memory, table, settings, suspects)


def _look_at_rank(seen: View, rank: Rank, job: Job, memory: Memory, table: Table) -> Standstill:
    since = memory.quiet[rank.subject]
    waiting = sum(one.state == "waiting" for one in job.ranks)
    said = f"{rank.subject} is {rank.state}{f', and {waiting} others wait for it' if waiting else ''}"
    hog, heat = _find_hog(seen, [rank.card] if rank.card else []), find_heat(seen, rank.card)
    if not rank.card:
        return Standstill(rank.subject, (), f"{said}: on which card it runs is not known, so neither is blamed", sure=False, told=True)
    if job.doubled:
        return Standstill(rank.subject, (rank.card,), f"{said}: {NO_MAP}", sure=False)
    if hog or heat:
        return Standstill(rank.subject, (rank.card,), f"{said}: {hog or heat}", sure=False, told=bool(hog))
    if waits := wait_for_hog(seen, rank.card.partition("/")[0], since):
        return Standstill(rank.subject, (rank.card,), f"{said}: {waits}", sure=False)
    if not is_well(seen, rank.card, table, since):
        return Standstill(rank.subject, (rank.card,), f"{said}: {rank.card} has not been seen well since, nor in trouble", sure=False)
    text = f"{said}, while {rank.card} answers and shows no code: its process is to blame, and not its card"
    return Standstill(rank.subject, (rank.card,), text, sure=True)


def _look_at_job(
    seen: View, job: Job, memory: Memory, table: Table, settings: IsolationSettings, suspects: Sequence[Finding]
) -> Standstill:
    since = memory.quiet[job.subject]
    cards = tuple(rank.card for rank in job.ranks if rank.card)
    said = f"{job.subject} hangs with all its {len(job.ranks)} ranks at one step for {seen.now - since:.0f} s"
    hog = _find_hog(seen, cards)
    if doubt := hog or _find_doubt(seen, job, cards, since, table, suspects):
        return Standstill(job.subject, cards, f"{said}: {doubt}", sure=False, told=bool(hog))
    late = _have_timed_out(seen, cards, since)
    limit = settings.timed_out_s if late else max(settings.unnamed_s, STEPS * (find_most(seen, STEP_TIME, job.subject) or 0.0))
    if seen.now - since < limit:
        return Standstill(job.subject, cards, f"{said}, {limit:.0f} s is the limit, and all its cards look well", sure=False)
    knows = late or settings.restart_idle or job.subject in memory.phased
    if not knows and _are_idle(seen, cards, since):
        return Standstill(job.subject, cards, f"{said}. {MAY_PAUSE}", sure=False, idle=True)
    return Standstill(job.subject, cards, f"{said}, and all its cards answer and show no code: its processes are to blame", sure=True)


def _find_doubt(seen: View, job: Job, cards: Sequence[str], since: float, table: Table, suspects: Sequence[Finding]) -> str:
    """Why its processes are not to blame, or not yet; empty where nothing speaks against that."""
    heat = next((one for card in cards if (one := find_heat(seen, card))), "")
    ill = [card for card in cards if not is_well(seen, card, table, since)]
    if heat or job.doubled:
        return heat or NO_MAP
    if suspects or ill or len(cards) < len(job.ranks):
        return f"{', '.join(ill[:4]) or 'where some of them run'} has not been seen well since, nor in trouble"
    return next((one for node in _list_nodes(cards) if (one := wait_for_hog(seen, node, since))), "")


def _find_hog(seen: View, cards: Sequence[str]) -> str:
    return next((one for node in _list_nodes(cards) if (one := find_hog(seen, node))), "")


def _list_nodes(cards: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(card.partition("/")[0] for card in cards))


def _have_timed_out(seen: View, cards: Sequence[str], since: float) -> bool:
    """Whether the collective library on one of the nodes has logged time-outs lately, and since a moment."""
    for node in _list_nodes(cards):
        for source in seen.sources(TIMEOUTS, node):
            counts = [one for one in seen.window(TIMEOUTS, node, source) if one.state is State.GOOD and isinstance(one.value, float)]
            if any(after.at > since and _number(after.value) > _number(before.value) for before, after in pairwise(counts)):
                return True
    return False


def _are_idle(seen: View, cards: Sequence[str], since: float) -> bool:
    """Whether each of them is read since a moment, and does nothing."""
    uses = [seen.good(USE, card) for card in cards]
    return all(one is not None and one.at > since and isinstance(one.value, float) and one.value <= IDLE for one in uses)


def _number(value: object) -> float:
    return value if isinstance(value, float) else 0.0
