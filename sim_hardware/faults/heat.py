"""Faults of the cooling in a node: dies, fans, coolant branches."""

from __future__ import annotations

from typing import Annotated, Any

from sim_hardware.faults.kind import Kind, Nothing, Parameters, about, give, lift
from sim_hardware.faults.place import Place
from sim_hardware.faults.probing import combine, differs
from sim_hardware.faults.reading import ReadingError, pick, read_page
from sim_hardware.faults.views import bmc, card_sensor, sensor
from sim_hardware.plant.cooling import orders

_FANS_COMPARED = 8


class HotSpot(Parameters, frozen=True):
    """Of a die."""

    kelvin: Annotated[float, about("so much hotter over its coolant", "K", 3.0, 80.0)] = 25.0
    tau_s: Annotated[float, about("time constant with which it gets there", "s", 0.1, 600.0)] = 5.0


class DieSensor(Parameters, frozen=True):
    """Of a sensor of a die."""

    celsius: Annotated[float, about("temperature that it shows", "C", -40.0, 200.0)] = 120.0


class Blocked(Parameters, frozen=True):
    """Of a branch."""

    share: Annotated[float, about("share of its flow that is lost", "1", 0.1, 1.0)] = 0.6


async def _read_lead(place: Place) -> float:
    """So much hotter is this card than two others of its node, K."""
    own, *others = await combine(*(card_sensor("Temperature", further) for further in (0, 1, 2)))(place)
    return own - sum(others) / len(others)


async def _see_stuck_sensor(place: Place, parameters: DieSensor) -> bool:
    """A card shows the highest of its dies: one that shows less than they are cannot be seen."""
    shown = await card_sensor("Temperature")(place)
    if shown > parameters.celsius + 1.0:
        raise ReadingError(f"{place.target}: shows {shown:g} C, beside which {parameters.celsius:g} C cannot be seen")
    return abs(shown - parameters.celsius) <= 1.0


async def _see_stopped_fan(place: Place, _: Nothing) -> bool:
    """Others turn ten times as fast."""
    speeds = []
    for fan in range(_FANS_COMPARED):
        found = pick(await read_page(place.rig, bmc(place), f"Chassis/1/ThermalSubsystem/Fans/{fan}"), "SpeedPercent", "SpeedRPM")
        speeds.append(float(found or 0.0))
    return speeds[place.number] < sorted(speeds)[_FANS_COMPARED // 2] / 10.0


KINDS: tuple[Kind[Any], ...] = (
    Kind(
        kind="thermal.hot_spot",
        text="The die of a card stands hotter over its coolant.",
        parameters=HotSpot,
        targets=("card",),
        inject=give(lambda place, parameters: orders.HeatSpot(place.target, parameters.kelvin, parameters.tau_s)),
        lift=lift(lambda place: orders.HeatSpot(place.target, 0.0)),
        probe=differs(_read_lead, lambda before, now, parameters: now - before > parameters.kelvin / 2.0),
        takes_out=False,
        danger="physical",
        shows_within=10.0,
        ends_within=15.0,
    ),
    Kind(
        kind="die_sensor.stuck",
        text="One of the 128 sensors of a card's die shows one temperature; the card shows the highest.",
        parameters=DieSensor,
        targets=("card",),
        inject=give(lambda place, parameters: orders.FailDieSensor(place.target, parameters.celsius)),
        lift=lift(lambda place: orders.FailDieSensor(place.target, None)),
        probe=_see_stuck_sensor,
        takes_out=False,
        danger="telemetry",
    ),
    Kind(
        kind="fan.stop",
        text="A fan stops turning.",
        parameters=Nothing,
        targets=("fan",),
        inject=give(lambda place, _: orders.StopFan(place.node, place.number, stopped=True)),
        lift=lift(lambda place: orders.StopFan(place.node, place.number, stopped=False)),
        probe=_see_stopped_fan,
        danger="physical",
        shows_within=8.0,
    ),
    Kind(
        kind="flow.blocked",
        text="The coolant branch of a node has lost a part of its flow.",
        parameters=Blocked,
        targets=("node",),
        inject=give(lambda place, parameters: orders.BlockFlow(place.target, parameters.share)),
        lift=lift(lambda place: orders.BlockFlow(place.target, 0.0)),
        probe=differs(sensor("CoolantFlow"), lambda before, now, parameters: now < before * (1.0 - parameters.share / 2.0)),
        takes_out=False,
        danger="physical",
    ),
)
