"""One substep of a node."""

from __future__ import annotations

import math

import msgspec

from sim_hardware.plant.cooling.airing import step_air
from sim_hardware.plant.cooling.design import Design
from sim_hardware.plant.cooling.plates import judge_cards, step_cards
from sim_hardware.plant.cooling.site import FANS, SUBSTEP
from sim_hardware.plant.cooling.slugs import HEAT
from sim_hardware.plant.cooling.state import Moment, Node


class Given(msgspec.Struct, frozen=True):
    """What a node gave in one substep."""

    watts: float  # its cards into their plates
    coolant: float  # J, from the plates
    door: float  # J, from the rear door into the coolant
    room: float  # J, from the plates


def step_node(node: Node, place: int, inlet: float, flow: float, moment: Moment) -> tuple[Given, Node]:
    """What it gave, and the node after it, with coolant coming in at `inlet` C and `flow` L/s."""
    site, inputs = moment.site.nodes[place], moment.inputs
    design = moment.site.loops[site.loop].design if site.loop >= 0 else moment.site.air
    watts = tuple(inputs.card_watts[site.first : site.first + site.cards])
    other = inputs.other_watts[place]
    passage = step_cards(node.cards, site, design, inlet, flow, watts, moment.spots)
    cards = judge_cards(passage.cards, site.name, moment.at, moment.told)
    air = step_air(node.air, site, design.plates.room_celsius, other, site.fans not in moment.inputs.dead, moment.at, moment.told)
    liquid = sum(watts)
    warm, door = _step_door(node.warm_air, design, other + liquid * design.plates.air_share, flow)
    outlet = passage.outlet + (door / (flow * HEAT * SUBSTEP) if door else 0.0)
    given = Given(liquid * (1.0 - design.plates.air_share), passage.coolant, door, passage.room)
    return given, Node(cards, air, inlet, outlet, flow, node.branch, warm)


def _step_door(warm: float, design: Design, watts: float, flow: float) -> tuple[float, float]:
    """The heat, J, in the air on its way to the rear door, and what the door gave to the coolant, which needs flow."""
    if not design.plates.air_return:
        return 0.0, 0.0
    door = warm * (1.0 - math.exp(-SUBSTEP / design.plates.air_lag_s)) if flow > 0.0 else 0.0
    return warm + watts * design.plates.air_return * SUBSTEP - door, door


def cool_by_air(node: Node, place: int, moment: Moment) -> Node:
    """A node without a loop: its plates stand in the air of its fans, which carries at full speed what coolant would carry."""
    site = moment.site.nodes[place]
    airflow = sum(node.air.speeds) / FANS
    return step_node(node, place, moment.site.air.plates.room_celsius, site.flow * airflow, moment)[1]
