"""The reflex process itself, on the device paths of simulated lines. What the PDUs were told is what counts."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
import pytest
import serial

import supernoded_modbus
from sim_hardware.bus import serve_pty
from sim_hardware.bus.rtu import encode_frame
from sim_hardware.devices.modbus import SerialDevice, build_site
from sim_hardware.devices.panel import Impairment
from supernoded.clock import SystemClock
from supernoded.errors import WireError
from supernoded.limits import Limits
from supernoded.reflex.__main__ import BAD_SETTINGS
from supernoded.reflex.record import read_firings
from supernoded.testing.memory import MemoryHost
from supernoded.topology import Topology
from supernoded.wire import Node, Pen
from supernoded.wire.reflex import lend_from
from supernoded.wire.system import LINES, Devices, SystemWires
from supernoded_modbus.settings import ModbusSettings
from tests.protocol.reflexes import LOOKS, PATIENCE, Bench, Site

READ_MODEL, READ_MANY = encode_frame(1, bytes.fromhex("03 0000 0008")), encode_frame(1, bytes.fromhex("03 0000 007d"))


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    site = Site()
    site.flag()
    built = build_site(site, str(tmp_path), 1)
    (tmp_path / "state").mkdir()
    feeds = {path: line for path, line in built.lines.items() if "feed" in path}
    async with AsyncExitStack() as stack:
        for path, line in feeds.items():
            await stack.enter_async_context(serve_pty(line, Path(path)))
        devices = [device for device in built.devices if isinstance(device, SerialDevice) and "cdu" not in device.name]
        for device in devices:
            await stack.enter_async_context(device.serve())
        ups = {device.name[4]: device for device in devices if device.name.startswith("ups/")}
        yield Bench(tmp_path, site, feeds, ups)


async def test_both_feeds_shed_every_pdu_once_and_it_is_on_record(bench: Bench) -> None:
    async with bench.running():
        bench.site.flag("A", "B")
        await bench.site.wait(lambda: len(bench.site.list_fired()) >= len(bench.site.list_pdus()))
        await bench.site.wait_looks("A", "B")
        assert bench.site.list_fired() == bench.site.list_pdus()
        told = await bench.ask()
        assert {standing.line: (standing.state, standing.firings) for standing in told.lines} == {"feed-A": ("ok", 1), "feed-B": ("ok", 1)}
    async with bench.running():
        bench.site.flag()
        await bench.site.wait_looks("A", "B")
        bench.site.flag("A", "B")
        await bench.site.wait_looks("A", "B")
        assert await bench.count("held") == 1, "a restart does not shorten the time between two firings"
    [firing] = read_firings(bench.folder / "state" / "reflex.jsonl")
    assert (firing.number, firing.feeds, firing.lines) == (1, ("A", "B"), ("feed-A", "feed-B"))
    assert firing.age_ms <= 2500


@pytest.mark.parametrize("feed", ["A", "B"])
async def test_one_feed_sheds_nothing(bench: Bench, feed: str) -> None:
    async with bench.running():
        bench.site.flag(feed)
        await bench.site.wait_looks("A", "B", count=2 * LOOKS)
        assert bench.site.list_fired() == []


async def test_corrupt_answers_shed_nothing(bench: Bench) -> None:
    async with bench.running():
        bench.ups["B"].unit.impairment = Impairment(garbled=1.0)
        bench.site.flag("A", "B")
        await bench.site.wait_looks("A", "B")
        assert bench.site.list_fired() == []
        standing = next(standing for standing in (await bench.ask()).lines if standing.line == "feed-B")
        assert standing.counts["corrupt"] >= 1
        assert standing.counts["looks_refused"] >= standing.counts["corrupt"]


async def test_a_ups_that_fell_silent_while_flagged_sheds_nothing(bench: Bench) -> None:
    async with bench.running():
        bench.site.flag("A")
        await bench.site.wait_looks("A", "B")
        bench.ups["A"].unit.impairment = Impairment(silent=True)
        async with asyncio.timeout(PATIENCE):
            while next(standing for standing in (await bench.ask()).lines if standing.line == "feed-A").state != "blind":
                await bench.site.wait_looks("B", count=1)
        bench.site.flag("A", "B")
        await bench.site.wait_looks("B")
        assert bench.site.list_fired() == []


async def test_a_process_that_was_stopped_for_too_long_sheds_nothing(bench: Bench) -> None:
    async with bench.running() as process:
        process.send_signal(signal.SIGSTOP)
        bench.site.flag("A", "B")
        await asyncio.to_thread(wait_longer_than, 2.7)
        process.send_signal(signal.SIGCONT)
        await bench.site.wait_looks("A", "B")
        assert bench.site.list_fired() == []
        assert await bench.count("late") == 1


def wait_longer_than(seconds: float) -> None:
    """Real time that passes while the process is stopped: it is what the test is about."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(seconds)
        with pytest.raises(TimeoutError):
            ours.recv(1)


BORROWER = """
import asyncio, sys
from pathlib import Path
from supernoded.wire.pen import Pen
from supernoded.wire.reflex import ReflexLine
async def poll():
    line = ReflexLine("feed-A", Path(sys.argv[1]), Pen(lambda _: None))
    while True:
        await line.exchange(bytes.fromhex(sys.argv[2]), lambda came: slice(0, len(came)), 5.0)
        print("polled", flush=True)
asyncio.run(poll())
"""


async def test_a_daemon_that_dies_in_the_middle_of_a_poll_takes_nothing_with_it(bench: Bench) -> None:
    async with bench.running():
        daemon = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", BORROWER, str(bench.desk), READ_MODEL.hex()),
            stdout=asyncio.subprocess.PIPE,
            stdin=asyncio.subprocess.DEVNULL,
        )
        assert daemon.stdout is not None
        async with asyncio.timeout(PATIENCE):
            assert await daemon.stdout.readline() == b"polled\n"
        daemon.kill()
        await daemon.communicate()
        bench.site.flag("A", "B")
        await bench.site.wait(lambda: bench.site.list_fired() == bench.site.list_pdus())


async def test_polls_are_lent_and_those_that_do_not_fit_are_refused_with_the_arithmetic(bench: Bench) -> None:
    async with bench.running():
        line = bench.borrow("A")
        answer = await line.exchange(READ_MODEL, lambda came: slice(0, len(came)), 5.0)
        assert (answer[:3], len(answer)) == (b"\x01\x03\x10", 21)
        with pytest.raises(WireError, match=r"may take 75 ms .*answer of 255 bytes 22\.14 ms \+ silence 1\.75 ms = 86\.\d\d ms"):
            await line.exchange(READ_MANY, lambda came: slice(0, len(came)))
        with pytest.raises(WireError, match="the only broadcast on feed-A is its own shed"):
            await line.broadcast("feed/A", encode_frame(0, bytes.fromhex("05 0000 0000")))
        await line.broadcast("feed/A", encode_frame(0, bytes.fromhex("05 03e8 ff00")))
        await bench.site.wait(lambda: bool(bench.site.list_fired()))
        assert set(bench.site.list_fired()) == {f"pdu/{pdu.name}" for pdu in bench.site.rack.pdus if pdu.feed == "A"}
        await line.close()


async def test_a_device_plugin_works_its_pdu_over_a_lent_line(bench: Bench) -> None:
    topology = msgspec.convert({"pdus": [{"name": "A1", "feed": "A", "wire": "reflex://feed-A?unit=1&map=pdu"}]}, Topology)
    for quantity, value in (("pdu.model", "Simulated PDU"), ("pdu.voltage", 230.4), ("pdu.armed", False)):
        bench.site.values["pdu/A1", quantity] = value
    async with bench.running():
        wires = SystemWires(Pen(lambda _: None), "modbus", Devices({**LINES, "reflex": lend_from(bench.desk)}))
        node = Node("n0", topology, Limits(), wires, SystemClock(), MemoryHost(), bench.folder)
        sensors = supernoded_modbus.supernoded_sensors(ModbusSettings(), node)
        readings = {reading.quantity: reading for sensor in sensors for reading in await sensor.read()}
        assert (readings["pdu.voltage"].value, readings["pdu.armed"].value) == (230.4, 0)
        assert readings["line.state"].value == "ok"
        await wires.close()


async def test_9600_baud_is_refused_with_the_arithmetic(bench: Bench) -> None:
    settings = bench.write_settings(baud=9600)
    settings.write_text(settings.read_text().replace("deadline_ms = 2500", "deadline_ms = 100"))
    process, ready = await bench.start(settings)
    ready.close()
    _, said = await process.communicate()
    assert process.returncode == BAD_SETTINGS
    assert b"reflex.frames[0] cannot be out within 100 ms: 2 x " in said
    assert b"8 bytes at 9600 baud 8.33 ms + silence 3.65 ms" in said
    assert bench.site.looks == {"ups/A": 0, "ups/B": 0}


async def test_without_lines_there_is_nothing_to_do(bench: Bench) -> None:
    process, ready = await bench.start(bench.write_settings(feeds=""))
    ready.close()
    _, said = await process.communicate()
    assert (process.returncode, b"there is nothing to do" in said) == (0, True)


async def test_its_lines_are_its_alone(bench: Bench) -> None:
    async with bench.running():
        with pytest.raises(serial.SerialException, match="exclusively lock"):
            serial.Serial(str(bench.folder / "feed-A"), 115_200, exclusive=True)
        second, ready = await bench.start(bench.folder / "supernoded.toml")
        ready.close()
        _, said = await second.communicate()
        assert second.returncode == 1
        assert b"a reflex process is there already" in said
        await bench.site.wait_looks("A", "B", count=1)


async def test_killed_at_any_moment_it_leaves_a_record_that_is_read_and_goes_on_counting(bench: Bench) -> None:
    fired = 0
    for kills in range(1, 4):
        async with bench.running(refractory=0) as process:
            for _ in range(kills):
                bench.site.orders.clear()
                bench.site.flag("A", "B")
                await bench.site.wait(lambda: len(bench.site.list_fired()) >= 2)
                fired += 1
                bench.site.flag()
                await bench.site.wait_looks("A", "B", count=2)
            bench.site.orders.clear()
            bench.site.flag("A", "B")
            await bench.site.wait(lambda: len(bench.site.list_fired()) >= 1)
            process.kill()  # as it writes, or before, or after
            await process.wait()
            bench.site.flag()
        numbers = [firing.number for firing in read_firings(bench.folder / "state" / "reflex.jsonl")]
        assert numbers == list(range(1, len(numbers) + 1))
        assert fired <= len(numbers) <= fired + 1
        fired = len(numbers)
