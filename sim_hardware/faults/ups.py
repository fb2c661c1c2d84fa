"""Faults of UPSes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from sim_hardware.faults.kind import Kind, Nothing, Parameters, about, give, lift
from sim_hardware.faults.place import Place
from sim_hardware.faults.probing import combine, differs, sees
from sim_hardware.faults.reading import read_nut
from sim_hardware.faults.views import number, nut, nut_flags, register
from sim_hardware.plant.power import orders
from sim_hardware.plant.power.figures import POWER_FACTOR, TOLERANCE

Part = Literal["battery", "inverter", "transfer", "earth", "charger"]


class RuntimeLie(Parameters, frozen=True):
    """Of a lie."""

    seconds: Annotated[float, about("claimed runtime", "s", 0.0, 80_000.0)] = 1800.0


class StuckFlag(Parameters, frozen=True):
    """Of a flag that is stuck."""

    flag: Annotated[
        Literal["OB", "LB", "RB", "CHRG", "DISCHRG", "BYPASS", "CAL", "TEST", "OFF", "FSD", "OVER", "TRIM", "BOOST", "ALARM"],
        about("which status flag is told all the time", "text"),
    ] = "CAL"


class Aged(Parameters, frozen=True):
    """Of a battery."""

    share: Annotated[float, about("share of its rated energy that it holds", "1", 0.02, 0.9)] = 0.3


class PhaseLoad(Parameters, frozen=True):
    """Of load on one phase."""

    phase: Annotated[Literal["L1", "L2", "L3"], about("on which phase", "text")] = "L1"
    watts: Annotated[float, about("additional load", "W", 500.0, 100_000.0)] = 3000.0


def _modbus(place: Place) -> str:
    return f"{place.target}/modbus"


def _fail(part: Part, failed: bool) -> Callable[..., orders.FailUps]:
    return lambda place, *_: orders.FailUps(place.target, part, failed)


def _break(name: str, text: str, part: Part, flag: str, takes_out: bool) -> Kind[Any]:
    return Kind(
        kind=name,
        text=text,
        parameters=Nothing,
        targets=("ups",),
        inject=give(_fail(part, failed=True)),
        lift=lift(_fail(part, failed=False)),
        probe=sees(nut_flags, lambda flags, _: flag in flags),
        takes_out=takes_out,
        danger="physical",
    )


def _set_mode(place: Place, mode: orders.UpsMode) -> None:
    place.remember("mode", place.rig.world.truth(place.target, "ups.mode"))
    place.order(orders.SetUpsMode(place.target, mode))


def _restore_mode(place: Place, _: Nothing) -> None:
    before = place.recall("mode")
    place.forget("mode")
    if before in ("normal", "eco", "bypass", "off"):
        place.order(orders.SetUpsMode(place.target, before))


def _switch(name: str, text: str, mode: orders.UpsMode) -> Kind[Any]:
    return Kind(
        kind=name,
        text=text,
        parameters=Nothing,
        targets=("ups",),
        inject=lambda place, _: _set_mode(place, mode),
        lift=_restore_mode,
        probe=sees(register("ups.mode", _modbus), lambda shown, _: shown == mode),
        takes_out=False,
    )


def _test(name: str, text: str, kind: Literal["selftest", "calibration"], flag: str) -> Kind[Any]:
    def begin(place: Place, _: Nothing) -> None:
        place.order_if_possible(orders.StopTest(place.target))
        place.order(orders.StartTest(place.target, kind))

    return Kind(
        kind=name,
        text=text,
        parameters=Nothing,
        targets=("ups",),
        inject=begin,
        lift=lambda place, _: place.order_if_possible(orders.StopTest(place.target)),
        probe=sees(nut_flags, lambda flags, _: flag in flags),
        takes_out=False,
    )


async def _see_stuck_switch(place: Place, _: Nothing) -> bool:
    """It shows when the switch is wanted: no output beside good input, or still on line though the input is bad."""
    mode, flags = await register("ups.mode", _modbus)(place), await nut_flags(place)
    if await nut("input.voltage")(place) < (1.0 - TOLERANCE) * place.rig.world.rack.sim.power.volts:
        return "OL" in flags and mode in ("normal", "eco")
    return mode != "off" and await nut("output.voltage")(place) < 1.0


def _is_loaded(before: tuple[float, ...], now: tuple[float, ...], parameters: PhaseLoad) -> bool:
    """Half of what is expected, %, on that phase."""
    at, rated = ("L1", "L2", "L3").index(parameters.phase), now[3]
    return now[at] - before[at] > 50.0 * parameters.watts / POWER_FACTOR / (rated / 3.0)


async def _see_lie(place: Place, parameters: RuntimeLie) -> bool:
    return await read_nut(place.rig, place.short, "battery.runtime") == f"{parameters.seconds:.0f}"


_loads = combine(*(number(f"ups.load.{phase}", _modbus) for phase in ("L1", "L2", "L3")), number("ups.rated_va", _modbus))


def _stick(place: Place, flag: str) -> None:
    _unstick(place)
    place.replace("flag", flag)
    place.order(orders.StickFlag(place.target, flag, stuck=True))


def _unstick(place: Place) -> None:
    before = place.recall("flag")
    if before:
        place.order(orders.StickFlag(place.target, before, stuck=False))
    place.forget("flag")


def _load(place: Place, parameters: PhaseLoad) -> None:
    _unload(place)
    place.replace("phase", parameters.phase)
    place.order(orders.AddLoad(place.target, parameters.phase, parameters.watts))


def _unload(place: Place) -> None:
    before = place.recall("phase")
    if before:
        place.order(orders.AddLoad(place.target, before, 0.0))
    place.forget("phase")


KINDS: tuple[Kind[Any], ...] = (
    _break("ups.battery_dead", "The battery string is open.", "battery", "RB", takes_out=True),
    _break("ups.inverter_fail", "The inverter fails.", "inverter", "ALARM", takes_out=True),
    _break("ups.earth_fault", "A battery cell leaks to earth.", "earth", "ALARM", takes_out=False),
    _break("ups.charger_fail", "The charger fails.", "charger", "ALARM", takes_out=False),
    Kind(
        kind="ups.static_switch_fail",
        text="The static transfer switch stays where it is; it shows when it is wanted.",
        parameters=Nothing,
        targets=("ups",),
        inject=give(_fail("transfer", failed=True)),
        lift=lift(_fail("transfer", failed=False)),
        probe=_see_stuck_switch,
        takes_out=False,
        danger="physical",
    ),
    Kind(
        kind="ups.battery_low",
        text="The battery has aged: it holds less, and what it held beyond that is gone until it is charged again.",
        parameters=Aged,
        targets=("ups",),
        inject=give(lambda place, parameters: orders.AgeBattery(place.target, parameters.share)),
        lift=lift(lambda place: orders.AgeBattery(place.target, 1.0)),
        probe=differs(nut("battery.runtime"), lambda before, now, parameters: now < before * (1.0 + parameters.share) / 2.0),
        takes_out=False,
        undoable=False,
        danger="physical",
    ),
    Kind(
        kind="ups.runtime_lie",
        text="A UPS claims a runtime, whatever it has.",
        parameters=RuntimeLie,
        targets=("ups",),
        inject=give(lambda place, parameters: orders.LieRuntime(place.target, parameters.seconds)),
        lift=lift(lambda place: orders.LieRuntime(place.target, None)),
        probe=_see_lie,
        takes_out=False,
    ),
    Kind(
        kind="ups.flag_stuck",
        text="A status flag is told whether or not it is so.",
        parameters=StuckFlag,
        targets=("ups",),
        inject=lambda place, parameters: _stick(place, parameters.flag),
        lift=lambda place, _: _unstick(place),
        probe=sees(nut_flags, lambda flags, parameters: parameters.flag in flags),
        takes_out=False,
    ),
    _test("ups.calibration", "A calibration discharges the battery to its low mark, on good mains.", "calibration", "CAL"),
    _test("ups.selftest", "A self-test of 10 s: the load hangs on the battery although the mains are good.", "selftest", "TEST"),
    _switch("ups.eco", "A UPS runs in ECO mode: its load hangs on the mains until it transfers.", "eco"),
    _switch("ups.bypass", "A UPS is in bypass: there is no ride-through.", "bypass"),
    Kind(
        kind="ups.phase_load",
        text="One phase of a UPS carries more.",
        parameters=PhaseLoad,
        targets=("ups",),
        inject=_load,
        lift=lambda place, _: _unload(place),
        probe=differs(_loads, _is_loaded),
        takes_out=False,
        danger="physical",
    ),
)
