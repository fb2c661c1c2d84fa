"""The pumps of a loop: its flow, and the reservoir they draw from."""

from __future__ import annotations

from msgspec.structs import replace

from sim_hardware.plant.cooling.cdu import Cdu, Water
from sim_hardware.plant.cooling.drives import step_pump
from sim_hardware.plant.cooling.hydraulics import find_flow, find_pressure, find_shut_off
from sim_hardware.plant.cooling.plc import change_control
from sim_hardware.plant.cooling.site import SUBSTEP, LoopSite
from sim_hardware.plant.cooling.telling import LEVEL_LOW, LEVEL_OUT, tell_control, tell_pump
from sim_hardware.plant.words import Happening

_DRAWS, _VENTS, _MOST_AIR = 0.005, 0.001, 0.3  # share of air a second that a low reservoir lets in and a full one out, and the most


def step_power(cdu: Cdu, loop: LoopSite, live: bool, at: float, told: list[Happening]) -> Cdu:
    """The CDU's supply comes or goes. A PLC that starts anew is in `auto`, and takes its time to boot."""
    if live == cdu.live:
        return cdu
    controller = change_control(cdu.controller, "auto", at)
    tell_control(cdu.controller, controller, loop.subject, at, told, "it lost its supply")
    return replace(cdu, live=live, controller=replace(controller, up_at=at + loop.design.plc.boot_s))


def step_pumps(cdu: Cdu, loop: LoopSite, at: float, told: list[Happening]) -> Cdu:
    """Its drives, and the flow they make."""
    design = loop.design.pumping
    pumps = tuple([step_pump(pump, design, at, SUBSTEP, cdu.live) for pump in cdu.pumps])
    water = step_reservoir(cdu, loop)
    if pumps == cdu.pumps:
        return cdu if water is cdu.water else set_flow(replace(cdu, water=water), loop)
    for place, (before, after) in enumerate(zip(cdu.pumps, pumps, strict=True)):
        tell_pump(before, after, f"{loop.subject}/pump{place}", at, told)
    return set_flow(replace(cdu, pumps=pumps, water=water), loop)


def set_flow(cdu: Cdu, loop: LoopSite) -> Cdu:
    """The CDU with the flow that its pumps make through its branches. Air in the coolant takes the pumps' head."""
    openness = sum(cdu.openness)
    head = 0.0 if cdu.water.level < LEVEL_OUT else (1.0 - find_air(cdu)) ** 2
    speeds = [pump.speed for pump in cdu.pumps]
    flow = find_flow(loop.design.pumping, speeds, openness, head)
    pressure = find_pressure(flow, openness) if openness > 0.0 else find_shut_off(speeds, head)
    return replace(cdu, water=replace(cdu.water, flow=flow), kilopascals=pressure * loop.design.pumping.kilopascals)


def find_air(cdu: Cdu) -> float:
    """The share of its coolant that is air."""
    return max(cdu.faults.air, cdu.water.air)


def step_reservoir(cdu: Cdu, loop: LoopSite) -> Water:
    """The reservoir's level, and the air that is drawn in when it is low. The same water when nothing changes."""
    water = cdu.water
    if not cdu.told.leaking and water.level >= LEVEL_LOW and not water.air:
        return water
    lost = sum(litres for place, litres in cdu.faults.leaks if place in cdu.told.leaking) * SUBSTEP / 60.0
    level = max(0.0, water.level - 100.0 * lost / loop.design.pumping.reservoir_litres)
    draws = level < LEVEL_LOW and water.flow > 0.0
    air = max(0.0, min(_MOST_AIR, water.air + (_DRAWS if draws else -_VENTS) * SUBSTEP))
    return water if level == water.level and air == water.air else replace(water, level=level, air=air)
