"""Faults of what runs through a CDU: primary water, coolant, and the air around it."""

from __future__ import annotations

from typing import Annotated, Any

from sim_hardware.faults.kind import Kind, Nothing, Parameters, about, give, lift
from sim_hardware.faults.place import Place
from sim_hardware.faults.probing import combine, differs, sees
from sim_hardware.faults.reading import read_register
from sim_hardware.faults.restoring import make_restore
from sim_hardware.faults.views import number
from sim_hardware.plant.cooling import orders

_LOW = 20.0  # %: below it pumps draw air
_MOST_PUMPS = 8


class PrimaryShift(Parameters, frozen=True):
    """Of the primary water."""

    kelvin: Annotated[float, about("so much warmer than designed", "K", -10.0, 30.0)] = 5.0
    kilopascals: Annotated[float, about("so much higher pressure than designed", "kPa", -140.0, 300.0)] = 0.0


class Fouling(Parameters, frozen=True):
    """Of an exchanger."""

    share: Annotated[float, about("share of its UA that is lost", "1", 0.05, 0.9)] = 0.8


class Level(Parameters, frozen=True):
    """Of a reservoir."""

    percent: Annotated[float, about("level that is left", "%", 0.0, 19.0)] = 10.0


class Air(Parameters, frozen=True):
    """In the coolant."""

    share: Annotated[float, about("share of the coolant that is air", "1", 0.01, 0.5)] = 0.1


class DewPoint(Parameters, frozen=True):
    """Of a room."""

    celsius: Annotated[float, about("dew point of the room", "C", -20.0, 35.0)] = 21.0


_note_level, _refill = make_restore("level", "coolant.level", lambda place, level: orders.DrainLevel(place.target, level))
_note_dew_point, _dry = make_restore("dew point", "air.dew_point", lambda _, celsius: orders.Humidify(celsius))


def _drain(place: Place, parameters: Level) -> None:
    _note_level(place)
    place.order(orders.DrainLevel(place.target, parameters.percent))


def _humidify(place: Place, parameters: DewPoint) -> None:
    _note_dew_point(place)
    place.order(orders.Humidify(parameters.celsius))


def _is_shifted(before: tuple[float, ...], now: tuple[float, ...], parameters: PrimaryShift) -> bool:
    """Half of the way, in that which was shifted."""
    wanted = (parameters.kelvin, parameters.kilopascals)
    return any(shift and (after - first) / shift > 0.5 for shift, first, after in zip(wanted, before, now, strict=True))


async def _read_lift(place: Place) -> float:
    """Pressure difference over the square of speed: the same at every speed, as long as there is no air in the pumps."""
    speeds = []
    for pump in range(_MOST_PUMPS):
        subject = f"{place.target}/pump{pump}"
        if not await _has(place, subject):
            break
        speeds.append(await read_register(place.rig, place.target, subject, "pump.speed"))
    fastest = max((speed for speed in speeds if isinstance(speed, float)), default=0.0)
    kilopascals = await number("coolant.pressure_difference")(place)
    return kilopascals / max(fastest, 1.0) ** 2


async def _has(place: Place, subject: str) -> bool:
    return await read_register(place.rig, place.target, subject, "pump.speed") is not None


async def _read_duty(place: Place) -> float:
    """Heat for each kelvin between return and primary water, for each percent of the valve: less is had of a fouled exchanger."""
    heat, back = await number("coolant.heat")(place), await number("coolant.return_temperature")(place)
    cold, valve = await number("coolant.primary_temperature")(place), await number("coolant.valve")(place)
    return heat / max(back - cold, 0.1) / max(valve, 0.1)


async def _see_dew_point(place: Place, parameters: DewPoint) -> bool:
    return abs(await number("air.dew_point")(place) - parameters.celsius) < 0.1


KINDS: tuple[Kind[Any], ...] = (
    Kind(
        kind="cdu.primary_lost",
        text="There is no primary water.",
        parameters=Nothing,
        targets=("cdu",),
        inject=give(lambda place, _: orders.LosePrimary(place.target, lost=True)),
        lift=lift(lambda place: orders.LosePrimary(place.target, lost=False)),
        probe=sees(number("coolant.primary_pressure"), lambda kilopascals, _: kilopascals < 5.0),
        danger="physical",
    ),
    Kind(
        kind="cdu.primary_shift",
        text="The primary water is warmer, or its pressure higher, than designed.",
        parameters=PrimaryShift,
        targets=("cdu",),
        inject=give(lambda place, parameters: orders.ShiftPrimary(place.target, parameters.kelvin, parameters.kilopascals)),
        lift=lift(lambda place: orders.ShiftPrimary(place.target)),
        probe=differs(combine(number("coolant.primary_temperature"), number("coolant.primary_pressure")), _is_shifted),
        takes_out=False,
        danger="physical",
    ),
    Kind(
        kind="cdu.fouling",
        text="The heat exchanger has lost a part of its UA: the valve stands wider open for the same heat.",
        parameters=Fouling,
        targets=("cdu",),
        inject=give(lambda place, parameters: orders.Foul(place.target, parameters.share)),
        lift=lift(lambda place: orders.Foul(place.target, 0.0)),
        probe=differs(_read_duty, lambda before, now, parameters: now < before * (1.0 - parameters.share / 3.0)),
        takes_out=False,
        danger="physical",
        shows_within=60.0,
        ends_within=120.0,
    ),
    Kind(
        kind="cdu.low_level",
        text="The reservoir is low, so that the pumps draw air.",
        parameters=Level,
        targets=("cdu",),
        inject=_drain,
        lift=_refill,
        probe=sees(number("coolant.level"), lambda percent, _: percent < _LOW),
        takes_out=False,
        danger="physical",
    ),
    Kind(
        kind="cdu.air",
        text="There is air in the coolant: the pumps lift less.",
        parameters=Air,
        targets=("cdu",),
        inject=give(lambda place, parameters: orders.AdmitAir(place.target, parameters.share)),
        lift=lift(lambda place: orders.AdmitAir(place.target, 0.0)),
        probe=differs(_read_lift, lambda before, now, parameters: now < before * (1.0 - parameters.share)),
        takes_out=False,
        danger="physical",
    ),
    Kind(
        kind="room.humid",
        text="The dew point of the room around the CDUs is another.",
        parameters=DewPoint,
        targets=("cdu",),
        inject=_humidify,
        lift=_dry,
        probe=_see_dew_point,
        takes_out=False,
        danger="physical",
    ),
)
