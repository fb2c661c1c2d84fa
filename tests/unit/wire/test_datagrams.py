"""Datagrams: asked again, only what fits is taken, an order is sent once."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from supernoded.errors import NotHeldError, WireError
from supernoded.wire import Pen
from supernoded.wire.datagrams import MOST_WAITING, SocketDatagrams, parse_datagrams
from supernoded.wire.system import SystemWires

HELD = Pen(lambda scope: None)
LONG = 30.0  # s for what does come; a loaded machine is slow
SHORT = 0.05  # s for what never comes


class Device(asyncio.DatagramProtocol):
    """`answer` turns a request into datagrams."""

    transport: asyncio.DatagramTransport

    def __init__(self, answer: Callable[[bytes], Sequence[bytes]]) -> None:
        self.answer = answer
        self.requests: list[bytes] = []

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self.requests.append(data)
        for answer in self.answer(data):
            self.transport.sendto(answer, addr)


@asynccontextmanager
async def serving(answer: Callable[[bytes], Sequence[bytes]], pen: Pen = HELD) -> AsyncIterator[tuple[Device, SocketDatagrams]]:
    loop = asyncio.get_running_loop()
    transport, device = await loop.create_datagram_endpoint(lambda: Device(answer), ("127.0.0.1", 0))
    device.transport = transport
    port = transport.get_extra_info("sockname")[1]
    datagrams = SocketDatagrams(parse_datagrams(f"udp://localhost:{port}"), pen)
    try:
        yield device, datagrams
    finally:
        await datagrams.close()
        transport.close()
        await asyncio.sleep(0)


def fits(request: bytes) -> Callable[[bytes], bool]:
    return lambda answer: answer == b"to " + request


async def test_the_first_that_fits_is_the_answer() -> None:
    async with serving(lambda request: [b"to another", b"", b"to " + request, b"to " + request]) as (device, datagrams):
        assert await datagrams.exchange(b"one", fits(b"one"), LONG) == b"to one"
        assert await datagrams.exchange(b"two", fits(b"two"), LONG) == b"to two"
        assert device.requests == [b"one", b"two"]


async def test_what_is_lost_is_asked_again() -> None:
    def answer(request: bytes) -> Sequence[bytes]:
        return [b"to " + request] if len(device.requests) == 3 else []

    async with serving(answer) as (device, datagrams):
        assert await datagrams.exchange(b"one", fits(b"one"), within=0.5, tries=3) == b"to one"
        assert device.requests == [b"one"] * 3


async def test_silence_is_told_and_the_next_request_has_a_new_socket() -> None:
    async with serving(lambda request: [] if request == b"one" else [b"to " + request]) as (device, datagrams):
        with pytest.raises(WireError, match=r"udp://127\.0\.0\.1:\d+: no answer to 3 bytes sent 2 times, 0\.05 s each$"):
            await datagrams.exchange(b"one", fits(b"one"), SHORT, tries=2)
        assert await datagrams.exchange(b"two", fits(b"two"), LONG) == b"to two"
        assert device.requests == [b"one", b"one", b"two"]


async def test_requests_go_side_by_side_and_keep_their_answers() -> None:
    held: list[bytes] = []

    def answer(request: bytes) -> Sequence[bytes]:
        held.append(b"to " + request)
        return list(reversed(held)) if len(held) == 3 else []

    async with serving(answer) as (_, datagrams):
        names = (b"one", b"two", b"three")
        assert await asyncio.gather(*(datagrams.exchange(name, fits(name), LONG) for name in names)) == [b"to " + name for name in names]


async def test_a_flood_is_dropped() -> None:
    flood = [b"x"] * (2 * MOST_WAITING)
    async with serving(lambda request: [*flood, b"to " + request]) as (_, datagrams):
        assert await datagrams.exchange(b"one", lambda answer: answer == b"x", LONG) == b"x"


async def test_an_order_is_sent_once_and_by_leave_of_the_pen() -> None:
    refusals = {"feed/A": "n2 holds it"}
    async with serving(lambda _: [], Pen(refusals.get)) as (device, datagrams):
        with pytest.raises(NotHeldError, match="n2 holds it"):
            await datagrams.order("feed/A", b"off", fits(b"off"), SHORT)
        assert device.requests == []
        refusals.clear()
        with pytest.raises(WireError, match=r"no answer to 3 bytes sent once, 0\.05 s ago"):
            await datagrams.order("feed/A", b"off", fits(b"off"), SHORT)
        device.answer = lambda request: [b"to " + request]
        assert await datagrams.order("feed/A", b"on", fits(b"on"), LONG) == b"to on"
        assert device.requests == [b"off", b"on"]


async def test_the_pen_is_asked_when_the_socket_stands_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    refusals = dict[str, str]()
    async with serving(lambda request: [b"to " + request], Pen(refusals.get)) as (device, datagrams):
        connect = datagrams._connect

        async def connect_late(host: str, port: int) -> object:
            opened = await connect(host, port)
            refusals["feed/A"] = "the lease has ended"  # while its name was looked up
            return opened

        monkeypatch.setattr(datagrams, "_connect", connect_late)
        with pytest.raises(NotHeldError, match="the lease has ended"):
            await datagrams.order("feed/A", b"off", fits(b"off"), LONG)
        assert device.requests == []


async def test_a_host_where_nobody_listens_is_told() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    datagrams = SocketDatagrams(parse_datagrams(f"udp://127.0.0.1:{port}"), HELD)
    with pytest.raises(WireError, match="Connection refused; does it listen there"):
        await datagrams.exchange(b"one", fits(b"one"), 0.2, tries=1)
    await datagrams.close()
    await asyncio.sleep(0)


async def test_a_name_that_nobody_knows_is_told() -> None:
    datagrams = SocketDatagrams(parse_datagrams("udp://nowhere.invalid:161"), HELD)
    with pytest.raises(WireError, match=r"udp://nowhere\.invalid:161: .*; is the (address right|name server there)\?"):
        await datagrams.exchange(b"one", fits(b"one"), 5.0)


@pytest.mark.parametrize("url", ["tcp://h:1", "udp://h", "udp://h:0", "udp://:5", "udp://h:99999", "udp://[h:1", "x", ""])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(WireError, match=r"write udp://host:port"):
        parse_datagrams(url)


async def test_a_device_has_one_owner() -> None:
    wires = SystemWires(HELD)
    snmp = wires.owned_by("snmp")
    first = snmp.datagrams("udp://PDU.example.:161?community=x")
    assert snmp.datagrams("udp://pdu.example:161") is first
    with pytest.raises(WireError, match=r"udp://pdu\.example:161 belongs to snmp, and a device has one owner; other must do without it"):
        wires.owned_by("other").datagrams("udp://pdu.example:161")
