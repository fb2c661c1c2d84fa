"""Jobs that stand still on cards that look well: then the process is to blame, and not the card. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import View
from supernoded_isolation.evidence import Job, Rank
from supernoded_isolation.evidence.card_views import is_well
from supernoded_isolation.evidence.shared import find_heat, find_hog
from supernoded_isolation.health import Table
from supernoded_isolation.rules.findings import Finding, Memory, Standstill
from supernoded_isolation.settings import IsolationSettings


def note_quiet(now: float, jobs: Sequence[Job], memory: Memory) -> dict[str, float]:
    """Since when each rank holds its job up, and each job hangs."""
    subjects = [rank.subject for job in jobs for rank in job.culprits] + [job.subject for job in jobs if job.hangs]
    return {subject: memory.quiet.get(subject, now) for subject in subjects}


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
    if hog or heat:
        return Standstill(rank.subject, (rank.card,), f"{said}: {hog or heat}", sure=False, told=bool(hog))
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
    hog, heat = _find_hog(seen, cards), next((one for card in cards if (one := find_heat(seen, card))), "")
    ill = [card for card in cards if not is_well(seen, card, table, since)]
    if hog or heat or suspects or ill or len(cards) < len(job.ranks):
        doubt = hog or heat or f"{', '.join(ill[:4]) or 'where some of them run'} has not been seen well since, nor in trouble"
        return Standstill(job.subject, cards, f"{said}: {doubt}", sure=False, told=bool(hog))
    if seen.now - since < settings.unnamed_s:
        return Standstill(job.subject, cards, f"{said}, {settings.unnamed_s:g} s is the limit, and all its cards look well", sure=False)
    return Standstill(job.subject, cards, f"{said}, and all its cards answer and show no code: its processes are to blame", sure=True)


def _find_hog(seen: View, cards: Sequence[str]) -> str:
    nodes: Mapping[str, None] = dict.fromkeys(card.partition("/")[0] for card in cards)
    return next((one for node in nodes if (one := find_hog(seen, node))), "")
