"""Faults of links: optics, cables, error rates."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated, Any

from sim_hardware.faults.kind import Kind, Nothing, Parameters, about, give, lift
from sim_hardware.faults.place import Place
from sim_hardware.faults.probing import COUNTED_S, Read, counts, differs, sees
from sim_hardware.faults.reading import ReadingError
from sim_hardware.faults.views import find_port, hca_counter, page_number, port_number, port_page
from sim_hardware.plant.links import orders

PORTS = ("port", "nic")


class ErrorRate(Parameters, frozen=True):
    """Of bit errors."""

    rate: Annotated[float, about("bit error rate after correction", "1", 1e-18, 1e-3)] = 1e-9
    over_s: Annotated[float, about("time in which it gets there, along a straight line in its logarithm; 0 is at once", "s", 0.0, 1e6)] = (
        0.0
    )


class Flapping(Parameters, frozen=True):
    """Of a link that flaps."""

    period_s: Annotated[float, about("from one going down to the next", "s", 0.1, 3600.0)] = 2.0
    down_share: Annotated[float, about("share of the period that it is down", "1", 0.01, 0.99)] = 0.2
    times: Annotated[int, about("how often", "1", 1, 1_000_000)] = 1_000_000


class Radius(Parameters, frozen=True):
    """Of a cable."""

    millimetres: Annotated[float, about("bend radius; below 30 it loses light", "mm", 3.0, 60.0)] = 12.0


class Loss(Parameters, frozen=True):
    """Of light."""

    decibels: Annotated[float, about("so much less arrives", "dB", 0.3, 40.0)] = 2.0


class Ageing(Parameters, frozen=True):
    """Of a laser."""

    share: Annotated[float, about("share of its power that is lost", "1", 0.05, 0.95)] = 0.3


class Lanes(Parameters, frozen=True):
    """Of a port."""

    lanes: Annotated[int, about("lanes that are left, of four", "1", 0, 3)] = 2


def _metric(name: str) -> Read[float]:
    return port_number("Transceivers", 0, name)


_received, _sent = _metric("RXInputPowerMilliWatts"), _metric("TXOutputPowerMilliWatts")


async def _rate_corrected(place: Place) -> float:
    """Corrected symbols a second: they follow every error rate, long before one is not corrected."""
    read, loop = port_number("Oem", "Sim", "CorrectableFECErrors"), asyncio.get_running_loop()
    first, begun = await read(place), loop.time()
    await asyncio.sleep(COUNTED_S)
    return (await read(place) - first) / (loop.time() - begun)


def _find_ends(place: Place) -> list[str]:
    """The ports of a cable that have a BMC behind them."""
    ends = place.short.split("--")
    return [end for end in ends if not end.startswith("switch/")]


async def _read_ends(place: Place) -> tuple[float, ...]:
    """What arrives at a cable's ends, mW."""
    found: list[float] = []
    for end in _find_ends(place):
        path = f"{find_port(end)}/Metrics"
        node = end.partition("/")[0]
        read = page_number(_named(f"{node}/bmc"), _named(path), "Transceivers", 0, "RXInputPowerMilliWatts")
        found.append(await read(place))
    if not found:
        raise ReadingError(f"{place.target}: no end of it can be read")
    return tuple(found)


def _named(name: str) -> Callable[[Place], str]:
    return lambda _: name


def _is_darker(before: tuple[float, ...], now: tuple[float, ...], _: Radius) -> bool:
    return any(after < first * 0.95 for first, after in zip(before, now, strict=True))


def _seat(make: Callable[[str], orders.Unplug]) -> Callable[..., orders.Unplug]:
    return lambda place, *_: make(place.target)


KINDS: tuple[Kind[Any], ...] = (
    Kind(
        kind="link.ber_ramp",
        text="A port receives with a bit error rate, at once or along a ramp.",
        parameters=ErrorRate,
        targets=PORTS,
        inject=give(lambda place, parameters: orders.SetErrorRate(place.target, parameters.rate, parameters.over_s)),
        lift=lift(lambda place: orders.SetErrorRate(place.target, None)),
        probe=differs(_rate_corrected, lambda before, now, _: now > 3.0 * before + 100.0),
        takes_out=False,
    ),
    Kind(
        kind="link.flap",
        text="A link goes down and up again and again.",
        parameters=Flapping,
        targets=PORTS,
        inject=give(lambda place, it: orders.Flap(place.target, it.period_s, it.down_share, it.times)),
        lift=lift(lambda place: orders.Flap(place.target, 0.0)),
        probe=counts(hca_counter("counters/link_downed")),
        shows_within=3.0,
    ),
    Kind(
        kind="link.down",
        text="A link is down.",
        parameters=Nothing,
        targets=PORTS,
        inject=give(lambda place, _: orders.CutLink(place.target, cut=True)),
        lift=lift(lambda place: orders.CutLink(place.target, cut=False)),
        probe=sees(port_page("LinkStatus"), lambda status, _: status == "LinkDown"),
        danger="physical",
    ),
    Kind(
        kind="link.switched_off",
        text="A port is switched off by whoever runs it; ended, it is on.",
        parameters=Nothing,
        targets=PORTS,
        inject=give(lambda place, _: orders.SetPort(place.target, up=False)),
        lift=lift(lambda place: orders.SetPort(place.target, up=True)),
        probe=sees(port_page("LinkStatus"), lambda status, _: status == "LinkDown"),
    ),
    Kind(
        kind="link.optics_unplug",
        text="The module of a port is out.",
        parameters=Nothing,
        targets=PORTS,
        inject=give(_seat(lambda port: orders.Unplug(port, absent=True))),
        lift=lift(lambda place: orders.Reseat(place.target)),
        probe=sees(port_page("SFP", "Status", "State"), lambda state, _: state == "Absent"),
        danger="physical",
    ),
    Kind(
        kind="link.loose",
        text="The module of a port is not fully home: its light is low and unsteady.",
        parameters=Nothing,
        targets=PORTS,
        inject=give(_seat(lambda port: orders.Unplug(port, loose=True))),
        lift=lift(lambda place: orders.Reseat(place.target)),
        probe=differs(_received, lambda before, now, _: now < before * 0.9),
        takes_out=False,
        danger="physical",
    ),
    Kind(
        kind="link.bend",
        text="A cable is bent more tightly than it may be.",
        parameters=Radius,
        targets=("cable",),
        inject=give(lambda place, parameters: orders.Bend(place.target, parameters.millimetres)),
        lift=lift(lambda place: orders.Bend(place.target, None)),
        probe=differs(_read_ends, _is_darker),
        takes_out=False,
        danger="physical",
    ),
    Kind(
        kind="link.attenuate",
        text="A port receives less light, as through a dirty connector.",
        parameters=Loss,
        targets=PORTS,
        inject=give(lambda place, parameters: orders.Attenuate(place.target, parameters.decibels)),
        lift=lift(lambda place: orders.Attenuate(place.target, 0.0)),
        probe=differs(_received, lambda before, now, parameters: now < before * 10.0 ** (-parameters.decibels / 20.0)),
        takes_out=False,
        danger="physical",
    ),
    Kind(
        kind="link.laser_aging",
        text="The laser of a port has lost a part of its power, and draws more current.",
        parameters=Ageing,
        targets=PORTS,
        inject=give(lambda place, parameters: orders.AgeLaser(place.target, parameters.share)),
        lift=lift(lambda place: orders.AgeLaser(place.target, 0.0)),
        probe=differs(_sent, lambda before, now, parameters: now < before * (1.0 - parameters.share / 2.0)),
        takes_out=False,
        danger="physical",
    ),
    Kind(
        kind="link.lane_loss",
        text="A port runs on fewer than its four lanes.",
        parameters=Lanes,
        targets=PORTS,
        inject=give(lambda place, parameters: orders.LoseLanes(place.target, parameters.lanes)),
        lift=lift(lambda place: orders.LoseLanes(place.target, 4)),
        probe=sees(port_page("ActiveWidth"), lambda width, parameters: width == parameters.lanes),
        takes_out=False,
    ),
)
