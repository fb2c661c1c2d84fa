"""The training job at the beginning: it takes its first step at full speed."""

from __future__ import annotations

import math

import msgspec

from sim_hardware.plant.chance import draw, start_chance
from sim_hardware.plant.job.pacing import begin
from sim_hardware.plant.job.ranks import compute_pace
from sim_hardware.plant.job.shape import Inputs, Plan, State, Stored
from sim_hardware.rack import Rack
from sim_hardware.rack.shape import SimJob


def start(rack: Rack, seed: int) -> State:
    """One rank a card, spares aside. Without a job on the rack, one that is done and has no ranks."""
    cards, spares = rack.list_cards(), {spare.card for spare in rack.spares}
    usable = [number for number, card in enumerate(cards) if card not in spares] if rack.sim.job else []
    plan = _make_plan(rack.sim.job or SimJob(), cards, len(usable), seed)
    placed = tuple(usable[: len(plan.noise)])
    inputs = Inputs(speed=(1.0,) * len(cards), alive=(True,) * len(cards))
    state = State(plan=plan, at=0.0, next_time=math.inf, happened=(), inputs=inputs, pace=compute_pace(plan, inputs, placed), placed=placed)
    state = msgspec.structs.replace(state, stored=Stored() if rack.sim.job is not None and rack.sim.job.vault else None)
    if not placed:
        state = msgspec.structs.replace(state, phase="done")
    return begin(msgspec.structs.replace(state, due_at=plan.every_s), "step")


def _make_plan(job: SimJob, cards: tuple[str, ...], usable: int, seed: int) -> Plan:
    """TP x PP x DP: as many whole replicas as there are cards for, and one over all cards when there are too few for that."""
    one = max(1, job.tensor * job.pipeline)
    whole = usable // one
    ranks = whole * one if whole else usable
    return Plan(
        ranks=ranks,
        name=job.name,
        cards=cards,
        numbers={card: number for number, card in enumerate(cards)},
        step_s=job.step_s,
        save_s=job.save_s,
        every_s=job.checkpoint_every_s,
        restore_s=job.restore_s,
        tensor=job.tensor,
        pipeline=job.pipeline,
        replicas=max(1, whole),
        noise=tuple(2.0 * draw(start_chance(seed, f"job/{rank}/noise"))[1] - 1.0 for rank in range(ranks)),
    )
