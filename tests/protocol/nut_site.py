"""A site whose devices are behind Debian's upsd, and what the plugin's sensors make of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import pytest

import supernoded_nut
from supernoded.clock import SystemClock
from supernoded.model import Reading
from supernoded.plugin import Node, Sensor
from supernoded.topology import Topology
from supernoded.topology.site import Outlet, Pdu, Ups
from supernoded.wire.system import SystemWires
from supernoded_nut.settings import NutSettings
from tests.protocol.upsd import PATIENCE, Upsd

Shown = dict[str, Reading]  # by quantity, of the device as a whole


def make_node(node: Node, wires: SystemWires, upsd: Upsd, *devices: str, pdus: Collection[str] = (), outlets: Collection[int] = ()) -> Node:
    """A node with a UPS for each device that is not in `pdus`, on real wires and time; each PDU has these outlets."""
    urls = {name: f"nut://127.0.0.1:{upsd.port}/{name}" for name in devices}
    cords = tuple(Outlet(number=number, load=node.name) for number in outlets)
    site = Topology(
        ups=tuple(Ups(name=name, wire=url) for name, url in urls.items() if name not in pdus),
        pdus=tuple(Pdu(name=name, feed="A", wire=url, outlets=cords) for name, url in urls.items() if name in pdus),
    )
    return replace(node, topology=site, wires=wires, clock=SystemClock())


def make_sensors(node: Node, settings: NutSettings | None = None) -> dict[str, Sensor]:
    """By the name of the device; without settings there is no login."""
    return {sensor.name.rpartition("/")[2]: sensor for sensor in supernoded_nut.supernoded_sensors(settings or NutSettings(), node)}


async def read(sensor: Sensor) -> Shown:
    return {reading.quantity: reading for reading in await sensor.read() if "/outlet" not in reading.subject}


async def wait_for(sensor: Sensor, fits: Callable[[Shown], bool]) -> Shown:
    """Read until it is so."""
    found: Shown = {}
    try:
        async with asyncio.timeout(PATIENCE):
            while not fits(found := await read(sensor)):
                await asyncio.sleep(0.02)
    except TimeoutError:
        pytest.fail(f"it never came to that; the last was {found}")
    return found


def has(*flags: str) -> Callable[[Shown], bool]:
    return lambda found: found["ups.status"].value == frozenset(flags)


def linked(word: str) -> Callable[[Shown], bool]:
    return lambda found: found["ups.link"].value == word


async def wait_for_all(sensor: Sensor, wanted: Sequence[Reading]) -> None:
    """Read until every one of these is told, with the same words where it is not known."""
    asked = {(one.subject, one.quantity): (one.value, one.note) for one in wanted}
    missing: dict[object, object] = {}
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                found = {(one.subject, one.quantity): (one.value, one.note) for one in await sensor.read()}
                missing = {key: (told, found.get(key)) for key, told in asked.items() if found.get(key) != told}
                if not missing:
                    return
                await asyncio.sleep(0.02)
    except TimeoutError:
        pytest.fail(f"{sensor.name}: wanted and told differ in {missing}")
