"""The balance in which a site stands that has had the same load for hours."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from sim_hardware.plant.cooling.actuator import Actuator
from sim_hardware.plant.cooling.airing import start_air
from sim_hardware.plant.cooling.bookkeeping import weigh_coolant, weigh_plates
from sim_hardware.plant.cooling.cdu import Book, Cdu, Gauges
from sim_hardware.plant.cooling.design import Design
from sim_hardware.plant.cooling.exchanging import exchange, find_primary, find_primary_flow
from sim_hardware.plant.cooling.hydraulics import find_speed
from sim_hardware.plant.cooling.plates import DIE, LOSS, Cards
from sim_hardware.plant.cooling.pumping import set_flow
from sim_hardware.plant.cooling.site import FANS, LoopSite, NodeSite, find_plate
from sim_hardware.plant.cooling.slugs import HEAT, fill_pipe
from sim_hardware.plant.cooling.state import Inputs, Node, State

_HALVINGS = 60
_REACH = 80.0  # K beside the setpoint within which a balance is looked for


def settle(state: State, inputs: Inputs) -> State:
    """The state with every temperature and the valve where these inputs hold them."""
    nodes = list(state.nodes)
    cdus = tuple(_settle_loop(cdu, state.site.loops[number], nodes, state, inputs) for number, cdu in enumerate(state.cdus))
    room = state.site.air.plates.room_celsius
    for place, site in enumerate(state.site.nodes):
        if site.loop < 0:
            airflow = sum(_settle_air(nodes[place], site, state.site.air, inputs.other_watts[place]).air.speeds) / FANS
            nodes[place] = _settle_node(nodes[place], place, state.site.air, room, site.flow * airflow, state, inputs)
    return replace(state, cdus=cdus, nodes=tuple(nodes), settled=True)


def _settle_loop(cdu: Cdu, loop: LoopSite, nodes: list[Node], state: State, inputs: Inputs) -> Cdu:
    design = loop.design
    speed = find_speed(design.pumping, sum(cdu.openness))
    pumps = tuple(replace(pump, speed=speed if pump.wanted else 0.0, command=speed) for pump in cdu.pumps)
    cdu = set_flow(replace(cdu, pumps=pumps), loop)
    flow = cdu.water.flow * design.pumping.litres_per_second
    position, supply = _find_valve(cdu, design, flow, lambda celsius: _run(loop, cdu, celsius, nodes, state, inputs))
    outlets = _run(loop, cdu, supply, nodes, state, inputs)
    inlet = supply if flow <= 0.0 else _mix(cdu, outlets)
    water = replace(
        cdu.water,
        outlet=supply,
        inlet=inlet,
        supplies=tuple(fill_pipe(litres, supply) if litres else () for litres in loop.supply_litres),
        returns=tuple(fill_pipe(litres, outlet) for litres, outlet in zip(loop.return_litres, outlets, strict=True)),
    )
    settled = replace(
        cdu,
        water=water,
        gauges=Gauges(supply, inlet, supply, inlet),
        controller=replace(cdu.controller, integral=position),
        actuator=_place_actuator(cdu, position),
    )
    here = [place for row in loop.rows for place in row]
    book = Book(
        began_with=weigh_coolant(settled, loop),
        plates_began_with=weigh_plates(state.site, here, nodes),
    )
    return replace(settled, book=book)


def _place_actuator(cdu: Cdu, position: float) -> Actuator:
    """The actuator where the balance wants it, unless an order has already put it somewhere."""
    if cdu.actuator.stuck or cdu.controller.control == "direct":
        return cdu.actuator
    return Actuator(position, position, position)


def _find_valve(cdu: Cdu, design: Design, flow: float, run: Callable[[float], Sequence[float]]) -> tuple[float, float]:
    """The valve's position that holds the setpoint, and the supply; at an end stop, whatever supply comes of that."""

    def find_surplus(position: float, supply: float) -> float:
        """Heat removed less heat brought, W."""
        inlet = _mix(cdu, run(supply))
        celsius, pressure = find_primary(design, 0.0, 0.0, 0.0)
        clean = design.exchanger.watts_per_kelvin * (1.0 - design.exchanger.fouling)
        removed = exchange(inlet, celsius, flow, find_primary_flow(design, position, pressure), clean)
        return removed - flow * HEAT * (inlet - supply)

    wish = cdu.controller.setpoint
    if flow <= 0.0:
        return 0.0, wish
    position = _halve(lambda share: find_surplus(share, wish), 0.0, 1.0)
    if 1e-6 < position < 1.0 - 1e-6:
        return position, wish
    return position, _halve(lambda supply: find_surplus(position, supply), wish - _REACH, wish + _REACH)


def _halve(rise: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function passes through zero."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if rise(middle) < 0.0 else (low, middle)
    return (low + high) / 2.0


def _mix(cdu: Cdu, outlets: Sequence[float]) -> float:
    openness = sum(cdu.openness)
    return sum(part * celsius for part, celsius in zip(cdu.openness, outlets, strict=True)) / openness


def _run(loop: LoopSite, cdu: Cdu, supply: float, nodes: list[Node], state: State, inputs: Inputs) -> list[float]:
    """The outlets by row with this supply; the nodes are put into `nodes`."""
    openness = sum(cdu.openness)
    total = cdu.water.flow * loop.design.pumping.litres_per_second / openness if openness > 0.0 else 0.0
    outlets = []
    for row, part in zip(loop.rows, cdu.openness, strict=True):
        mixed = 0.0
        for place in row:
            share = state.site.nodes[place].share * nodes[place].branch.open
            nodes[place] = _settle_node(nodes[place], place, loop.design, supply, total * share, state, inputs)
            mixed += share * nodes[place].outlet
        outlets.append(mixed / part if part > 0.0 else supply)
    return outlets


def _settle_air(node: Node, site: NodeSite, design: Design, other: float) -> Node:
    air = start_air(design.plates.room_celsius, other / site.other_watts if site.other_watts else 0.0)
    kept = node.air.control, node.air.stopped, node.air.standing, node.air.hot
    return replace(node, air=replace(air, control=kept[0], stopped=kept[1], standing=kept[2], hot=kept[3]))


def _settle_node(node: Node, place: int, design: Design, inlet: float, flow: float, state: State, inputs: Inputs) -> Node:
    site, plates = state.site.nodes[place], design.plates
    watts = tuple(inputs.card_watts[site.first : site.first + site.cards])
    effect = find_plate(plates.ntu, flow / site.flow)
    plate = effect * flow * HEAT / max(1, site.cards)
    into = [power * (1.0 - plates.air_share) for power in watts]
    warm = [(power + plate * inlet + LOSS * plates.room_celsius) / (plate + LOSS) for power in into]
    door = (inputs.other_watts[place] + sum(watts) * plates.air_share) * plates.air_return
    outlet = inlet + effect * ((sum(warm) / len(warm) if warm else inlet) - inlet) + (door / (flow * HEAT) if flow > 0.0 else 0.0)
    cards = Cards(tuple(warm), tuple(celsius + power * DIE for celsius, power in zip(warm, watts, strict=True)), watts)
    return replace(
        _settle_air(node, site, design, inputs.other_watts[place]),
        cards=cards,
        inlet=inlet,
        outlet=outlet,
        flow=flow,
        warm_air=door * plates.air_lag_s,
    )
