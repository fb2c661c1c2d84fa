"""What can be measured of the job and its ranks: the truth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from sim_hardware.plant.job.pacing import measure_left
from sim_hardware.plant.job.shape import GOING, State, Stored
from sim_hardware.plant.words import Sensor, UnknownSensorError, Value


def sense(state: State, subject: str, quantity: str) -> Value:
    """The truth of one sensor; a rank that was given up is `dropped`, and shows nothing else. Raises UnknownSensorError."""
    if state.placed and subject == state.subject and quantity in _JOB:
        return _JOB[quantity][1](state)
    if state.stored is not None and subject == state.subject and quantity in _STORED:
        return _STORED[quantity][1](state, state.stored)
    rank = subject.removeprefix(f"{state.subject}/rank")
    if rank.isdecimal() and subject != rank and quantity in _RANK and int(rank) < state.plan.ranks:
        return _RANK[quantity][1](state, int(rank)) if int(rank) < len(state.placed) else _DROPPED.get(quantity)
    raise UnknownSensorError(f"{subject} has no sensor of {quantity} among jobs and ranks")


def sensors(state: State) -> Iterator[Sensor]:
    """Every one; none when there is no job."""
    if state.placed:
        yield from (Sensor(state.subject, quantity, unit) for quantity, (unit, _) in _JOB.items())
    if state.stored is not None:
        yield from (Sensor(state.subject, quantity, unit) for quantity, (unit, _) in _STORED.items())
    for rank in range(state.plan.ranks):
        yield from (Sensor(f"{state.subject}/rank{rank}", quantity, unit) for quantity, (unit, _) in _RANK.items())


def _measure_step(state: State) -> Value:
    """None while it takes none."""
    step_s = state.pace.step_s
    return step_s if state.phase in GOING and step_s < math.inf else None


def _measure_save(state: State) -> float:
    """A save that hangs never shows 100 %."""
    return min(99.0, 100.0 * (1.0 - measure_left(state))) if state.work == "save" else 0.0


def _measure_share(state: State) -> Value:
    step_s = _measure_step(state)
    return state.pace.exchange_s / step_s if isinstance(step_s, float) else None


def _measure_rank_step(state: State, rank: int) -> Value:
    step_s = state.pace.compute_s[rank] + state.pace.exchange_s
    return step_s if state.phase in GOING and step_s < math.inf and rank not in state.stalled else None


def _describe_rank(state: State, rank: int) -> str:
    if state.phase not in GOING and state.phase != "aborted":
        return "dead"
    if not state.inputs.alive[state.placed[rank]]:
        return "dead"
    if rank in state.stalled:
        return "silent"
    if state.phase != "running":
        return "waiting" if state.phase in {"hung", "aborted"} else state.phase
    done = state.takes_s * (1.0 - measure_left(state))
    return "computing" if done < state.pace.compute_s[rank] else "waiting"


def _find_beat(state: State, rank: int) -> float:
    """A live process beats once a second, also while it waits for a silent peer."""
    if rank in state.stalled:
        return float(math.floor(state.stalled[rank]))
    lives = state.phase in GOING or state.phase == "aborted"
    return float(math.floor(state.at if lives and state.inputs.alive[state.placed[rank]] else state.ended_at))


_JOB: dict[str, tuple[str, Callable[[State], Value]]] = {
    "job.state": ("text", lambda state: state.phase),
    "job.step": ("1", lambda state: float(state.step)),
    "job.committed_step": ("1", lambda state: float(state.committed_step)),
    "job.step_time": ("s", _measure_step),
    "job.world_size": ("1", lambda state: float(len(state.placed))),
    "job.tensor": ("1", lambda state: float(state.plan.tensor)),
    "job.pipeline": ("1", lambda state: float(state.plan.pipeline)),
    "job.replicas": ("1", lambda state: float(state.plan.replicas)),
    "job.lost_steps": ("1", lambda state: float(state.lost_steps)),
    "job.requested": ("1", lambda state: float(state.requested)),
    "job.checkpoint_at": ("s", lambda state: state.committed_at),
    "job.checkpoint_step": ("1", lambda state: float(state.committed_step)),
    "job.save_progress": ("%", _measure_save),
    "job.comm_share": ("1", _measure_share),
}
_STORED: dict[str, tuple[str, Callable[[State, Stored], Value]]] = {
    "job.shared_step": ("1", lambda _state, stored: float(stored.shared)),
    "job.durable_step": ("1", lambda _state, stored: float(stored.durable)),
    "job.unfinished_steps": ("1", lambda _state, stored: float(stored.unfinished)),
    "job.drafts": ("1", lambda _state, stored: float(stored.drafts)),
    "job.restored_from": ("text", lambda state, _stored: state.restored_from or "nowhere"),
}
_DROPPED: dict[str, Value] = {"rank.state": "dropped"}
_RANK: dict[str, tuple[str, Callable[[State, int], Value]]] = {
    "rank.step": ("1", lambda state, _rank: float(state.step)),
    "rank.step_time": ("s", _measure_rank_step),
    "rank.card": ("text", lambda state, rank: state.plan.cards[state.placed[rank]]),
    "rank.state": ("text", _describe_rank),
    "rank.beat_at": ("s", _find_beat),
}
