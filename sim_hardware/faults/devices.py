"""Faults of the answering of devices."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from sim_hardware.faults.asking import ask_freshness, ask_name, is_told_stale, obeys
from sim_hardware.faults.kind import WIRE, Act, Danger, Kind, Nothing, Parameters, Probe, about
from sim_hardware.faults.place import Place
from sim_hardware.faults.probing import hangs, stands_still
from sim_hardware.faults.reading import LIMIT, ClosedError, GarbledError, NoAnswerError, RefusedError

_SECOND = 1.1  # s: Redfish tells whole seconds
_TRIES = 12  # questions, so that of a tenth of garbled answers one is seen in 7 of 10 probes


class Delay(Parameters, frozen=True):
    """Of answers."""

    seconds: Annotated[float, about("before each answer", "s", 0.05, 60.0)] = 0.4


class Garbled(Parameters, frozen=True):
    """Of answers."""

    share: Annotated[float, about("share of answers with a changed byte", "1", 0.02, 1.0)] = 0.5


def _set(name: str, value: object) -> Act[Any]:
    return lambda place, _: setattr(place.rig.impairment(place.target), name, value)


async def _see_refusal(place: Place, _: Nothing) -> bool:
    """No connection; where there are none, silence."""
    try:
        await ask_name(place)
    except (ClosedError, NoAnswerError):
        return True
    return False


async def _see_delay(place: Place, parameters: Delay) -> bool | None:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    try:
        await ask_name(place)
    except NoAnswerError:
        return True if parameters.seconds > LIMIT / 2.0 else None
    return loop.time() - begun >= 0.9 * parameters.seconds


async def _see_garbled(place: Place, _: Garbled) -> bool:
    """An answer that makes no sense, or is not what it was at first."""
    for _try in range(_TRIES):
        try:
            now = await ask_name(place)
        except (GarbledError, RefusedError, NoAnswerError, ClosedError):
            return True
        if now != place.remember("name", now):
            return True
    return False


async def _see_stale(place: Place, _: Nothing) -> bool | None:
    told = await is_told_stale(place)
    if told is not None:
        return told
    return await stands_still(place, ask_freshness, _SECOND)


async def _see_idle(place: Place, _: Nothing) -> bool:
    return not await obeys(place)


def _impair(
    name: str,
    text: str,
    field: str,
    value: object,
    well: object,
    probe: Probe[Any],
    parameters: type[Parameters] = Nothing,
    danger: Danger = "device",
    takes_out: bool = False,
) -> Kind[Any]:
    def inject(place: Place, given: Any) -> None:
        set_to = value if parameters is Nothing else getattr(given, str(value))
        _set(field, set_to)(place, given)

    return Kind(
        kind=name,
        text=text,
        parameters=parameters,
        targets=("device",),
        inject=inject,
        lift=_set(field, well),
        probe=probe,
        takes_out=takes_out,
        danger=danger,
        layers=WIRE,
        shows_within=3.0,
    )


KINDS: tuple[Kind[Any], ...] = (
    _impair("device.silent", "A device takes requests and answers none.", "silent", True, False, hangs(ask_name), takes_out=True),
    _impair("device.refusing", "A device takes no connection.", "refusing", True, False, _see_refusal, takes_out=True),
    _impair("device.slow", "A device answers late.", "delay_s", "seconds", 0.0, _see_delay, Delay),
    _impair("device.garbled", "A device answers with changed bytes.", "garbled", "share", 0.0, _see_garbled, Garbled),
    _impair("device.stale", "The values of a device are old.", "stale", True, False, _see_stale, danger="telemetry"),
    _impair("device.idle_orders", "A device acknowledges orders and does nothing.", "idle_orders", True, False, _see_idle),
)
