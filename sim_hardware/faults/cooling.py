"""Faults of a CDU's own parts: pumps, valve, pipes, setpoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from sim_hardware.faults.kind import SENSOR, WIRE, Kind, Nothing, Parameters, about, give, lift
from sim_hardware.faults.place import Place
from sim_hardware.faults.probing import combine, sees
from sim_hardware.faults.reading import pick, read_page, read_register
from sim_hardware.faults.restoring import make_restore
from sim_hardware.faults.views import bmc, number, owner, register
from sim_hardware.pathology import Freeze
from sim_hardware.plant.cooling import orders
from sim_hardware.plant.words import Order

_VALVE_OFF = 1.0  # % between command and position, beyond what a valve shows that moves (its command waits for it)


class Position(Parameters, frozen=True):
    """Of a valve."""

    percent: Annotated[float, about("position at which it stays", "%", 0.0, 100.0)] = 30.0


class LeakRate(Parameters, frozen=True):
    """Of a leak."""

    litres_per_minute: Annotated[float, about("coolant that runs out", "L/min", 0.01, 50.0)] = 0.5


class Master(Parameters, frozen=True):
    """Of a second master."""

    celsius: Annotated[float, about("setpoint that it writes once a second", "C", 5.0, 45.0)] = 27.5


class SensorAlarm(Parameters, frozen=True):
    """Of a unit's warning about its own sensor."""

    flag: Annotated[
        Literal["supply-sensor", "supply-2-sensor", "return-sensor", "primary-sensor", "flow-sensor", "level-sensor", "leak-sensor"],
        about("its word for it", "text"),
    ] = "supply-sensor"


_note_setpoint, _set_back = make_restore(
    "setpoint", "coolant.setpoint_asked", lambda place, asked: orders.SetTemperature(place.target, asked)
)


def _add_master(place: Place, parameters: Master) -> None:
    _note_setpoint(place)
    place.order(orders.AddMaster(place.target, parameters.celsius))


def _end_master(place: Place, parameters: Master) -> None:
    """What it has written last would stay: it is set back, as its own operator would."""
    place.order(orders.AddMaster(place.target, None))
    _set_back(place, parameters)


def _pump(make: Callable[[str, int], Order]) -> Callable[..., Order]:
    return lambda place, *_: make(place.owner, place.number)


async def _see_unheeded(place: Place, _: Nothing) -> bool:
    """It has its run signal, and does not turn."""
    state = await register("pump.state", owner)(place)
    speed = await number("pump.speed", owner)(place)
    return state == "starting" and speed < 5.0


async def _see_leak(place: Place, _: LeakRate) -> bool:
    """At a node its detector, at a CDU its live bit."""
    if place.target.startswith("cdu/"):
        return await read_register(place.rig, place.target, place.target, "coolant.leak") == 1.0
    path = "Chassis/1/ThermalSubsystem/LeakDetection/LeakDetectors/Tray"
    return bool(pick(await read_page(place.rig, bmc(place), path), "DetectorState") == "Critical")


def _is_stuck(shown: tuple[float, ...], parameters: Position) -> bool:
    position, command = shown
    return abs(position - parameters.percent) < 0.5 and abs(position - command) > _VALVE_OFF


async def _see_frozen_valve(place: Place, _: Nothing) -> bool:
    """The command has gone on without the position, which is what it was at first."""
    position, command = await number("coolant.valve")(place), await number("coolant.valve_command")(place)
    return abs(position - command) > _VALVE_OFF


async def _see_master(place: Place, parameters: Master) -> bool:
    return abs(await number("coolant.setpoint_asked")(place) - parameters.celsius) < 0.01


def _warn(place: Place, parameters: SensorAlarm) -> None:
    place.rig.impairment(place.target).alarms = frozenset({parameters.flag})


def _clear_warning(place: Place, _: SensorAlarm) -> None:
    place.rig.impairment(place.target).alarms = frozenset()


async def _see_warning(place: Place, parameters: SensorAlarm) -> bool:
    shown = await read_register(place.rig, place.target, place.target, "device.alarms")
    return isinstance(shown, frozenset) and parameters.flag in shown


KINDS: tuple[Kind[Any], ...] = (
    Kind(
        kind="cdu.pump_fail",
        text="The drive of a pump trips; well again it takes 20 s to reset.",
        parameters=Nothing,
        targets=("pump",),
        inject=give(_pump(lambda cdu, pump: orders.FailPump(cdu, pump, failed=True))),
        lift=lift(_pump(lambda cdu, pump: orders.FailPump(cdu, pump, failed=False))),
        probe=sees(register("pump.state", owner), lambda state, _: state == "tripped"),
        danger="physical",
    ),
    Kind(
        kind="cdu.run_signal_missing",
        text="A pump acknowledges its start and does not run; it shows on the one that is wanted.",
        parameters=Nothing,
        targets=("pump",),
        inject=give(_pump(lambda cdu, pump: orders.LoseRunSignal(cdu, pump, lost=True))),
        lift=lift(_pump(lambda cdu, pump: orders.LoseRunSignal(cdu, pump, lost=False))),
        probe=_see_unheeded,
        danger="physical",
        shows_within=6.0,
    ),
    Kind(
        kind="cdu.valve_stuck",
        text="The primary valve stays at a position, whatever is commanded.",
        parameters=Position,
        targets=("cdu",),
        inject=give(lambda place, parameters: orders.StickValve(place.target, parameters.percent)),
        lift=lift(lambda place: orders.StickValve(place.target, None)),
        probe=sees(combine(number("coolant.valve"), number("coolant.valve_command")), _is_stuck),
        takes_out=False,
        danger="physical",
        ends_within=6.0,
    ),
    Kind(
        kind="cdu.leak",
        text="Coolant runs out, at the branch of a node or at the CDU itself.",
        parameters=LeakRate,
        targets=("cdu", "node"),
        inject=give(lambda place, parameters: orders.Leak(place.target, parameters.litres_per_minute)),
        lift=lift(lambda place: orders.Leak(place.target, 0.0)),
        probe=_see_leak,
        takes_out=False,
        danger="physical",
    ),
    Kind(
        kind="cdu.two_masters",
        text="Somebody else writes the setpoint of a CDU once a second.",
        parameters=Master,
        targets=("cdu",),
        inject=_add_master,
        lift=_end_master,
        probe=_see_master,
        takes_out=False,
    ),
    Kind(
        kind="cdu.valve_feedback_frozen",
        text="The valve moves, and its position is told as it was; it shows once the valve has moved.",
        parameters=Nothing,
        targets=("cdu",),
        inject=lambda place, _: place.rig.world.sicken(place.target, "coolant.valve", Freeze()),
        lift=lambda place, _: place.rig.world.cure(place.target, "coolant.valve"),
        probe=_see_frozen_valve,
        takes_out=False,
        danger="telemetry",
        layers=SENSOR,
        shows_within=30.0,
    ),
    Kind(
        kind="cdu.sensor_alarm",
        text="A CDU warns of one of its own sensors, whose value goes on reading normal.",
        parameters=SensorAlarm,
        targets=("cdu",),
        inject=_warn,
        lift=_clear_warning,
        probe=_see_warning,
        takes_out=False,
        danger="telemetry",
        layers=WIRE,
    ),
)
