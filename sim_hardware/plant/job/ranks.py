"""What ranks do with their cards: how long a step takes them, and how much they load cards and links meanwhile."""

from __future__ import annotations

import math

import msgspec

from sim_hardware.plant.job.shape import GOING, Inputs, Pace, Plan, State

COMM_SHARE = 0.061  # of a step at full speed, as SAR-Ring (R10)
SMALL_BUFFER = 8.0  # so many times longer takes a collective whose sends time out, ours
COMPUTING, WAITING, HELD, SILENT = 0.97, 0.10, 0.05, 0.05  # loads, ours
MOVING = 0.70  # of saving and restoring, ours: memory and ports are busy; much lower, and every save would stir the coolant by T5's 0.3 K
NOISE = 0.015  # of a load, ours
TRAFFIC, TRAFFIC_SPREAD, MOVING_TRAFFIC = 0.45, 0.15, 0.10  # shares of line rate at full speed, ours


def compute_pace(
    plan: Plan, inputs: Inputs, placed: tuple[int, ...], silent: frozenset[int] = frozenset(), slower: float = 1.0, starved: float = 1.0
) -> Pace:
    """Step times by rank; the collective takes `slower` times as long, and data come `starved` times as slowly. Loads are left empty."""
    work_s = plan.step_s * (1.0 - COMM_SHARE)
    speeds = [inputs.speed[card] for card in placed]
    times = tuple([work_s / speed if speed > 0.0 else math.inf for speed in speeds])
    moving = [time for rank, time in enumerate(times) if time < math.inf and rank not in silent] if silent or math.inf in times else times
    exchange_s = plan.step_s * COMM_SHARE * max(1.0, inputs.ring_factor) * slower
    starved_s = plan.step_s * (starved - 1.0)
    slowest_s = max(moving, default=math.inf)
    return Pace(compute_s=times, slowest_s=slowest_s, exchange_s=exchange_s, loads=(), traffic=(), starved_s=starved_s)


def load_cards(state: State) -> State:
    """The state with what the job now asks of cards and links."""
    loads, traffic = [0.0] * len(state.plan.cards), [0.0] * len(state.plan.cards)
    step_s, full_s = state.pace.step_s, state.plan.step_s
    for rank, card in enumerate(state.placed):
        noise = state.plan.noise[rank]
        loads[card] = _load_rank(state, rank, noise, step_s)
        if rank in state.stalled or not loads[card]:
            continue
        if state.phase == "running":
            traffic[card] = (TRAFFIC + TRAFFIC_SPREAD * noise) * full_s / step_s
        elif state.phase in {"saving", "restoring"}:
            traffic[card] = MOVING_TRAFFIC
    return msgspec.structs.replace(state, pace=msgspec.structs.replace(state.pace, loads=tuple(loads), traffic=tuple(traffic)))


def _load_rank(state: State, rank: int, noise: float, step_s: float) -> float:
    if state.phase == "aborted":
        return HELD if state.inputs.alive[state.placed[rank]] else 0.0
    if state.phase not in GOING:
        return 0.0
    if rank in state.stalled:
        return SILENT
    if state.phase == "running":
        busy = (state.pace.compute_s[rank] + state.pace.exchange_s) / step_s
        return (COMPUTING * busy + WAITING * (1.0 - busy)) * (1.0 + NOISE * noise)
    return WAITING if state.phase == "hung" else MOVING


def list_loads(state: State) -> tuple[float, ...]:
    """By card, 0..1; the same object until something changes."""
    return state.pace.loads


def list_traffic(state: State) -> tuple[float, ...]:
    """By card, share of line rate; the same object until something changes."""
    return state.pace.traffic
