"""The ranks of one job as this node hears them: where each stands, how long its steps take, and who is silent. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import msgspec

KEPT = 64  # step times of a rank that are remembered (ours)
STEPS = 3.0  # p95 steps that a rank may be late (design section 14)
OVERRUN = 3.0  # times its own word that a phase may last before the rank counts as silent (ours)
LONGEST_SAVE = 600.0  # seconds of standing still to save before the same (ours)
LEAST_SAVE = 60.0  # the same where the peers have saved that step: OVERRUN times their worst, and at least this (ours)
LONGEST_START = 600.0  # seconds from a process's coming to its first step, in which it restores and compiles, before the same (ours)
UNTOLD = 0.02  # seconds within which a client may leave out steps (`client.BEAT_S`): who is behind by less is not behind
LONGEST_PHASE = 86_400.0  # seconds that are believed


class Rank(msgspec.Struct, frozen=True, kw_only=True):
    """One rank. Times are on the scale of `Clock.now`; `beat_at` is of its last step, None while no step can be timed from it."""

    number: int
    came: float
    heard: float
    card: str = ""
    step: int = -1
    beat_at: float | None = None
    times: tuple[float, ...] = ()
    phase: str = ""
    phase_until: float = 0.0
    saving: int | None = None
    gone: float | None = None  # since when its connection is lost
    stopped: bool = False  # it has said bye
    alive: float | None = None  # when its process last said that it runs; None = it never did

    @property
    def here(self) -> bool:
        """Whether it is connected and at work."""
        return self.gone is None and not self.stopped


def hear_beat(rank: Rank, step: int, now: float) -> Rank:
    """It has done a step; a step behind the last one is a job that was set back. Any beat ends a save."""
    done = step - rank.step
    times = rank.times
    if rank.beat_at is not None and done > 0 and rank.saving is None and not rank.phase:
        times = (*times, (now - rank.beat_at) / done)[-KEPT:]
    return msgspec.structs.replace(rank, step=step, heard=now, beat_at=now, times=times, saving=None)


def hear_alive(rank: Rank, now: float) -> Rank:
    """Its process runs, which says nothing of its steps: a rank that hangs in a collective says so too."""
    return msgspec.structs.replace(rank, alive=now)


def hear_phase(rank: Rank, name: str, expect_s: float, now: float) -> Rank:
    """It does something beside steps, or (no name) has ended that; the step around it says nothing of how long steps take."""
    expected = min(expect_s, LONGEST_PHASE) if math.isfinite(expect_s) and expect_s > 0 else 0.0
    return msgspec.structs.replace(rank, phase=name, phase_until=now + OVERRUN * expected, heard=now, beat_at=None)


def hear_saving(rank: Rank, step: int | None, now: float) -> Rank:
    """It stands still to save a step, or (None) has done so."""
    return msgspec.structs.replace(rank, saving=step, heard=now, beat_at=None)


def find_p95(times: Iterable[float]) -> float | None:
    """The value that 95 % do not exceed; None of none."""
    ordered = sorted(times)
    return ordered[math.ceil(0.95 * len(ordered)) - 1] if ordered else None


def find_step_time(ranks: Iterable[Rank]) -> float | None:
    """p95 in seconds over the last steps of all ranks; None when none was timed."""
    return find_p95(seconds for rank in ranks for seconds in rank.times)


def find_step(ranks: Iterable[Rank]) -> int | None:
    """The newest step that all of them have done; None when one has done none."""
    steps = [rank.step for rank in ranks]
    return min(steps) if steps and min(steps) >= 0 else None


def judge(ranks: Mapping[int, Rank], now: float, silent_s: float, worst_stall: float | None = None, world: int = 1) -> dict[int, str]:
    """The state of each rank.

    Silent is who says nothing for longer than `silent_s` and three p95 steps (safety rule 27) while a peer is ahead of it, or is alone. One
    that is alone here, with its peers on other nodes, waits for them as long as its process says that it runs.
    Silent is too whose process, having said once a second that it runs, has not for as long: it is stopped, or hangs in a call that lets
    none of its threads run. Its peers hang in the collective but their processes say so, and wait. Who has done what its peers have not
    waits for them. When all stand at the same step, and all processes run, nobody can say from here who holds them up, and all wait.
    Before the first step of a process it restores and compiles: unless a peer has done one, it has LONGEST_START. Who saves has
    LONGEST_SAVE, and less when all peers are done, or when its process does not say any more that it runs.
    """
    step_time = find_step_time(ranks.values())
    patience = max(silent_s, STEPS * (step_time or 0.0))
    slack = math.ceil(UNTOLD / step_time) if step_time and step_time < UNTOLD else 0
    here = {number: rank for number, rank in ranks.items() if rank.here}
    ahead = max((rank.step for rank in here.values()), default=-1)
    alone = len(ranks) == 1 and (world <= 1 or all(rank.alive is None for rank in ranks.values()))
    last = len(here) > 1 and sum(rank.saving is not None for rank in here.values()) == 1
    longest = LONGEST_SAVE if worst_stall is None or not last else min(max(LEAST_SAVE, OVERRUN * worst_stall), LONGEST_SAVE)
    frozen = longest if worst_stall is None else min(max(patience, OVERRUN * worst_stall), longest)
    return {
        number: _judge_one(
            rank, now, patience, frozen if _is_frozen(rank, now, frozen) else longest, alone=alone, behind=rank.step + slack < ahead
        )
        for number, rank in ranks.items()
    }


def _judge_one(rank: Rank, now: float, patience: float, longest_save: float, *, alone: bool, behind: bool) -> str:
    if rank.stopped:
        return "stopped"
    if rank.gone is not None:
        return "gone"
    age = now - rank.heard
    if rank.step < 0 and not behind:
        patience = max(patience, LONGEST_START)
    if rank.saving is not None:
        return "saving" if age <= max(patience, longest_save) else "silent"
    if rank.phase and now <= max(rank.phase_until, rank.heard + patience):
        return "phase"
    if age <= patience:
        return "running"
    return "silent" if alone or behind or _is_frozen(rank, now, patience) or rank.phase else "waiting"


def _is_frozen(rank: Rank, now: float, patience: float) -> bool:
    """Whether its process has said that it runs, and does not any more."""
    return rank.alive is not None and now - rank.alive > patience


def judge_job(states: Mapping[int, str], ranks: Mapping[int, Rank], world: int, *, stopping: bool, aborted: bool = False) -> str:
    """One word for the whole job, out of those of its ranks on this node; `aborted` as its launcher here says."""
    words = set(states.values())
    if aborted:
        return "aborted"
    if not words:
        return "absent"
    if words == {"stopped"}:
        return "stopped"
    if words & {"silent", "gone"}:
        return "silent"
    if words == {"waiting"}:
        return "silent" if len(states) >= world else "waiting"
    if stopping:
        return "stopping"
    if "saving" in words:
        return "saving"
    return "starting" if any(rank.step < 0 for rank in ranks.values()) else "running"
