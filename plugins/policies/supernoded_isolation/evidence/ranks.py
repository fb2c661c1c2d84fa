"""The job's word: where each rank stands, which card it runs on, and who holds the others up. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import msgspec

from supernoded.plugin import State, View, find_most
from supernoded_isolation.evidence.words import RANKS, Evidence

STATE, CARD, STEP = "rank.state", "rank.card", "rank.step"
WORLD, JOB, LAUNCHER = "job.world_size", "job.state", "job.launcher"
RANK_WATCHES: Mapping[str, float] = dict.fromkeys((STATE, CARD, STEP, WORLD, JOB, LAUNCHER), 30.0)
STUCK, HANGING = frozenset({"silent", "gone"}), frozenset({"silent", "gone", "waiting"})


class Rank(msgspec.Struct, frozen=True):
    """One rank now; `card` is empty while nobody says where it runs."""

    subject: str
    state: str
    card: str
    step: float | None
    at: float  # when its state was told


class Job(msgspec.Struct, frozen=True, dict=True):
    """One job now. It is asked for each of its cards, so what follows from all its ranks is worked out once."""

    subject: str
    ranks: tuple[Rank, ...]
    world: float  # ranks that it has in all, 0 = not known
    aborted: bool = False  # its launcher says that it has ended its ranks: nobody holds anybody up

    @cached_property
    def hangs(self) -> bool:
        """Whether every rank is known, and none of them steps, saves or says that it does something else."""
        words = set[str]() if self.aborted else {rank.state for rank in self.ranks}
        return bool(words) and words <= HANGING and words != {"gone"} and len(self.ranks) >= self.world

    @cached_property
    def is_dead(self) -> bool:
        """Whether no rank is left of it that could wait or save."""
        return self.aborted or all(rank.state == "gone" for rank in self.ranks)

    @cached_property
    def culprits(self) -> tuple[Rank, ...]:
        """The ranks for which the others wait, by the job's word.

        A daemon calls a rank silent that is alone on its node, too: those of one job that have all done the same step hold nobody up.
        """
        stuck = [rank for rank in self.ranks if rank.state in STUCK and not self.aborted]
        peers = [rank for rank in self.ranks if rank.state not in STUCK]
        steps = [rank.step for rank in self.ranks if rank.step is not None]
        newest = max(steps, default=None)
        waits = any(rank.state == "waiting" for rank in peers)
        if len(self.ranks) == 1 and self.world <= 1:
            return tuple(rank for rank in stuck if rank.state == "silent")
        return tuple(rank for rank in stuck if waits or (rank.state == "silent" and _is_behind(rank, newest)))

    @cached_property
    def _by_card(self) -> Mapping[str, Rank]:
        return {rank.card: rank for rank in reversed(self.ranks)}

    @cached_property
    def doubled(self) -> Mapping[str, tuple[str, ...]]:
        """The cards that several of its living ranks say they are on, and these: which of them is, nobody can say."""
        found: dict[str, tuple[str, ...]] = {}
        for rank in self.ranks:
            if rank.card and rank.state != "gone":
                found[rank.card] = (*found.get(rank.card, ()), rank.subject)
        return {card: ranks for card, ranks in found.items() if len(ranks) > 1}

    def find(self, card: str) -> Rank | None:
        """The rank that runs on a card, the first where several say so: ask `doubled` before anybody is blamed by it."""
        return self._by_card.get(card)

    def tell(self, card: str) -> Evidence | None:
        """What the job says against a card: its rank is silent, or all ranks wait and it is not known for whom."""
        mine = self.find(card)
        if mine is None or self.doubled:
            return None
        if mine in self.culprits:
            waiting = sum(rank.state == "waiting" for rank in self.ranks)
            return Evidence(RANKS, mine.at, f"{mine.subject} is {mine.state}{f', and {waiting} others wait for it' if waiting else ''}")
        if self.hangs and not self.culprits:
            return Evidence(
                RANKS, mine.at, f"{self.subject} hangs with all its {len(self.ranks)} ranks at one step, {mine.subject} among them"
            )
        return None


def _is_behind(rank: Rank, newest: float | None) -> bool:
    return rank.step is not None and newest is not None and rank.step < newest


def list_jobs(seen: View, *, standing: bool = False, only: str = "") -> list[Job]:
    """Every job of which a rank is heard, or that one; `standing` = those with a rank that does not come, which is a much quicker look."""
    found: dict[str, list[tuple[str, str, float]]] = {}
    for subject in seen.subjects(STATE):
        if only and not subject.startswith(f"{only}/"):
            continue
        reading = seen.good(STATE, subject)
        if reading is not None and isinstance(reading.value, str) and reading.value != "stopped":
            found.setdefault(subject.rpartition("/")[0], []).append((subject, reading.value, reading.at))
    wanted = {job: ranks for job, ranks in found.items() if not standing or any(state in HANGING for _, state, _ in ranks)}
    return [_look_at(seen, job, [_look(seen, *rank) for rank in ranks]) for job, ranks in wanted.items()]


def _look_at(seen: View, job: str, ranks: Sequence[Rank]) -> Job:
    aborted = any(seen.text(JOB, job, source) == "aborted" for source in seen.sources(JOB, job))
    return Job(job, tuple(ranks), _find_world(seen, job), aborted)


def _look(seen: View, subject: str, state: str, at: float) -> Rank:
    return Rank(subject, state, seen.text(CARD, subject) or "", seen.number(STEP, subject), at)


def _find_world(seen: View, job: str) -> float:
    return find_most(seen, WORLD, job) or 0.0


def is_unheard(seen: View, card: str) -> bool:
    """Whether a rank that was last said to run on this card is not heard of now: nobody can say that it is well."""
    last = [subject for subject in seen.subjects(CARD) if (one := seen.newest(CARD, subject)) is not None and one.value == card]
    return any(seen.good(STATE, subject) is None and not has_ended(seen, subject) for subject in last)


def has_ended(seen: View, rank: str) -> bool:
    """Whether it has stopped and nobody is there to start it again; or its job has no rank of that number any more, as a replica went."""
    state, (job, _, number) = seen.newest(STATE, rank), rank.rpartition("/rank")
    if state is not None and state.value == "stopped":
        return all(seen.number(LAUNCHER, job, source) != 1.0 for source in seen.sources(LAUNCHER, job))
    is_heard = state is not None and state.state is State.GOOD
    return not is_heard and number.isdecimal() and 0.0 < _find_world(seen, job) <= int(number)
