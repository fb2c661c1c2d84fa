"""What does not change in the cooling of a rack: which node hangs on which CDU and in which row, and what is scaled to what."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import msgspec

from sim_hardware.plant.cooling.design import Design, load_design, scale_design
from sim_hardware.plant.cooling.slugs import HEAT
from sim_hardware.plant.words import PlantError
from sim_hardware.rack import Rack, shape

FANS = 8  # T3
SUBSTEP = 0.25  # s; all physics moves at whole multiples of it, so how an interval is cut does not matter


class NodeSite(msgspec.Struct, frozen=True):
    """A node's place."""

    name: str
    fans: str  # what its fans are as a load
    loop: int  # -1: none, its cards are cooled by air
    row: int
    first: int  # its first card in the order of the rack
    cards: int
    share: float  # of the loop's flow
    flow: float  # L/s, rated
    capacity: float  # J/K of one card's cold plate and what hangs on it: what gives the rack's lag at rated flow
    other_watts: float  # rated


class LoopSite(msgspec.Struct, frozen=True):
    """A coolant loop's place; `rows` are the places of its nodes, row by row."""

    subject: str
    design: Design
    rows: tuple[tuple[int, ...], ...]
    supply_litres: tuple[float, ...]
    return_litres: tuple[float, ...]
    exchanger_litres: float


class Site(msgspec.Struct, frozen=True):
    """All of it. `places` says what a subject is: its kind, the place of its owner, and its own number."""

    seed: int
    nodes: tuple[NodeSite, ...]
    loops: tuple[LoopSite, ...]
    air: Design  # of nodes without a loop
    places: Mapping[str, tuple[str, int, int]]


def survey_site(rack: Rack, seed: int, find: Callable[[str], Design] = load_design) -> Site:
    """The site of a rack; `find` gives a plant by its name.

    Raises PlantError where a node names a loop that is not there, or a loop a plant that is not there.
    """
    names = [loop.name for loop in rack.loops]
    for node in rack.nodes:
        if node.loop and node.loop not in names:
            raise PlantError(
                f"node {node.name} hangs on loop {node.loop}, and the rack has {', '.join(names) or 'none'}; add it to [[loops]]"
            )
    loops = tuple(_survey_loop(rack, loop, find) for loop in rack.loops)
    nodes = tuple(_survey_nodes(rack, names, loops))
    return Site(seed=seed, nodes=nodes, loops=loops, air=load_design("reference"), places=_index(nodes, loops))


def _rate(rack: Rack, node: shape.Node) -> float:
    """A node's watts at full load, without fans: those warm the room."""
    return node.cards * rack.sim.node.card_watts + rack.sim.node.other_watts


def _survey_loop(rack: Rack, loop: shape.Loop, find: Callable[[str], Design]) -> LoopSite:
    here = [(place, _rate(rack, node)) for place, node in enumerate(rack.nodes) if node.loop == loop.name]
    total = sum(watts for _, watts in here)
    design = scale_design(find(rack.sim.loops.get(loop.name, shape.SimLoop()).plant), total)
    factors = design.piping.rows[: max(1, len(here))]
    rows = tuple(tuple(place for place, _ in here[row :: len(factors)]) for row in range(len(factors)))
    watts = dict(here)
    flow = design.pumping.litres_per_second
    flows = [flow * sum(watts[place] for place in row) / total if total else flow / len(rows) for row in rows]
    return LoopSite(
        subject=loop.subject,
        design=design,
        rows=rows,
        supply_litres=tuple(part * factor * design.piping.supply_s for part, factor in zip(flows, factors, strict=True)),
        return_litres=tuple(part * factor * design.piping.return_s for part, factor in zip(flows, factors, strict=True)),
        exchanger_litres=flow * design.exchanger.lag_s,
    )


def _survey_nodes(rack: Rack, names: Sequence[str], loops: Sequence[LoopSite]) -> list[NodeSite]:
    nodes, first = [], 0
    totals = {name: sum(_rate(rack, node) for node in rack.nodes if node.loop == name) for name in names}
    air = load_design("reference")
    for place, node in enumerate(rack.nodes):
        watts = _rate(rack, node)
        loop = names.index(node.loop) if node.loop else -1
        share = watts / totals[node.loop] if loop >= 0 and totals[node.loop] else 0.0
        flow = loops[loop].design.pumping.litres_per_second * share if loop >= 0 else scale_design(air, watts).pumping.litres_per_second
        plates = (loops[loop].design if loop >= 0 else air).plates
        row = next(number for number, row in enumerate(loops[loop].rows) if place in row) if loop >= 0 else 0
        nodes.append(
            NodeSite(
                name=node.name,
                fans=f"{node.name}/fan*",
                loop=loop,
                row=row,
                first=first,
                cards=node.cards,
                share=share,
                flow=flow,
                capacity=plates.lag_s * find_plate(plates.ntu, 1.0) * flow * HEAT / max(1, node.cards),
                other_watts=rack.sim.node.other_watts,
            )
        )
        first += node.cards
    return nodes


def _index(nodes: Sequence[NodeSite], loops: Sequence[LoopSite]) -> dict[str, tuple[str, int, int]]:
    places: dict[str, tuple[str, int, int]] = {}
    for number, loop in enumerate(loops):
        places[loop.subject] = ("cdu", number, 0)
        places |= {f"{loop.subject}/pump{pump}": ("pump", number, pump) for pump in range(loop.design.pumping.pumps)}
    for number, node in enumerate(nodes):
        places[node.name] = ("node", number, 0)
        places |= {f"{node.name}/card{slot}": ("card", number, slot) for slot in range(node.cards)}
        places |= {f"{node.name}/fan{fan}": ("fan", number, fan) for fan in range(FANS)}
        places |= {f"{node.name}/air{fan}": ("air", number, fan) for fan in range(FANS)}
    return places


def find_plate(ntu: float, flow: float) -> float:
    """A cold plate's effectiveness at a share of rated flow; its film thins with the root of the flow (ours: laminar in micro-channels)."""
    return 1.0 - math.exp(-ntu / math.sqrt(flow)) if flow > 0.0 else 1.0
