"""Pathologies of any sensor. Targets are `SUBJECT:QUANTITY`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from msgspec import Meta

from sim_hardware.faults.kind import SENSOR, Kind, Nothing, Parameters, about
from sim_hardware.faults.place import Place
from sim_hardware.faults.probing import stands_still
from sim_hardware.faults.reading import ReadingError
from sim_hardware.faults.showing import read_sensor
from sim_hardware.pathology import Absent, Drift, Freeze, Late, NotANumber, Pathology, Swap, UnitSlip
from sim_hardware.plant.site import sensors
from sim_hardware.plant.words import OrderError, UnknownSensorError, Value

_CLOSE = 1e-3  # relative; what devices round away is less


class FrozenAt(Parameters, frozen=True):
    """Of a frozen sensor."""

    value: Annotated[
        Annotated[float, Meta(ge=-1e9, le=1e9)] | None,
        about("what it shows, in its own unit; none: what it showed when it froze", "of the sensor"),
    ] = None


class DriftRate(Parameters, frozen=True):
    """Of a drifting sensor."""

    per_hour: Annotated[float, about("so much an hour, in its own unit", "of the sensor / h", -1e7, 1e7)] = 3600.0


class OtherUnit(Parameters, frozen=True):
    """Of a slipped unit."""

    into: Annotated[Literal["fahrenheit", "milli"], about("what it shows: Fahrenheit for Celsius, or a thousandfold", "text")] = (
        "fahrenheit"
    )


class OtherSubject(Parameters, frozen=True):
    """Of swapped sensors."""

    other: Annotated[str, about("whose value it shows; empty: that of the next of its kind", "text")] = ""


class Lateness(Parameters, frozen=True):
    """Of a late sensor."""

    seconds: Annotated[float, about("so late", "s", 0.5, 600.0)] = 30.0


def _name(place: Place) -> tuple[str, str]:
    subject, _, quantity = place.target.partition(":")
    return subject, quantity


async def _read(place: Place) -> Value:
    return await read_sensor(place.rig, *_name(place))


async def _read_number(place: Place) -> float:
    value = await _read(place)
    if not isinstance(value, float | int):
        raise ReadingError(f"{place.target}: shows {value!r}, no number")
    return float(value)


def _sicken(place: Place, pathology: Pathology) -> None:
    try:
        place.rig.world.sicken(*_name(place), pathology)
    except UnknownSensorError as error:
        raise OrderError(str(error)) from error


def _cure(place: Place, _: object) -> None:
    place.rig.world.cure(*_name(place))


def _find_other(place: Place, other: str) -> str:
    """The next subject that has such a sensor; after the last comes the first. Raises OrderError."""
    if other:
        return other
    subject, quantity = _name(place)
    known = place.recall("other")
    if isinstance(known, str):
        return known
    alike = [sensor.subject for sensor in sensors(place.rig.world.site) if sensor.quantity == quantity]
    if len(alike) < 2 or subject not in alike:
        raise OrderError(f"{place.target}: nothing else has such a sensor; name the other subject")
    return place.remember("other", alike[(alike.index(subject) + 1) % len(alike)])


async def _see_frozen(place: Place, parameters: FrozenAt) -> bool | None:
    """At its value, or still though it is known to move."""
    if parameters.value is None:
        return await stands_still(place, _read)
    return _is_close(await _read_number(place), parameters.value)


def _is_close(one: float, other: float) -> bool:
    return abs(one - other) <= max(0.06, _CLOSE * abs(other))  # registers of 0.1


async def _see_nothing(place: Place, _: Nothing) -> bool:
    return await _read(place) is None


def _drift(place: Place, parameters: DriftRate) -> None:
    place.replace("since", place.rig.world.now())
    _sicken(place, Drift(parameters.per_hour))


async def _see_drift(place: Place, parameters: DriftRate) -> bool:
    """Away from what it was at first, by half of what it should be by now."""
    now = await _read_number(place)
    before = place.remember("before", now)
    elapsed = place.rig.world.now() - (place.recall("since") or place.rig.world.now())
    expected = parameters.per_hour * elapsed / 3600.0
    return abs(expected) > 0.1 and (now - before) / expected > 0.5


async def _see_other_unit(place: Place, parameters: OtherUnit) -> bool:
    """Nearer to the other unit of what it was at first than to that."""
    now = await _read_number(place)
    before = place.remember("before", now)
    slipped = before * 1.8 + 32.0 if parameters.into == "fahrenheit" else before * 1000.0
    return abs(now - slipped) < abs(now - before)


async def _see_swap(place: Place, parameters: OtherSubject) -> bool:
    """It shows what the other does, which was something else at first."""
    subject, quantity = _find_other(place, parameters.other), _name(place)[1]
    now = await _read(place), await read_sensor(place.rig, subject, quantity)
    before = place.remember("before", now)
    return before[0] != before[1] and now[0] == now[1] != before[0]


async def _see_late(place: Place, _: Lateness) -> bool | None:
    """For as long as it is late it stands still at first; later on its bytes alone do not tell."""
    return await stands_still(place, _read)


def _pathology(make: Callable[..., Pathology]) -> Callable[[Place, Any], None]:
    return lambda place, parameters: _sicken(place, make(place, parameters))


def _describe(name: str, text: str, parameters: type[Parameters], inject: Any, probe: Any, shows_within: float = 3.0) -> Kind[Any]:
    return Kind(
        kind=name,
        text=text,
        parameters=parameters,
        targets=("sensor",),
        inject=inject,
        lift=_cure,
        probe=probe,
        takes_out=False,
        danger="telemetry",
        layers=SENSOR,
        shows_within=shows_within,
    )


KINDS: tuple[Kind[Any], ...] = (
    _describe(
        "sensor.freeze",
        "A sensor shows the same for ever.",
        FrozenAt,
        _pathology(lambda _, parameters: Freeze(parameters.value)),
        _see_frozen,
    ),
    _describe("sensor.nan", "A sensor shows no number.", Nothing, _pathology(lambda *_: NotANumber()), _see_nothing),
    _describe("sensor.absent", "A sensor is not there.", Nothing, _pathology(lambda *_: Absent()), _see_nothing),
    _describe("sensor.drift", "A sensor goes away from the truth by so much an hour.", DriftRate, _drift, _see_drift, 10.0),
    _describe(
        "sensor.unit_slip",
        "A sensor shows another unit.",
        OtherUnit,
        _pathology(lambda _, parameters: UnitSlip(parameters.into)),
        _see_other_unit,
    ),
    _describe(
        "sensor.swap",
        "A sensor shows what belongs to another subject.",
        OtherSubject,
        _pathology(lambda place, parameters: Swap(_find_other(place, parameters.other))),
        _see_swap,
    ),
    _describe(
        "sensor.late",
        "A sensor shows what was so long ago; it is seen by standing still at first.",
        Lateness,
        _pathology(lambda _, parameters: Late(parameters.seconds)),
        _see_late,
    ),
)
