"""The pool at the beginning."""

from __future__ import annotations

import math
from itertools import accumulate

from sim_hardware.plant.pool.shape import Inputs, Node, Site, State
from sim_hardware.rack import Rack


def start(rack: Rack, seed: int) -> State:
    """All persistent memory is mounted and new, and nothing was ever synchronised."""
    site = Site(
        seed=seed,
        nodes={node.name: number for number, node in enumerate(rack.nodes)},
        first=(0, *accumulate(node.cards for node in rack.nodes)),
    )
    inputs = Inputs(up=(True,) * len(rack.nodes), memory=(0.0,) * site.first[-1])
    return State(site=site, at=0.0, next_time=math.inf, happened=(), inputs=inputs, nodes=(Node(),) * len(rack.nodes))
