"""Raises a job whose ranks have gone with their node while the others stand: the rules of cards hear nothing of it and say nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from supernoded.plugin import Level, Severity, Verdict, View
from supernoded_isolation.evidence.ranks import CARD, JOB, STATE, has_ended
from supernoded_isolation.evidence.unheard import UNHEARD_WATCHES, Torn, list_gone, list_torn, say_ranks

RUNNING = frozenset({"running", "saving"})


class LostMemory(msgspec.Struct, frozen=True):
    """The jobs that are raised, and where their lost ranks were: the node may be back long before they are."""

    lost: dict[str, dict[int, str]] = {}


class LostJobRule:
    """Judges all jobs. That a node is gone needs two views, which the role `fleet` has; that its job stands is a third."""

    kind, scope = "job.lost", "spares"
    watches: Mapping[str, float] = UNHEARD_WATCHES

    def start(self) -> LostMemory:
        """None is lost."""
        return LostMemory()

    def judge(self, seen: View, memory: LostMemory) -> tuple[LostMemory, Sequence[Verdict]]:
        """The level of every job that has ranks on a node that is gone, or had when it was raised; and of those that run."""
        gone = list_gone(seen)
        if not gone and not memory.lost:
            return memory, list(self._clear_running(seen))
        torn = {one.subject: one for one in list_torn(seen)}
        over = {job for job in memory.lost if _steps_again(torn.get(job))}
        jobs = sorted({*torn, *memory.lost} - over)
        lost = {job: ranks for job in jobs if (ranks := _find_lost(seen, job, torn.get(job), gone, memory))}
        verdicts = [self._judge(seen, job, ranks, torn.get(job), gone, known=job in memory.lost) for job, ranks in lost.items()]
        clear = [self._say(seen, job, Level.CLEAR, f"{job}: none of its ranks is lost any more") for job in memory.lost if job not in lost]
        raised = {one.subject for one in verdicts if one.level is Level.RAISED} | memory.lost.keys()
        return LostMemory({job: ranks for job, ranks in lost.items() if job in raised}), [*verdicts, *clear]

    def _judge(
        self, seen: View, job: str, lost: Mapping[int, str], torn: Torn | None, gone: frozenset[str] | None, *, known: bool
    ) -> Verdict:
        nodes = sorted({card.partition("/")[0] for card in lost.values()})
        where = ", ".join(f"{node}, which {'is gone' if node in (gone or ()) else 'was gone'}" for node in nodes)
        told = f"{job} has lost {say_ranks(lost)}, on {where}"
        if torn is None or not torn.states:
            text = f"{told}; no other rank of it is heard, so nobody can say that it does not step"
            return self._say(seen, job, Level.RAISED if torn is not None else Level.UNSURE, text)
        words = ", ".join(sorted(set(torn.states.values())))
        if not torn.stands:
            return self._say(seen, job, Level.UNSURE, f"{told}; but its other ranks are {words}, so these may live, too")
        if not known and (at := _find_work(seen, job)):
            return self._say(seen, job, Level.UNSURE, f"{told}; but it is {at} just now, which says nothing of these")
        if torn.suspects:
            text = f"{told}; but of its other ranks all wait for {say_ranks(torn.suspects)}, which may be what holds it up"
            return self._say(seen, job, Level.UNSURE, text)
        text = f"{told}, and its other {len(torn.states)} ranks stand ({words}): it cannot go on without them"
        return self._say(seen, job, Level.RAISED, text)

    def _clear_running(self, seen: View) -> Iterator[Verdict]:
        """What an earlier life may have raised and forgotten."""
        for job in seen.subjects(JOB):
            words = {seen.text(JOB, job, source) for source in seen.sources(JOB, job)} - {None, "absent"}
            if words and words <= RUNNING:
                yield self._say(seen, job, Level.CLEAR, f"{job}: it runs")

    def _say(self, seen: View, job: str, level: Level, text: str) -> Verdict:
        unseen = ("what its other ranks do",) if level is Level.UNSURE else ()
        return Verdict(kind=self.kind, subject=job, level=level, text=text, at=seen.now, severity=Severity.CRITICAL, unseen=unseen)


def _find_lost(seen: View, job: str, torn: Torn | None, gone: frozenset[str] | None, memory: LostMemory) -> dict[int, str]:
    """Of a job: rank -> the card that it was on. One that was lost stays so till it is heard again, wherever, or there is no such rank."""
    before = {rank: card for rank, card in memory.lost.get(job, {}).items() if _is_away(seen, f"{job}/rank{rank}")}
    return before | (torn.list_on(gone) if torn is not None and gone else {})


def _steps_again(torn: Torn | None) -> bool:
    """Whether the others step: ranks that cannot be heard step with them, or these would stand."""
    return torn is not None and bool(torn.states) and set(torn.states.values()) <= RUNNING


def _find_work(seen: View, job: str) -> str:
    """What is done with it by order, as its launcher or its ranks say: it stands for that. Empty where it is nothing."""
    words = {seen.text(JOB, job, source) for source in seen.sources(JOB, job)}
    return next((word for word in ("aborted", "starting", "stopping") if word in words), "")


def _is_away(seen: View, rank: str) -> bool:
    return seen.good(STATE, rank) is None and not (seen.sources(CARD, rank) and has_ended(seen, rank))
