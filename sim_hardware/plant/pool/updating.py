"""The pool through time."""

from __future__ import annotations

import math

import msgspec

from sim_hardware.plant.pool.shape import Inputs, Snapshot, State
from sim_hardware.plant.pool.wear import direct_writes, find_next, is_busy, settle_node
from sim_hardware.plant.words import Happening, PlantError

KEPT = 100  # snapshots that are listed


def update(state: State, time: float, inputs: Inputs) -> State:
    """The state at `time`. Inputs hold from the state's time on. Raises PlantError when `time` is in the past."""
    if time < state.at:
        raise PlantError(f"pool: cannot go back from {state.at:g} s to {time:g} s")
    changed = [number for number, up in enumerate(inputs.up) if up != state.inputs.up[number]] if inputs.up != state.inputs.up else []
    state = _disturb(msgspec.structs.replace(state, happened=(), inputs=inputs))
    for number in changed:
        state = redirect(settle_node(state, number), number)
    state = schedule(state) if changed else state
    while state.next_time < time:
        state = _step(state, state.next_time)
    return _step(state, time)


def schedule(state: State) -> State:
    """The same state with its timers made anew."""
    return msgspec.structs.replace(state, next_time=min([state.until, *(find_next(state, number) for number in state.busy)]))


def redirect(state: State, number: int) -> State:
    """The same state with a settled node's writes shared out anew."""
    node = direct_writes(state.nodes[number], state.inputs.up[number])
    busy = tuple(sorted({*state.busy, number})) if is_busy(node) else tuple(other for other in state.busy if other != number)
    return msgspec.structs.replace(state, nodes=(*state.nodes[:number], node, *state.nodes[number + 1 :]), busy=busy)


def _disturb(state: State) -> State:
    """What the inputs do to a snapshot: steps tear one that is not atomic, and a node that goes off tears any, and undoes a sync."""
    all_up = all(state.inputs.up)
    if state.doing == "sync" and not all_up:
        failed = Happening(state.at, "pool.sync_failed", "pool", "The pool's synchronisation failed: a node is not up.")
        return schedule(msgspec.structs.replace(state, doing="none", until=math.inf, happened=(failed,)))
    taking = state.taking
    if taking is None or not taking.whole or (all_up and (taking.atomic or not state.inputs.writing)):
        return state
    return msgspec.structs.replace(state, taking=msgspec.structs.replace(taking, whole=False))


def _step(state: State, time: float) -> State:
    due = time >= state.next_time
    state = msgspec.structs.replace(state, at=time)
    if not due:
        return state
    for number in state.busy:
        state = redirect(settle_node(state, number), number)
    return schedule(_end(state) if time >= state.until else state)


def _end(state: State) -> State:
    """A synchronisation or a snapshot is done."""
    synced_at = state.at if state.doing == "sync" else state.synced_at
    news = Happening(state.at, "pool.synced", "pool", "The HBM of all cards is in the pool.")
    snapshots = state.snapshots
    if state.taking is not None:
        taken = msgspec.structs.replace(state.taking, ended_at=state.at)
        snapshots, news = (*snapshots, taken)[-KEPT:], _tell_snapshot(taken, state.at)
    return msgspec.structs.replace(
        state,
        doing="none",
        until=math.inf,
        taking=None,
        synced_at=synced_at,
        snapshots=snapshots,
        happened=(*state.happened, news),
    )


def _tell_snapshot(taken: Snapshot, at: float) -> Happening:
    if taken.whole:
        return Happening(at, "snapshot.taken", "pool", f"Snapshot {taken.name} is whole after {at - taken.began_at:.1f} s.")
    return Happening(at, "snapshot.torn", "pool", f"Snapshot {taken.name} is torn: the pool changed while it was taken.")
