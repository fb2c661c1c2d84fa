"""The plugin's sensors against Debian's upsd and dummy-ups: recordings, an outage, a driver that dies, orders."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

import supernoded_nut
from supernoded.clock import SystemClock
from supernoded.model import Reading
from supernoded.parts import Source
from supernoded.plugin import Node, Sensor, WireError
from supernoded.topology import Topology
from supernoded.topology.site import Ups
from supernoded.wire import Pen
from supernoded.wire.system import SystemWires
from supernoded_nut.place import Place
from supernoded_nut.recorded import read_nut
from supernoded_nut.server import NutServer, open_server
from supernoded_nut.settings import NutSettings, ServerSettings
from supernoded_nut.words import RefusalError
from tests.protocol.upsd import PATIENCE, Upsd

OUTAGE = """\
ups.status: OL CHRG
battery.charge: 100
input.voltage: 230.4
TIMER 1
ups.status: OB DISCHRG
battery.charge: 61
input.voltage: 0
TIMER 1
ups.status: OB DISCHRG LB
battery.charge: 9
TIMER 1
"""
Shown = dict[str, Reading]  # by quantity


@pytest.fixture
async def upsd(tmp_path: Path) -> AsyncIterator[Upsd]:
    folder = tmp_path / "nut"
    folder.mkdir()
    server = Upsd(folder)
    yield server
    await server.stop()


@pytest.fixture
async def wires() -> AsyncIterator[SystemWires]:
    wires = SystemWires(Pen(lambda _: None))
    yield wires
    await wires.close()


def make_node(node: Node, wires: SystemWires, upsd: Upsd, *devices: str) -> Node:
    """A node with a UPS for each device, on real wires and time."""
    ups = tuple(Ups(name=name, wire=f"nut://127.0.0.1:{upsd.port}/{name}") for name in devices)
    return replace(node, topology=Topology(ups=ups), wires=wires, clock=SystemClock())


async def read(sensor: Sensor) -> Shown:
    return {reading.quantity: reading for reading in await sensor.read()}


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


async def test_every_recording_comes_through_as_it_is_read(recordings: Path, upsd: Upsd, wires: SystemWires, supernoded_node: Node) -> None:
    files = sorted((recordings / "nut-ddl").glob("*.dev"))
    assert len(files) >= 9
    for number, file in enumerate(files):
        upsd.add(f"d{number}", f"d{number}.dev", file.read_text(errors="replace"))
    await upsd.start()
    node = make_node(supernoded_node, wires, upsd, *(f"d{number}" for number in range(len(files))))
    sensors = supernoded_nut.supernoded_sensors(NutSettings(), node)
    for number, (file, sensor) in enumerate(zip(files, sensors, strict=True)):
        found = await wait_for(sensor, linked("ok"))
        text = file.read_text(errors="replace").replace("device.type: pdu", "").replace("ups.type: pdu", "")
        wanted = {reading.quantity: reading for reading in read_nut(Source(name=f"d{number}", data=text.encode(), at=0.0))}
        assert {quantity: found[quantity].value for quantity in wanted} == {key: reading.value for key, reading in wanted.items()}, file
        assert {quantity: found[quantity].note for quantity in wanted} == {key: reading.note for key, reading in wanted.items()}, file


async def test_an_outage_is_seen_from_end_to_end(upsd: Upsd, wires: SystemWires, supernoded_node: Node) -> None:
    upsd.add("A", "a.seq", OUTAGE)
    await upsd.start()
    (sensor,) = supernoded_nut.supernoded_sensors(NutSettings(), make_node(supernoded_node, wires, upsd, "A"))
    await wait_for(sensor, has("ol", "chrg"))
    on_battery = await wait_for(sensor, has("ob", "dischrg"))
    assert (on_battery["ups.link"].value, on_battery["ups.charge"].value, on_battery["ups.input_voltage"].value) == ("ok", 61.0, 0.0)
    low = await wait_for(sensor, has("ob", "dischrg", "lb"))
    assert low["ups.charge"].value == 9.0


async def test_no_driver_a_start_and_stale_data_are_states(upsd: Upsd, wires: SystemWires, supernoded_node: Node) -> None:
    upsd.add("A", "a.dev", "ups.status: OL\nbattery.charge: 77\n")
    await upsd.start()
    (sensor,) = supernoded_nut.supernoded_sensors(NutSettings(), make_node(supernoded_node, wires, upsd, "A"))
    await wait_for(sensor, linked("ok"))
    upsd.processes["A"].send_signal(signal.SIGSTOP)
    stale = await wait_for(sensor, linked("stale"))
    assert (stale["ups.status"].value, stale["ups.charge"].value) == (None, None)
    assert "DATA-STALE" in stale["ups.charge"].note
    await upsd.end("A")
    gone = await wait_for(sensor, linked("no-driver"))
    assert "DRIVER-NOT-CONNECTED" in gone["ups.charge"].note
    await upsd.start_driver("A")
    assert (await wait_for(sensor, linked("ok")))["ups.charge"].value == 77.0


async def test_a_server_that_goes_is_silent_until_it_is_back(upsd: Upsd, wires: SystemWires, supernoded_node: Node) -> None:
    upsd.add("A", "a.dev", "ups.status: OL\n")
    await upsd.start()
    (sensor,) = supernoded_nut.supernoded_sensors(NutSettings(), make_node(supernoded_node, wires, upsd, "A"))
    assert (await read(sensor))["ups.link"].value in {"stale", "no-driver", "ok"}
    upsd.processes["upsd"].send_signal(signal.SIGSTOP)
    hung = await read(sensor)
    assert (hung["ups.link"].value, hung["ups.status"].value) == ("silent", None)
    assert "no answer" in hung["ups.status"].note
    upsd.processes["upsd"].send_signal(signal.SIGCONT)
    await wait_for(sensor, lambda found: found["ups.link"].value != "silent")
    await upsd.end("upsd")
    assert (await read(sensor))["ups.link"].value == "silent"


def open_client(upsd: Upsd, node: Node, password_file: Path) -> NutServer:
    login = ServerSettings(user="admin", password_file=str(password_file), insecure=True)
    return open_server(Place("127.0.0.1", upsd.port), NutSettings(servers={f"127.0.0.1:{upsd.port}": login}), node)


async def test_orders_are_let_in_tracked_and_refused(upsd: Upsd, wires: SystemWires, supernoded_node: Node, tmp_path: Path) -> None:
    upsd.add("A", "a.dev", "ups.status: OL\nups.id: old\n")
    await upsd.start()
    node = make_node(supernoded_node, wires, upsd, "A")
    (sensor,) = supernoded_nut.supernoded_sensors(NutSettings(), node)
    await wait_for(sensor, linked("ok"))
    (tmp_path / "secret").write_text("secret\n")
    client = open_client(upsd, node, tmp_path / "secret")
    await wires.stream(f"tcp://127.0.0.1:{upsd.port}").close()  # the sensor has opened it without a login
    assert await client.list_devices() == {"A": "Description unavailable"}
    assert (await client.list_settings("A"))["ups.id"] == "old"
    commands = await client.list_commands("A")
    assert "load.off" in commands
    await client.set_variable("feed/A", "A", "ups.id", "row 7, west")
    async with asyncio.timeout(PATIENCE):
        while await client.get_variable("A", "ups.id") != "row 7, west":
            await asyncio.sleep(0.02)
    with pytest.raises(RefusalError, match="CMD-NOT-SUPPORTED"):
        await client.command("feed/A", "A", "outlet.1.load.off")
    with pytest.raises(RefusalError, match="VAR-NOT-SUPPORTED"):
        await client.set_variable("feed/A", "A", "ups.colour", "red")
    (tmp_path / "secret").write_text("wrong\n")
    await wires.stream(f"tcp://127.0.0.1:{upsd.port}").close()
    with pytest.raises(RefusalError, match="ACCESS-DENIED; look at user and password_file"):
        await client.set_variable("feed/A", "A", "ups.id", "new")
    (other,) = supernoded_nut.supernoded_sensors(NutSettings(), make_node(supernoded_node, wires, upsd, "B"))
    with pytest.raises(WireError, match="UNKNOWN-UPS; the server has A: correct the name"):
        await other.read()
