"""One substep of a loop: pumps, exchanger, pipes, its nodes, gauges, PLC and valve, in this order."""

from __future__ import annotations

import math

from msgspec.structs import replace

from sim_hardware.plant.cooling.cdu import Book, Cdu, Water
from sim_hardware.plant.cooling.controlling import control, measure
from sim_hardware.plant.cooling.exchanging import exchange, find_primary, find_primary_flow
from sim_hardware.plant.cooling.nodes import step_node
from sim_hardware.plant.cooling.pumping import step_power, step_pumps
from sim_hardware.plant.cooling.site import SUBSTEP, LoopSite
from sim_hardware.plant.cooling.slugs import HEAT, Pipe, draw_off, push_in
from sim_hardware.plant.cooling.state import Moment, Node
from sim_hardware.plant.cooling.telling import tell_water


def step_loop(cdu: Cdu, number: int, nodes: list[Node], moment: Moment) -> Cdu:
    """The CDU one substep on; its nodes are put into `nodes`."""
    loop, at, told = moment.site.loops[number], moment.at, moment.told
    cdu = step_power(cdu, loop, loop.subject not in moment.inputs.dead, at, told)
    cdu = step_pumps(cdu, loop, at, told)
    cdu, returns = _draw_returns(cdu, loop)
    cdu, given = exchange_heat(cdu, loop, at)
    cdu = _pass_rows(replace(cdu, water=replace(cdu.water, returns=returns)), loop, given, nodes, moment)
    cdu = measure(cdu, loop.design, at)
    cdu = control(cdu, loop, moment.dew_point, at, told)
    after = tell_water(cdu, loop.subject, moment.dew_point, at, told)
    return cdu if after is cdu.told else replace(cdu, told=after)


def find_flows(cdu: Cdu, loop: LoopSite) -> list[float]:
    """Flow by row, L/s."""
    openness = sum(cdu.openness)
    flow = cdu.water.flow * loop.design.pumping.litres_per_second
    return [flow * part / openness if openness > 0.0 else 0.0 for part in cdu.openness]


def _draw_returns(cdu: Cdu, loop: LoopSite) -> tuple[Cdu, tuple[Pipe, ...]]:
    """What the returns give in this substep: the CDU with its real return, and what is left in the pipes."""
    flows = find_flows(cdu, loop)
    drawn = [draw_off(pipe, flow * SUBSTEP) for pipe, flow in zip(cdu.water.returns, flows, strict=True)]
    total = sum(flows)
    inlet = sum(flow * celsius for flow, (_, celsius) in zip(flows, drawn, strict=True)) / total if total > 0.0 else cdu.water.inlet
    return replace(cdu, water=replace(cdu.water, inlet=inlet)), tuple(pipe for pipe, _ in drawn)


def exchange_heat(cdu: Cdu, loop: LoopSite, at: float) -> tuple[Cdu, float]:
    """The heat that leaves in this substep; the CDU, and the mean temperature of what the exchanger gives.

    The exchanger's coolant is one well-mixed volume: its lag is that volume over the flow.
    """
    design, faults, water = loop.design, cdu.faults, cdu.water
    flow = water.flow * design.pumping.litres_per_second
    celsius, pressure = find_primary(design, at, faults.kelvin, faults.kilopascals)
    pressure = 0.0 if faults.primary_lost else pressure
    clean = design.exchanger.watts_per_kelvin * (1.0 - design.exchanger.fouling) * (1.0 - faults.fouled)
    watts = exchange(water.inlet, celsius, flow, find_primary_flow(design, cdu.actuator.stem, pressure), clean)
    outlet, given = water.outlet, water.outlet
    if flow > 0.0:
        steady = water.inlet - watts / (flow * HEAT)
        outlet = steady + (water.outlet - steady) * math.exp(-SUBSTEP * flow / loop.exchanger_litres)
        given = steady - loop.exchanger_litres * (outlet - water.outlet) / (flow * SUBSTEP)
    book = replace(cdu.book, primary=cdu.book.primary + watts * SUBSTEP)
    after = replace(
        cdu,
        water=replace(water, outlet=outlet),
        book=book,
        primary_watts=watts,
        primary_celsius=celsius,
        primary_kilopascals=pressure,
    )
    return after, given


def _pass_rows(cdu: Cdu, loop: LoopSite, given: float, nodes: list[Node], moment: Moment) -> Cdu:
    """What the exchanger gives goes out to the rows; what they give goes into the returns."""
    flows = find_flows(cdu, loop)
    supplies, returns, book = [], [], cdu.book
    for row, litres in enumerate([flow * SUBSTEP for flow in flows]):
        pipe, inlet = cdu.water.supplies[row], given
        if pipe:
            pipe, inlet = draw_off(push_in(pipe, litres, given, loop.supply_litres[row]), litres)
        supplies.append(pipe)
        outlet, book = _pass_row(loop.rows[row], inlet, flows[row], nodes, moment, book)
        returns.append(push_in(cdu.water.returns[row], litres, outlet, loop.return_litres[row]))
    water: Water = replace(cdu.water, supplies=tuple(supplies), returns=tuple(returns))
    return replace(cdu, water=water, book=book)


def _pass_row(row: tuple[int, ...], inlet: float, flow: float, nodes: list[Node], moment: Moment, book: Book) -> tuple[float, Book]:
    """The nodes of a row, all from one inlet; what comes out of them together, and the book."""
    site = moment.site
    openness = sum([site.nodes[place].share * nodes[place].branch.open for place in row])
    cards, coolant, door, room, mixed = book.cards, book.coolant, book.door, book.room, 0.0
    for place in row:
        here = site.nodes[place]
        share = here.share * nodes[place].branch.open / openness if openness > 0.0 else 0.0
        passage, nodes[place] = step_node(nodes[place], place, inlet, flow * share, moment)
        cards += passage.watts * SUBSTEP
        coolant += passage.coolant
        door += passage.door
        room += passage.room
        mixed += share * nodes[place].outlet
    return (mixed if openness > 0.0 else inlet), Book(cards, coolant, door, room, book.primary, book.began_with, book.plates_began_with)
