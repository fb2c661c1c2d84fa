"""Streams: one answer per request, never a late one, and one owner per line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from supernoded.errors import NotHeldError, WireError
from supernoded.wire import Pen
from supernoded.wire import stream as wire_stream
from supernoded.wire.stream import SocketStream, parse_address
from supernoded.wire.system import SystemWires

HELD = Pen(lambda scope: None)


class Device:
    """A line device on loopback: `answer` turns a request line into bytes; None = it hangs up."""

    def __init__(self, answer: Callable[[bytes], bytes | None]) -> None:
        self.answer = answer
        self.asked = asyncio.Event()
        self.requests: list[bytes] = []
        self.ends: list[DeviceEnd] = []
        self.url = ""

    @property
    def connections(self) -> int:
        return len(self.ends)

    def say(self, data: bytes) -> None:
        """Say something on the first connection."""
        self.ends[0].transport.write(data)


class DeviceEnd(asyncio.Protocol):
    transport: asyncio.Transport

    def __init__(self, device: Device) -> None:
        self.device = device

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.device.ends.append(self)

    def data_received(self, data: bytes) -> None:
        for line in data.splitlines(keepends=True):
            self.device.requests.append(line)
            self.device.asked.set()
            answer = self.device.answer(line)
            if answer is None:
                self.transport.close()
            else:
                self.transport.write(answer)


@asynccontextmanager
async def serving(
    answer: Callable[[bytes], bytes | None], pen: Pen = HELD, path: Path | None = None
) -> AsyncIterator[tuple[Device, SocketStream]]:
    device, loop = Device(answer), asyncio.get_running_loop()
    if path is not None:
        server, device.url = await loop.create_unix_server(lambda: DeviceEnd(device), path), f"unix://{path}"
    else:
        server = await loop.create_server(lambda: DeviceEnd(device), "127.0.0.1", 0)
        device.url = f"tcp://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    stream = SocketStream(parse_address(device.url), pen)
    try:
        yield device, stream
    finally:
        await stream.close()
        for end in device.ends:
            end.transport.abort()
        server.close()
        await server.wait_closed()
        await asyncio.sleep(0)  # aborted transports close their sockets in the next turn


def echo(line: bytes) -> bytes:
    return b"got " + line


async def test_requests_and_answers_on_one_connection() -> None:
    async with serving(echo) as (device, stream):
        assert await stream.exchange(b"one\n", within=30.0) == b"got one\n"
        assert await stream.exchange(b"two\n", within=30.0) == b"got two\n"
        assert device.connections == 1


async def test_an_answer_in_pieces_ends_where_it_ends() -> None:
    async with serving(lambda line: line[:-1] + b"OK\r") as (device, stream):
        task = asyncio.create_task(stream.exchange(b"a\n", end=b"OK\r\n", within=30.0))
        await device.asked.wait()
        device.say(b"\n")
        assert await task == b"aOK\r\n"


async def test_a_unix_socket(tmp_path: Path) -> None:
    async with serving(echo, path=tmp_path / "s") as (_, stream):
        assert await stream.exchange(b"x\n", within=30.0) == b"got x\n"


async def test_a_late_answer_is_never_the_next_one() -> None:
    async with serving(lambda line: b"" if line == b"slow\n" else echo(line)) as (device, stream):
        with pytest.raises(WireError, match=r"no answer to 5 bytes within 0\.1 s; the line is closed"):
            await stream.exchange(b"slow\n", within=0.1)
        device.say(b"got slow\n")
        assert await stream.exchange(b"next\n", within=30.0) == b"got next\n"
        assert device.connections == 2


async def test_bytes_nobody_asked_for_end_the_connection() -> None:
    async with serving(lambda line: echo(line) + b"more\n") as (device, stream):
        assert await stream.exchange(b"one\n", within=30.0) == b"got one\n"
        device.answer = echo
        assert await stream.exchange(b"two\n", within=30.0) == b"got two\n"
        assert device.connections == 2


async def test_too_long_an_answer_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire_stream, "MOST_ANSWER", 100)
    async with serving(lambda line: b"x" * 200) as (_, stream):
        with pytest.raises(WireError, match="answered more than 100 bytes without an end"):
            await stream.exchange(b"one\n", within=30.0)


async def test_a_loss_is_told_and_the_line_opened_anew() -> None:
    async with serving(echo) as (device, stream):
        await stream.exchange(b"one\n", within=30.0)
        device.answer = lambda line: None
        with pytest.raises(WireError, match="the connection was lost: closed by the other side"):
            await stream.exchange(b"two\n", within=30.0)
        device.answer = echo
        assert await stream.exchange(b"three\n", within=30.0) == b"got three\n"


async def test_nobody_listens() -> None:
    async with serving(echo) as (device, _):
        url = device.url
    with pytest.raises(WireError, match=r"tcp://127\.0\.0\.1:\d+: .*refused.*; is the device there and listening"):
        await SocketStream(parse_address(url), HELD).exchange(b"x\n", within=30.0)


async def test_exchanges_wait_for_each_other() -> None:
    async with serving(echo) as (_, stream):
        answers = await asyncio.gather(*(stream.exchange(b"%d\n" % n, within=30.0) for n in range(20)))
        assert answers == [b"got %d\n" % n for n in range(20)]


async def test_a_cancelled_exchange_takes_its_connection_with_it() -> None:
    async with serving(lambda line: b"" if line == b"slow\n" else echo(line)) as (device, stream):
        task = asyncio.create_task(stream.exchange(b"slow\n", within=30.0))
        await device.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await stream.exchange(b"next\n", within=30.0) == b"got next\n"
        assert device.connections == 2


async def test_an_order_without_the_lease_sends_nothing() -> None:
    reasons = {"cdu/0": "n2 holds it"}
    async with serving(echo, Pen(reasons.get)) as (device, stream):
        with pytest.raises(NotHeldError, match="n2 holds it"):
            await stream.order("cdu/0", b"set\n", within=30.0)
        assert await stream.exchange(b"get\n", within=30.0) == b"got get\n"
        reasons.clear()
        assert await stream.order("cdu/0", b"set\n", within=30.0) == b"got set\n"
        assert device.requests == [b"get\n", b"set\n"]
        assert device.connections == 1


@pytest.mark.parametrize(
    ("url", "line"),
    [
        ("tcp://LocalHost:502", "tcp://127.0.0.1:502"),
        ("tcp://[0:0::1]:502", "tcp://::1:502"),
        ("tcp://Rack7.example.:1", "tcp://rack7.example:1"),
        ("unix:///run/../run/x.sock", "unix:///run/x.sock"),
    ],
)
def test_one_name_per_line(url: str, line: str) -> None:
    assert parse_address(url).line == line


@pytest.mark.parametrize("url", ["udp://h:1", "tcp://h", "tcp://h:0", "tcp://:5", "tcp://h:99999", "unix://h/x", "unix://", "x", ""])
def test_what_is_no_stream_is_refused(url: str) -> None:
    with pytest.raises(WireError, match=r"write tcp://host:port or unix:///path"):
        parse_address(url)


async def test_a_line_has_one_owner(tmp_path: Path) -> None:
    wires = SystemWires(HELD)
    modbus, nut = wires.owned_by("modbus"), wires.owned_by("nut")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    first = modbus.stream(f"unix://{tmp_path}/real")
    assert modbus.stream(f"unix://{tmp_path}/link") is first
    with pytest.raises(WireError, match=r"belongs to modbus, and a line has one owner; nut must do without it"):
        nut.stream(f"unix://{tmp_path}/link")
    await wires.close()
    assert nut.stream(f"unix://{tmp_path}/link") is not first


async def test_trees_and_commands_are_shared() -> None:
    wires = SystemWires(HELD)
    assert wires.tree("/sys/class/net") is wires.owned_by("other").tree("tree:///sys//class/net/")
    assert wires.command(["npu-smi", "info"]) is wires.owned_by("other").command(["npu-smi", "info"])
    with pytest.raises(WireError, match="no file tree; write an absolute path"):
        wires.tree("sys/class/net")
    with pytest.raises(WireError, match="no file tree"):
        wires.tree("http:///x")
