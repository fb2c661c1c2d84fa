"""Faults of mains, feeds, generator, PDUs and outlets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Literal

from sim_hardware.faults.kind import Kind, Nothing, Parameters, about, give, lift
from sim_hardware.faults.place import Place
from sim_hardware.faults.probing import sees
from sim_hardware.faults.reading import ReadingError, RefusedError, pick, read_nut, read_page, read_register
from sim_hardware.faults.targets import list_targets
from sim_hardware.faults.views import page
from sim_hardware.plant.power import figures, orders
from sim_hardware.plant.power.spec import UTILITIES

_PHASES = ("L1", "L2", "L3")
_LOOK_S = 1.0  # between two looks whether a breaker is cold
_USABLE = 1.0 - figures.TOLERANCE


class InputSag(Parameters, frozen=True):
    """Of a sag."""

    depth: Annotated[float, about("share of its voltage that it loses", "1", 0.02, 1.0)] = 1.0
    phase: Annotated[Literal["all", "L1", "L2", "L3"], about("on which phases", "text")] = "all"


def _sag(place: Place, parameters: InputSag) -> orders.Sag:
    phases = _PHASES if parameters.phase == "all" else (parameters.phase,)
    return orders.Sag(place.target, parameters.depth, frozenset(phases))


def _list_fed(place: Place) -> list[str]:
    """The feeds on a utility input: they hang on the inputs in turn."""
    feeds = [feed.removeprefix("feed/") for feed in list_targets(place.rig, "feed")]
    return feeds[UTILITIES.index(place.short) :: len(UTILITIES)]


async def _see_sag(place: Place, parameters: InputSag) -> bool:
    """At the UPS of the feed; where there is none, or it is dark with its input, at the PDUs behind it.

    When all of these are dark, that is a sag too, if any has shown a voltage before. With the generator running it is over for them.
    """
    rack, feeds = place.rig.world.rack, _list_fed(place)
    sources = [partial(_read_input, place, ups.name) for ups in rack.ups if ups.name in feeds]
    sources += [partial(_read_behind, place, pdu.name) for pdu in rack.pdus if pdu.feed in feeds][:2]
    shown = await _find_first(sources)
    if place.remember("shown", shown) is None:
        raise ReadingError(f"{place.target}: nothing behind it shows its voltage")
    return shown is None or shown < rack.sim.power.volts * (1.0 - parameters.depth / 2.0)


async def _find_first(sources: Iterable[Callable[[], Awaitable[float | None]]]) -> float | None:
    """The first voltage that anything shows; None when all are dark."""
    for read in sources:
        with suppress(ReadingError):
            shown = await read()
            if shown is not None:
                return shown
    return None


async def _read_input(place: Place, ups: str) -> float | None:
    shown = await read_nut(place.rig, ups, "input.voltage")
    return None if shown is None else float(shown)


async def _read_behind(place: Place, pdu: str) -> float | None:
    found = pick(await read_page(place.rig, f"pdu/{pdu}/redfish", "PowerEquipment/RackPDUs/1/Sensors/Voltage"), "Reading")
    return None if found is None else float(str(found))


async def _see_no_generator(place: Place, _: Nothing) -> bool:
    """A UPS has waited for it in vain: longer on battery than a start takes, and still without input."""
    rack = place.rig.world.rack
    waited = figures.CONFIRM_S + rack.sim.power.generator_start_s + 3.0
    for ups in rack.ups:
        since = await read_register(place.rig, f"ups/{ups.name}/modbus", f"ups/{ups.name}", "ups.on_battery_s")
        volts = await read_nut(place.rig, ups.name, "input.voltage")
        if isinstance(since, float) and since > waited and volts is not None and float(volts) < rack.sim.power.volts * _USABLE:
            return True
    return False


async def read_outlet(place: Place, outlet: str, key: str) -> object:
    """Something on the page of an outlet, however its maker names it. Raises ReadingError."""
    pdu, _, number = outlet.rpartition("/outlet")
    path = "PowerEquipment/RackPDUs/1/Outlets"
    try:
        found = await read_page(place.rig, f"{pdu}/redfish", f"{path}/A{number}")
    except RefusedError:
        found = await read_page(place.rig, f"{pdu}/redfish", f"{path}/AA{number}")
    value: object = pick(found, key)
    return value


async def _see_emergency(place: Place, _: Nothing) -> bool:
    """Outlets of all PDUs of the feed are off: the first and the last of each."""
    states = [
        await read_outlet(place, f"pdu/{pdu.name}/outlet{outlet.number}", "PowerState")
        for pdu in place.rig.world.rack.pdus
        if pdu.feed == place.short
        for outlet in (*pdu.outlets[:1], *pdu.outlets[-1:])
    ]
    if not states:
        raise ReadingError(f"{place.target}: has no outlets")
    return all(state == "Off" for state in states)


async def _see_swapped(place: Place, _: Nothing) -> bool:
    """The node draws from its outlet on one feed and nothing from the other, though both are on."""
    cords = [
        f"pdu/{pdu.name}/outlet{outlet.number}"
        for pdu in place.rig.world.rack.pdus
        for outlet in pdu.outlets
        if outlet.load == place.target
    ]
    states = [await read_outlet(place, cord, "PowerState") for cord in cords]
    watts = [pick({"cord": await read_outlet(place, cord, "PowerWatts")}, "cord", "Reading") for cord in cords]
    return len(cords) > 1 and all(state == "On" for state in states) and min(watts) < 1.0 < max(watts)


def _name_outlet(place: Place) -> tuple[str, int]:
    return place.owner.removeprefix("pdu/"), place.number


async def _read_state(place: Place) -> object:
    return await read_outlet(place, place.target, "PowerState")


async def _read_lock(place: Place) -> object:
    return await read_outlet(place, place.target, "PowerControlLocked")


def _trip(place: Place, _: Nothing) -> None:
    place.forget("closing")
    place.order(orders.TripBreaker(place.target))


def _close(place: Place, _: Nothing) -> None:
    """By hand, as soon as it is cold enough to stay closed."""
    place.replace("closing", value=True)
    _close_when_cold(place)


def _close_when_cold(place: Place) -> None:
    if not place.recall("closing"):
        return  # it was tripped anew
    heat = place.rig.world.truth(place.target, "breaker.heat")
    if isinstance(heat, float) and heat > figures.BREAKER_HOT:
        asyncio.get_running_loop().call_later(_LOOK_S, _close_when_cold, place)
        return
    place.forget("closing")
    place.order(orders.ResetBreaker(place.target))


_breaker = page(lambda place: f"pdu/{place.short}/redfish", lambda _: "PowerEquipment/RackPDUs/1/Mains/AC1", "BreakerState")

KINDS: tuple[Kind[Any], ...] = (
    Kind(
        kind="power.input_sag",
        text="A utility input loses a part of its voltage, or all of it.",
        parameters=InputSag,
        targets=("utility",),
        inject=give(_sag),
        lift=lift(lambda place: orders.Sag(place.target, 0.0)),
        probe=_see_sag,
        danger="physical",
        shows_within=1.0,
        ends_within=1.0,
    ),
    Kind(
        kind="power.epo",
        text="The emergency button of a feed is pressed; pulled out again, its outlets still wait for somebody to switch them on.",
        parameters=Nothing,
        targets=("feed",),
        inject=give(lambda place, _: orders.PressEmergencyOff(place.short, pressed=True)),
        lift=lift(lambda place: orders.PressEmergencyOff(place.short, pressed=False)),
        probe=_see_emergency,
        undoable=False,
        danger="physical",
    ),
    Kind(
        kind="power.breaker_trip",
        text="The breaker of a PDU opens as if by overload; ended, it is closed by hand as soon as it is cold.",
        parameters=Nothing,
        targets=("breaker",),
        inject=_trip,
        lift=_close,
        probe=sees(_breaker, lambda state, _: state == "Tripped"),
        danger="physical",
        ends_within=30.0,
    ),
    Kind(
        kind="power.cords_swapped",
        text="Both cords of a node hang on one feed.",
        parameters=Nothing,
        targets=("node",),
        inject=give(lambda place, _: orders.SwapCords(place.target, swapped=True)),
        lift=lift(lambda place: orders.SwapCords(place.target, swapped=False)),
        probe=_see_swapped,
        takes_out=False,
        danger="physical",
    ),
    Kind(
        kind="generator.fail",
        text="The generator does not start, or stops; it shows when the mains are away for longer than a start takes.",
        parameters=Nothing,
        targets=("generator",),
        inject=give(lambda _, __: orders.FailGenerator(failed=True)),
        lift=lift(lambda _: orders.FailGenerator(failed=False)),
        probe=_see_no_generator,
        danger="physical",
        shows_within=20.0,
        ends_within=30.0,
    ),
    Kind(
        kind="outlet.locked",
        text="An outlet is locked out: it stays as it is.",
        parameters=Nothing,
        targets=("outlet",),
        inject=give(lambda place, _: orders.LockOutlet(*_name_outlet(place), locked=True)),
        lift=lift(lambda place: orders.LockOutlet(*_name_outlet(place), locked=False)),
        probe=sees(_read_lock, lambda locked, _: locked is True),
        takes_out=False,
    ),
    Kind(
        kind="outlet.open",
        text="An outlet is off.",
        parameters=Nothing,
        targets=("outlet",),
        inject=give(lambda place, _: orders.SwitchOutlet(*_name_outlet(place), on=False)),
        lift=lift(lambda place: orders.SwitchOutlet(*_name_outlet(place), on=True)),
        probe=sees(_read_state, lambda state, _: state == "Off"),
        danger="physical",
    ),
)
