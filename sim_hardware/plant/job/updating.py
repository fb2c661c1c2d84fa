"""The job through time."""

from __future__ import annotations

import math

import msgspec

from sim_hardware.plant.job.pacing import adopt_pace, begin, end, find_throttled, schedule, tell
from sim_hardware.plant.job.ranks import load_cards
from sim_hardware.plant.job.shape import COMPLAIN_S, TIMEOUT_S, Inputs, State
from sim_hardware.plant.words import PlantError


def update(state: State, time: float, inputs: Inputs) -> State:
    """The state at `time`. Inputs hold from the state's time on. Raises PlantError when `time` is in the past."""
    if time < state.at:
        raise PlantError(f"job: cannot go back from {state.at:g} s to {time:g} s")
    old = state.inputs
    state = msgspec.structs.replace(state, happened=())
    if inputs != old:
        state = adopt_pace(state, inputs)
    while state.next_time <= time:
        state = _ring(msgspec.structs.replace(state, at=state.next_time))
    return msgspec.structs.replace(state, at=time)


def _ring(state: State) -> State:
    """What is due at this very time: the ranks meet at the end of their work, or hang for too long; or one of them complains."""
    if state.at >= state.complain_at:
        return _complain(state)
    if state.at >= state.hung_at + TIMEOUT_S:
        return end(state, "lost", f"was lost: its collective hung for {TIMEOUT_S:g} s")
    if state.stalled:
        state = msgspec.structs.replace(state, phase="hung", hung_at=state.at, ends_at=math.inf)
        ranks = ", ".join(map(str, list(state.stalled)[:4]))
        state = tell(
            state, "job.hung", f"hangs in step {state.step + 1}: {len(state.stalled)} ranks do not come, {ranks}", len(state.stalled)
        )
        return schedule(load_cards(state))
    if state.work == "save":
        return _end_save(state)
    if state.work == "restore":
        return begin(tell(state, "job.resumed", f"goes on from step {state.step}", float(state.step)), "step")
    state = msgspec.structs.replace(state, step=state.step + 1)
    if not state.requested and state.at < state.due_at:
        return begin(state, "step")
    state = msgspec.structs.replace(state, requested=False)
    return begin(tell(state, "checkpoint.begun", f"saves step {state.step}", float(state.step)), "save")


def _complain(state: State) -> State:
    """A send has timed out, when there is one: while ranks save, or wait for a silent one, there is none."""
    after = schedule(msgspec.structs.replace(state, complain_at=state.at + COMPLAIN_S))
    if state.phase != "running":
        return after
    slow = find_throttled(state)
    waited = f" while it waited for rank {slow[0]}" if slow else ""
    return tell(after, "comm.timeout", f"had a send time out in step {state.step + 1}{waited} and tried it again")


def _end_save(state: State) -> State:
    """A checkpoint counts from the moment that it is whole, or never."""
    if state.save_hangs:
        return schedule(msgspec.structs.replace(state, ends_at=math.inf))
    state = msgspec.structs.replace(state, due_at=state.at + state.plan.every_s)
    if state.save_fails:
        state = tell(state, "checkpoint.failed", f"could not save step {state.step}: no space left on its storage", float(state.step))
        return begin(state, "step")
    state = msgspec.structs.replace(state, committed_step=state.step, committed_at=state.at)
    return begin(tell(state, "checkpoint.committed", f"saved step {state.step}", float(state.step)), "step")
