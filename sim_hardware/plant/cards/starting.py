"""Cards and nodes at the beginning."""

from __future__ import annotations

import math
from itertools import accumulate

import msgspec

from sim_hardware.plant.cards.memory import draw_gap
from sim_hardware.plant.cards.outputs import compute_outputs
from sim_hardware.plant.cards.shape import Card, Inputs, Node, Outputs, Site, State
from sim_hardware.plant.chance import start_chance
from sim_hardware.rack import Rack

UP_S = 86_400.0  # for which nodes have been up by then: who has just booted is not judged yet (ours)


def start(rack: Rack, seed: int) -> State:
    """All nodes have been on for a day, and all cards idle at 30 C."""
    serials = {card.card: card.serial for card in rack.cards}
    slots = rack.list_cards()
    count, nodes = len(slots), len(rack.nodes)
    state = State(
        site=_survey(rack, seed),
        at=0.0,
        next_time=math.inf,
        happened=(),
        nodes=(Node(since=-UP_S),) * nodes,
        cards=tuple(Card(serial=serials.get(slot, f"SIM{number:05d}")) for number, slot in enumerate(slots)),
        inputs=Inputs(available=(True,) * nodes, temperature=(30.0,) * count, throttled=(False,) * count, load=(0.0,) * count),
        outputs=Outputs((), (), (), (), ()),
        busy=(),
        booting=(),
        stray=draw_gap(start_chance(seed, "cards/stray"), 0.0, count),
    )
    return msgspec.structs.replace(state, outputs=compute_outputs(state))


def _survey(rack: Rack, seed: int) -> Site:
    figures = rack.sim.node
    return Site(
        seed=seed,
        cards={slot: number for number, slot in enumerate(rack.list_cards())},
        nodes={node.name: number for number, node in enumerate(rack.nodes)},
        card_names=rack.list_cards(),
        node_names=tuple(node.name for node in rack.nodes),
        node_of=tuple(number for number, node in enumerate(rack.nodes) for _ in range(node.cards)),
        first=(0, *accumulate(node.cards for node in rack.nodes)),
        idle_watts=figures.card_idle_watts,
        full_watts=max(figures.card_watts, figures.card_idle_watts + 1.0),
        other_watts=figures.other_watts,
        chip=figures.chip,
    )
