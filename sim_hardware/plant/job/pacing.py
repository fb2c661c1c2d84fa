"""When the job's present work ends: begun, slowed down or sped up, waited for, or cut off."""

from __future__ import annotations

import math

import msgspec

from sim_hardware.plant.job.ranks import COMM_SHARE, SMALL_BUFFER, compute_pace, load_cards
from sim_hardware.plant.job.shape import COMPLAIN_S, GOING, PHASES, TIMEOUT_S, Inputs, Phase, State, Work
from sim_hardware.plant.words import Happening


def tell(state: State, kind: str, text: str, value: float | None = None, rank: int | None = None) -> State:
    """The state with a happening more, of the job or of a rank."""
    subject = state.subject if rank is None else f"{state.subject}/rank{rank}"
    return msgspec.structs.replace(state, happened=(*state.happened, Happening(state.at, kind, subject, f"{subject} {text}.", value)))


def schedule(state: State) -> State:
    """The same state with its next time."""
    next_time = min(state.ends_at, state.hung_at + TIMEOUT_S, state.complain_at) if state.phase in GOING else math.inf
    return msgspec.structs.replace(state, next_time=next_time)


def begin(state: State, work: Work) -> State:
    """Begin a piece of work at full length. A job that has ended begins nothing."""
    if state.phase not in GOING:
        return schedule(load_cards(state))
    takes_s = _compute_length(state, work)
    changed = state.phase != PHASES[work] or not state.pace.loads
    state = msgspec.structs.replace(state, work=work, phase=PHASES[work], takes_s=takes_s, ends_at=state.at + takes_s)
    return schedule(load_cards(state) if changed else state)


def _compute_length(state: State, work: Work) -> float:
    """Seconds of a piece of work. The slowest rank decides, in a save too; a restore takes half of a save, or what storage takes."""
    if work == "step":
        return state.pace.step_s
    if work == "restore" and state.restored_from == "durable":
        return state.plan.restore_s
    slower = state.pace.slowest_s / (state.plan.step_s * (1.0 - COMM_SHARE))
    return state.plan.save_s * slower * (1.0 if work == "save" else 0.5)


def measure_left(state: State) -> float:
    """Share of the present work that is left for those ranks that come."""
    return max(0.0, state.ends_at - state.at) / state.takes_s if state.ends_at < math.inf else 0.0


def adopt_pace(state: State, inputs: Inputs) -> State:
    """The state with these speeds, and what they do to the present work. `silent`, `placed` and the buffer may have changed too."""
    slower = SMALL_BUFFER if state.buffer_small else 1.0
    pace = compute_pace(state.plan, inputs, state.placed, state.silent, slower, state.starved)
    state = msgspec.structs.replace(state, inputs=inputs, pace=pace)
    state = msgspec.structs.replace(state, complain_at=_plan_complaint(state))
    if state.phase not in GOING:
        return schedule(load_cards(state))
    dead = [rank for rank, card in enumerate(state.placed) if not inputs.alive[card]]
    if dead:
        where = state.plan.cards[state.placed[dead[0]]]
        return end(state, "lost", f"was lost: {len(dead)} of {len(state.placed)} ranks died, the first on {where}")
    return schedule(load_cards(_stall(state)))


def find_throttled(state: State) -> list[int]:
    """The ranks whose card heat has slowed down."""
    hot = state.inputs.throttled
    return [rank for rank, card in enumerate(state.placed) if card in hot] if hot else []


def _plan_complaint(state: State) -> float:
    """When a send next times out; one that is due stays so."""
    if not state.buffer_small and not find_throttled(state):
        return math.inf
    return state.complain_at if state.complain_at < math.inf else state.at + COMPLAIN_S


def _stall(state: State) -> State:
    """Note who does not come. The others go on to the end of the work and wait there; once all come again, so does what was left."""
    before, left = state.stalled, measure_left(state)
    now = {rank for rank, time in enumerate(state.pace.compute_s) if time == math.inf} | state.silent
    for rank in sorted(now - before.keys()):
        state = tell(state, "rank.silent", f"went silent on {state.plan.cards[state.placed[rank]]}", rank=rank)
    for rank in sorted(before.keys() - now):
        state = tell(state, "rank.recovered", "goes on", rank=rank)
    state = msgspec.structs.replace(state, stalled={rank: before.get(rank, state.at) for rank in sorted(now)})
    takes_s = _compute_length(state, state.work) if state.pace.slowest_s < math.inf else state.takes_s
    if now and not before:
        state = msgspec.structs.replace(state, left=left)
    if before and not now:
        if state.phase == "hung":
            state = tell(state, "job.recovered", f"goes on after hanging {state.at - state.hung_at:.1f} s")
        left = state.left
        state = msgspec.structs.replace(state, phase=PHASES[state.work], hung_at=math.inf, ends_at=state.at)
    ends_at = state.at + left * takes_s if state.ends_at < math.inf else math.inf
    return msgspec.structs.replace(state, takes_s=takes_s, ends_at=ends_at)


def end(state: State, phase: Phase, text: str) -> State:
    """The job no longer goes on; what was not saved is lost, and a save that runs leaves nothing."""
    lost = state.step - state.committed_step
    if state.work == "save":
        state = tell(state, "checkpoint.failed", f"lost its save of step {state.step} at {100 * (1.0 - measure_left(state)):.0f} %")
    state = msgspec.structs.replace(
        state,
        phase=phase,
        work="step",
        ends_at=math.inf,
        hung_at=math.inf,
        stalled={},
        requested=False,
        lost_steps=lost,
        ended_at=state.at,
    )
    return schedule(load_cards(tell(state, f"job.{phase}", f"{text}; {lost} steps since checkpoint {state.committed_step}", float(lost))))
