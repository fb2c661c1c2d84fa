"""The daemon's lines on real pseudo-terminals and sockets, paced as a line is: units that are late, echo, two owners, a device removed."""

from __future__ import annotations

import asyncio
import fcntl
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from pymodbus.server import ModbusSerialServer
from pymodbus.simulator import DataType, SimData, SimDevice

from sim_hardware.bus import Line, LineFaults, Pace, Reply, serve_gateway, serve_pty
from sim_hardware.bus.rtu import decode_frame, encode_frame
from supernoded.errors import WireError
from supernoded.wire import Find, Pen
from supernoded.wire.system import SystemWires

PATIENCE = 10.0  # s for what does come; a loaded machine is slow
READ, READ_TWO = b"\x03\x00\x00\x00\x01", b"\x03\x00\x00\x00\x02"
TIOCGEXCL = 0x80045440  # ioctl_tty(2): is it open for one alone?

pytestmark = pytest.mark.usefixtures("quiet")


class Unit:
    """Answers a read of holding registers with how many requests it has had, and echoes FC 5."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []

    def answer(self, unit: int, pdu: bytes) -> Reply | None:
        self.heard.append(pdu)
        if unit == 0:
            return None
        return Reply(pdu) if pdu[0] == 5 else Reply(b"\x03\x02" + len(self.heard).to_bytes(2, "big"))


def find_answer(unit: int, length: int) -> Find:
    """An answer of so many bytes from this unit, at the start."""

    def find(came: bytes) -> slice | None:
        if len(came) < length:
            return None
        if came[0] != unit or decode_frame(came[:length]) is None:
            raise WireError(f"no answer of unit {unit}: {came.hex(' ')}")
        return slice(0, length)

    return find


NUMBER, FIRST = find_answer(5, 7), b"\x05\x03\x02\x00\x01"


@asynccontextmanager
async def wired(pen: Pen | None = None) -> AsyncIterator[SystemWires]:
    wires = SystemWires(pen or Pen(lambda _: None))
    yield wires
    await wires.close()
    await asyncio.sleep(0)  # closed sockets end in the next turn


@asynccontextmanager
async def bench(folder: Path, baud: int = 115200) -> AsyncIterator[tuple[Line, Unit, str, SystemWires]]:
    """A line with unit 5, its URL, and the daemon's wires."""
    line, unit = Line("bench", Pace(baud)), Unit()
    line.attach(5, unit.answer)
    async with serve_pty(line, folder / "line") as path, wired() as wires:
        yield line, unit, f"serial://{path}?baud={baud}", wires


def value(answer: bytes) -> int:
    return int.from_bytes(answer[3:5], "big")


async def test_request_and_answer(tmp_path: Path) -> None:
    async with bench(tmp_path, 19200) as (line, unit, url, wires):
        opened = wires.line(url)
        assert [value(await opened.exchange(encode_frame(5, READ), NUMBER, PATIENCE)) for _ in range(3)] == [1, 2, 3]
        assert unit.heard == [READ] * 3
        assert line.record.counts["frames.broken"] == 0
        assert opened.counts.get("strays", 0) == 0


async def test_a_late_answer_is_never_the_next_one(tmp_path: Path) -> None:
    async with bench(tmp_path) as (line, _, url, wires):
        opened = wires.line(url)
        line.faults = LineFaults(late_s=0.5)
        with pytest.raises(WireError, match="only silence"):
            await opened.exchange(encode_frame(5, READ), NUMBER, within=0.1, latest=1.5)
        line.faults = LineFaults()
        assert value(await opened.exchange(encode_frame(5, READ), NUMBER, PATIENCE)) == 2
        assert opened.counts["late"] == 7


async def test_a_silent_unit_does_not_keep_the_others_from_answering(tmp_path: Path) -> None:
    async with bench(tmp_path) as (_, _, url, wires):
        opened = wires.line(url)
        asked = [opened.exchange(encode_frame(9, READ), find_answer(9, 7), 0.05), opened.exchange(encode_frame(5, READ), NUMBER, PATIENCE)]
        silent, answer = await asyncio.gather(*asked, return_exceptions=True)
        assert isinstance(silent, WireError)
        assert isinstance(answer, bytes)
        assert value(answer) == 1


async def test_the_echo_of_an_adapter_is_no_answer(tmp_path: Path) -> None:
    """The answer to a write equals its request: with the echo unstripped a write to nobody is acknowledged."""
    write = b"\x05\x00\x07\xff\x00"
    async with bench(tmp_path) as (line, unit, url, wires):
        line.faults = LineFaults(echo=True)
        fooled = wires.line(url)
        assert await fooled.order("feed/A", encode_frame(9, write), find_answer(9, 8), PATIENCE) == encode_frame(9, write)
        await wires.close()
        opened = wires.line(f"{url}&echo=yes")
        with pytest.raises(WireError, match="no answer to"):
            await opened.order("feed/A", encode_frame(9, write), find_answer(9, 8), 0.2)
        assert await opened.order("feed/A", encode_frame(5, write), find_answer(5, 8), PATIENCE) == encode_frame(5, write)
        await opened.broadcast("feed/A", encode_frame(0, write))
        assert value(await opened.exchange(encode_frame(5, READ), NUMBER, PATIENCE)) == 3
        assert unit.heard == [write, write, READ]


async def test_a_declared_echo_that_does_not_come_is_an_error(tmp_path: Path) -> None:
    async with bench(tmp_path) as (_, _, url, wires):
        opened = wires.line(f"{url}&echo=yes")
        with pytest.raises(WireError, match="or there is no echo"):
            await opened.exchange(encode_frame(5, READ), NUMBER, PATIENCE)
        assert opened.counts["echo_errors"] == 1


async def test_two_daemons_do_not_share_a_device(tmp_path: Path) -> None:
    async with bench(tmp_path) as (_, _, url, wires), wired() as others:
        (tmp_path / "by-id").symlink_to(tmp_path / "line")
        first, second = wires.line(url), others.line(f"serial://{tmp_path}/by-id?baud=115200")
        assert first.name == second.name
        assert value(await first.exchange(encode_frame(5, READ), NUMBER, PATIENCE)) == 1
        with pytest.raises(WireError, match=r"somebody else has it open, and a line has one owner"):
            await second.exchange(encode_frame(5, READ), NUMBER, PATIENCE)
        assert is_exclusive(tmp_path / "line")
        await first.close()
        assert not is_exclusive(tmp_path / "line")


def is_exclusive(path: Path) -> bool:
    """Whether the kernel lets nobody else in; root it lets in, so that it can be asked."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError as error:
        return error.strerror == "Device or resource busy"
    try:
        return fcntl.ioctl(fd, TIOCGEXCL, bytes(4)) != bytes(4)
    finally:
        os.close(fd)


OPEN_AND_DIE = """
import os, sys
from supernoded.wire.line_address import parse_line
from supernoded.wire.serial import open_serial
open_serial(parse_line(sys.argv[1]))
os.kill(os.getpid(), 9)
"""


async def test_a_daemon_that_was_killed_leaves_the_line_free(tmp_path: Path) -> None:
    async with bench(tmp_path) as (_, _, url, wires):
        killed = await asyncio.create_subprocess_exec(sys.executable, "-c", OPEN_AND_DIE, url)
        assert await killed.wait() == -9
        assert is_exclusive(tmp_path / "line")
        while is_exclusive(tmp_path / "line"):
            await asyncio.sleep(0)
        assert value(await wires.line(url).exchange(encode_frame(5, READ), NUMBER, PATIENCE)) == 1


async def test_a_device_that_was_removed_is_opened_anew_when_it_is_back(tmp_path: Path) -> None:
    line, unit = Line("bench", Pace(115200)), Unit()
    line.attach(5, unit.answer)
    place = tmp_path / "line"
    async with wired() as wires:
        opened = wires.line(f"serial://{place}?baud=115200")
        with pytest.raises(WireError, match=r"serial:///.*/line: no such device; is the adapter plugged in"):
            await opened.exchange(encode_frame(5, READ), NUMBER, PATIENCE)
        await opened.close()  # or a second is waited for
        async with serve_pty(line, place):
            assert value(await opened.exchange(encode_frame(5, READ), NUMBER, PATIENCE)) == 1
            line.faults = LineFaults(silent=frozenset({5}))
            asking = asyncio.create_task(opened.exchange(encode_frame(5, READ), NUMBER, PATIENCE, latest=0.2))
            while len(line.record.said_by("master 1")) < 16:
                await asyncio.sleep(0)
        with pytest.raises(WireError, match=r"/line: the line was lost: the device (does not answer its driver|is gone)"):
            await asking
        line.faults = LineFaults()
        await opened.close()
        async with serve_pty(line, place):
            assert value(await opened.exchange(encode_frame(5, READ), NUMBER, PATIENCE)) == 3
        assert opened.counts["losses"] == 1


async def test_a_serial_server_is_a_line_too(tmp_path: Path) -> None:
    async with bench(tmp_path) as (line, _, _, wires), serve_gateway(line, "127.0.0.1") as (host, port):
        opened = wires.line(f"tcp://{host}:{port}?baud=115200")
        line.faults = LineFaults(late_s=0.5)
        with pytest.raises(WireError, match="only silence"):
            await opened.exchange(encode_frame(5, READ), NUMBER, within=0.1, latest=1.5)
        line.faults = LineFaults()
        assert value(await opened.exchange(encode_frame(5, READ), NUMBER, PATIENCE)) == 2


async def test_small_requests_are_not_held_back_and_a_dead_gateway_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    real = socket.socket.setsockopt

    def ask(sock: socket.socket, level: int, option: int, value: int) -> None:
        if level == socket.IPPROTO_TCP:
            asked.append((option, value))
        real(sock, level, option, value)

    async with bench(tmp_path) as (line, _, _, wires), serve_gateway(line, "127.0.0.1") as (host, port):
        monkeypatch.setattr(socket.socket, "setsockopt", ask)
        await wires.line(f"tcp://{host}:{port}").exchange(encode_frame(5, READ), NUMBER, PATIENCE)
        assert set(asked) == {(socket.TCP_NODELAY, 1), (socket.TCP_USER_TIMEOUT, 10_000)}


async def test_a_gateway_where_nobody_listens_is_told() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        async with wired() as wires:
            with pytest.raises(WireError, match=rf"tcp://127\.0\.0\.1:{port}: Connection refused; is the device there and listening"):
                await wires.line(f"tcp://localhost:{port}").exchange(encode_frame(5, READ), NUMBER, PATIENCE)


@pytest.mark.parametrize("baud", [19200, 115200])
async def test_pymodbus_serves_two_units_on_a_paced_line(tmp_path: Path, baud: int) -> None:
    line = Line("served", Pace(baud))
    units = [SimDevice(unit, simdata=[SimData(0, values=[unit, 7], datatype=DataType.REGISTERS)]) for unit in (1, 2)]
    async with AsyncExitStack() as stack:
        ours = await stack.enter_async_context(serve_pty(line, tmp_path / "ours"))
        theirs = await stack.enter_async_context(serve_pty(line, tmp_path / "theirs"))
        server = ModbusSerialServer(units, port=theirs, baudrate=baud)
        await server.serve_forever(background=True)
        stack.push_async_callback(server.shutdown)
        wires = await stack.enter_async_context(wired())
        opened = wires.line(f"serial://{ours}?baud={baud}")
        for number in range(20):
            unit = 1 + number % 2
            answer = await opened.exchange(encode_frame(unit, READ_TWO), find_answer(unit, 9), PATIENCE)
            assert answer == encode_frame(unit, b"\x03\x04" + bytes((0, unit, 0, 7)))
        assert line.record.counts["bytes.collided"] == 0
        assert dict(opened.counts) == {"strays": 0}
