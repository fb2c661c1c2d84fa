"""The way of time: from a rack to a state, and from a state to a later one."""

from __future__ import annotations

import math
from collections.abc import Callable

from msgspec.structs import replace

from sim_hardware.plant.cooling.actuator import Actuator
from sim_hardware.plant.cooling.airing import start_air
from sim_hardware.plant.cooling.cdu import Book, Cdu, Faults, Gauges, Told, Water
from sim_hardware.plant.cooling.controlling import bite
from sim_hardware.plant.cooling.design import Design, load_design
from sim_hardware.plant.cooling.drives import Pump
from sim_hardware.plant.cooling.hydraulics import find_speed
from sim_hardware.plant.cooling.nodes import cool_by_air
from sim_hardware.plant.cooling.plates import Cards, step_spots
from sim_hardware.plant.cooling.plc import Controller
from sim_hardware.plant.cooling.pumping import set_flow
from sim_hardware.plant.cooling.settling import settle
from sim_hardware.plant.cooling.site import SUBSTEP, LoopSite, NodeSite, Site, survey_site
from sim_hardware.plant.cooling.slugs import fill_pipe
from sim_hardware.plant.cooling.state import Inputs, Moment, Node, State
from sim_hardware.plant.cooling.stepping import step_loop
from sim_hardware.plant.words import Happening, PlantError
from sim_hardware.rack import Rack

_GRACE = 1e-9  # s by which a time may miss its grid point


def start(rack: Rack, seed: int, find: Callable[[str], Design] = load_design) -> State:
    """The cooling of a rack at 0 s, with pumps running and everything at the setpoint; `find` gives a plant by its name.

    The first update finds the balance for its inputs, so that a run does not begin with a step of load. Reads the loops' plant files.
    Raises PlantError when a loop or a plant is not there.
    """
    site = survey_site(rack, seed, find)
    cdus = tuple(_start_cdu(site, loop) for loop in site.loops)
    nodes = tuple(_start_node(node, site) for node in site.nodes)
    return State(site=site, at=0.0, steps=0, cdus=cdus, nodes=nodes)


def _start_cdu(site: Site, loop: LoopSite) -> Cdu:
    design, plc = loop.design, loop.design.plc
    openness = tuple(math.fsum(site.nodes[place].share for place in row) for row in loop.rows)
    speed = find_speed(design.pumping, sum(openness))
    duty = design.pumping.duty
    pumps = [Pump("running" if n < duty else "off", 0.0, speed if n < duty else 0.0, speed, n < duty) for n in range(design.pumping.pumps)]
    water = Water(
        outlet=plc.celsius,
        inlet=plc.celsius,
        supplies=tuple(fill_pipe(litres, plc.celsius) if litres else () for litres in loop.supply_litres),
        returns=tuple(fill_pipe(litres, plc.celsius) for litres in loop.return_litres),
        flow=0.0,
    )
    cdu = Cdu(
        live=True,
        controller=Controller("auto", plc.celsius, plc.celsius, 0.0, design.pumping.kilopascals, plc.watchdog_s),
        actuator=Actuator(0.0, 0.0, 0.0),
        pumps=tuple(pumps),
        faults=Faults(),
        water=water,
        gauges=Gauges(plc.celsius, plc.celsius, plc.celsius, plc.celsius),
        told=Told(past=(), dry=not any(openness)),
        book=Book(),
        openness=openness,
        primary_celsius=design.primary.celsius,
        primary_kilopascals=design.primary.kilopascals,
    )
    return set_flow(cdu, loop)


def _start_node(node: NodeSite, site: Site) -> Node:
    design = site.loops[node.loop].design if node.loop >= 0 else site.air
    celsius = design.plc.celsius
    cards = Cards((celsius,) * node.cards, (celsius,) * node.cards, (0.0,) * node.cards)
    return Node(cards, start_air(design.plates.room_celsius, 0.0), celsius, celsius, node.flow)


def update(state: State, time: float, inputs: Inputs) -> State:
    """The state at `time`. Physics moves at whole multiples of SUBSTEP; in between only the watchdog does.

    Raises PlantError when time runs backwards, or the inputs are not those of this rack.
    """
    _check(state, time, inputs)
    if not state.settled:
        state = settle(state, inputs)
    last = math.floor(time / SUBSTEP + _GRACE)
    told: list[Happening] = []
    cdus, nodes, spots = list(state.cdus), list(state.nodes), state.spots
    for step in range(state.steps + 1, last + 1):
        at = step * SUBSTEP
        spots = step_spots(spots)
        moment = Moment(state.site, at, inputs, spots, state.dew_point, told)
        for number, loop in enumerate(state.site.loops):
            cdus[number] = step_loop(bite(cdus[number], loop, at, told), number, nodes, moment)
        for place, node in enumerate(state.site.nodes):
            if node.loop < 0:
                nodes[place] = cool_by_air(nodes[place], place, moment)
    cdus = [bite(cdu, loop, time, told) for cdu, loop in zip(cdus, state.site.loops, strict=True)]
    return replace(state, at=time, steps=max(last, state.steps), cdus=tuple(cdus), nodes=tuple(nodes), spots=spots, happened=tuple(told))


def _check(state: State, time: float, inputs: Inputs) -> None:
    if not time >= state.at or math.isinf(time):
        raise PlantError(f"cooling is at {state.at} s and cannot go to {time} s; give a later time")
    wanted = sum(len(node.cards.plates) for node in state.nodes), len(state.nodes)
    given = len(inputs.card_watts), len(inputs.other_watts)
    if given != wanted:
        raise PlantError(f"inputs for {given[0]} cards and {given[1]} nodes, and the rack has {wanted[0]} and {wanted[1]}")
