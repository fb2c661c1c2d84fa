"""What can be done to the training job, done."""

from __future__ import annotations

import math
from functools import singledispatch

import msgspec

from sim_hardware.plant.job.orders import (
    AbortCollective,
    FailSave,
    HangSave,
    NoteStored,
    RemapRanks,
    RequestCheckpoint,
    ResumeJob,
    ShrinkBuffer,
    SilenceRank,
    StarveJob,
    StopJob,
    WithdrawCheckpoint,
)
from sim_hardware.plant.job.pacing import adopt_pace, begin, end, schedule, tell
from sim_hardware.plant.job.restoring import choose_step, note_stored
from sim_hardware.plant.job.shape import GOING, State
from sim_hardware.plant.words import Order, OrderError


def apply(state: State, order: Order) -> State:
    """The state after an order, at the same time. Raises OrderError."""
    job = getattr(order, "job", None)
    if not state.placed or job not in {state.plan.name, state.subject}:
        raise OrderError(
            f"job {job!r}: no such job; there is {state.plan.name!r}" if state.placed else f"job {job!r}: this rack has no job"
        )
    return _apply(order, msgspec.structs.replace(state, happened=()))


@singledispatch
def _apply(order: Order, state: State) -> State:
    raise OrderError(f"{type(order).__name__} is no order for {state.subject}")


def _require_going(job: str, state: State, what: str) -> None:
    if state.phase not in GOING:
        raise OrderError(f"job {job} is {state.phase} and cannot {what}; resume it first")


def _require_ended(job: str, state: State, what: str) -> None:
    if state.phase in GOING:
        raise OrderError(f"job {job} is {state.phase} and cannot {what}; abort its collective or stop it first")


def _find_rank(state: State, rank: int) -> int:
    if not 0 <= rank < len(state.placed):
        raise OrderError(f"{state.subject}/rank{rank}: no such rank; there are 0 to {len(state.placed) - 1}")
    return rank


@_apply.register
def _request(order: RequestCheckpoint, state: State) -> State:
    _require_going(order.job, state, "save")
    if state.requested or state.work == "save":  # the save that runs holds the newest step
        return state
    return tell(msgspec.structs.replace(state, requested=True), "checkpoint.requested", f"is to save after step {state.step + 1}")


@_apply.register
def _withdraw(order: WithdrawCheckpoint, state: State) -> State:
    if state.work == "save":
        raise OrderError(f"job {order.job}: the save of step {state.step} has begun and cannot be withdrawn; wait for its end")
    if not state.requested:
        return state
    return tell(msgspec.structs.replace(state, requested=False), "checkpoint.withdrawn", "need not save any more")


@_apply.register
def _abort(order: AbortCollective, state: State) -> State:
    _require_going(order.job, state, "abort its collective")
    return end(state, "aborted", f"had its collective aborted in step {state.step + 1}")


@_apply.register
def _stop(order: StopJob, state: State) -> State:
    _require_going(order.job, state, "stop")
    return end(state, "stopped", f"was stopped in step {state.step + 1}")


@_apply.register
def _remap(order: RemapRanks, state: State) -> State:
    """Ranks that are not named stay where they are."""
    _require_ended(order.job, state, "move its ranks")
    if order.drop:
        _check_drop(order, state)
    placed = list(state.placed)
    for rank, card in order.cards.items():
        number = state.plan.numbers.get(card, -1)
        _require_usable(state, _find_rank(state, rank), number, card)
        placed[rank] = number
    taken = [card for rank, card in enumerate(placed) if rank not in order.drop]
    if len(set(taken)) < len(taken):
        twice = next(card for card in taken if taken.count(card) > 1)
        raise OrderError(f"job {order.job}: two ranks on {state.plan.cards[twice]}; every rank needs a card of its own")
    state = msgspec.structs.replace(state, placed=tuple(placed))
    if order.cards:
        moves = ", ".join(f"rank {rank} to {card}" for rank, card in list(order.cards.items())[:4])
        state = tell(state, "job.remapped", f"moved {len(order.cards)} ranks: {moves}")
    return adopt_pace(_drop(state, frozenset(order.drop)) if order.drop else state, state.inputs)


def _check_drop(order: RemapRanks, state: State) -> None:
    """No plan shrinks by one rank (safety rule 31)."""
    drop, plan = sorted(set(order.drop)), state.plan
    replicas = {plan.find_replica(_find_rank(state, rank)) for rank in drop}
    whole = sorted(rank for replica in replicas for rank in replica)
    if drop != whole:
        first = plan.find_replica(drop[0])
        raise OrderError(f"job {order.job}: ranks {drop[:4]} are no whole replica; with rank {drop[0]} go {first[0]} to {first[-1]}")
    if plan.replicas == len(replicas):
        raise OrderError(f"job {order.job}: this is its only replica; without it there is no model")
    if moved := [rank for rank in order.cards if rank in drop]:
        raise OrderError(f"{state.subject}/rank{moved[0]}: is to be given up and to be moved")


def _drop(state: State, gone: frozenset[int]) -> State:
    """The ranks that are left are numbered anew, in their order."""
    left = [rank for rank in range(len(state.placed)) if rank not in gone]
    plan, size = state.plan, len(state.placed) // state.plan.replicas
    state = msgspec.structs.replace(
        state,
        plan=msgspec.structs.replace(plan, replicas=plan.replicas - len(gone) // size, noise=tuple(plan.noise[rank] for rank in left)),
        placed=tuple(state.placed[rank] for rank in left),
        silent=frozenset(number for number, rank in enumerate(left) if rank in state.silent),
    )
    text = f"gave up {len(gone)} ranks, {min(gone)} to {max(gone)}: {state.plan.replicas} replicas are left"
    return tell(state, "job.replica_dropped", text, len(left))


def _require_usable(state: State, rank: int, number: int, card: str) -> None:
    if number < 0 or not state.inputs.alive[number] or state.inputs.speed[number] <= 0.0:
        why = "is no card of this rack" if number < 0 else "is dead, hung, isolated or not there"
        raise OrderError(f"{state.subject}/rank{rank}: {card} {why}; give it a card that is present and well")


@_apply.register
def _resume(order: ResumeJob, state: State) -> State:
    """All processes start anew, silent ones too."""
    _require_ended(order.job, state, "resume")
    for rank, number in enumerate(state.placed):
        _require_usable(state, rank, number, state.plan.cards[number])
    state = msgspec.structs.replace(
        choose_step(state, order),
        phase="restoring",
        silent=frozenset(),
        stalled={},
        due_at=state.at + state.plan.every_s,
        complain_at=math.inf,  # anew, where there is reason to
    )
    state = adopt_pace(tell(state, "job.restoring", f"reads checkpoint {state.step}", float(state.step)), state.inputs)
    return begin(state, "restore")


@_apply.register
def _note(order: NoteStored, state: State) -> State:
    return schedule(note_stored(state, order))


@_apply.register
def _silence(order: SilenceRank, state: State) -> State:
    """Of a rank that was given up meanwhile the fault can be lifted still."""
    if not order.silent and len(state.placed) <= order.rank < state.plan.ranks:
        return state
    _find_rank(state, order.rank)
    silent = state.silent | {order.rank} if order.silent else state.silent - {order.rank}
    return adopt_pace(msgspec.structs.replace(state, silent=silent), state.inputs)


@_apply.register
def _hang_save(order: HangSave, state: State) -> State:
    held = state.save_hangs and not order.hung and state.phase == "saving" and state.ends_at == math.inf
    state = msgspec.structs.replace(state, save_hangs=order.hung)
    return schedule(msgspec.structs.replace(state, ends_at=state.at)) if held else state


@_apply.register
def _shrink(order: ShrinkBuffer, state: State) -> State:
    if order.small == state.buffer_small:
        return state
    state = msgspec.structs.replace(state, buffer_small=order.small)
    return adopt_pace(state, state.inputs)


@_apply.register
def _starve(order: StarveJob, state: State) -> State:
    return adopt_pace(msgspec.structs.replace(state, starved=max(1.0, order.times)), state.inputs)


@_apply.register
def _fail_save(order: FailSave, state: State) -> State:
    return msgspec.structs.replace(state, save_fails=order.failed)
