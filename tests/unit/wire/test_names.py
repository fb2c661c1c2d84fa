"""A name server that hangs costs one thread a device, however often the device is asked."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from supernoded.errors import WireError
from supernoded.wire import Pen
from supernoded.wire.datagrams import SocketDatagrams, parse_datagrams
from supernoded.wire.http import JsonHttp, parse_door
from supernoded.wire.line_address import parse_line
from supernoded.wire.names import Lookup
from supernoded.wire.stream import SocketStream, parse_address
from supernoded.wire.system import make_tcp_line

HELD = Pen(lambda scope: None)
ASKED = 5  # times
SHORT = 0.02  # s

Ask = Callable[[], Awaitable[object]]


class NameServer:
    """The system's look-up: it hangs until it is let go, then it knows the addresses."""

    def __init__(self) -> None:
        self.asked = 0
        self.free = threading.Event()
        self.addresses = ["127.0.0.1"]

    def look_up(self, host: str, port: int, *_: object, **__: object) -> list[tuple[object, ...]]:
        self.asked += 1
        assert host == "ups.example"
        assert self.free.wait(30.0)
        return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", (address, port)) for address in self.addresses]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[NameServer]:
    server = NameServer()
    monkeypatch.setattr(socket, "getaddrinfo", server.look_up)
    yield server
    server.free.set()


def ask_stream() -> Ask:
    stream = SocketStream(parse_address("tcp://ups.example:3493"), HELD)
    return lambda: stream.exchange(b"VER\n", within=SHORT)


def ask_datagrams() -> Ask:
    datagrams = SocketDatagrams(parse_datagrams("udp://ups.example:161"), HELD)
    return lambda: datagrams.exchange(b"x", lambda _: True, SHORT)


def ask_http() -> Ask:
    service = JsonHttp(parse_door("http://ups.example"), HELD)
    return lambda: service.get("redfish/v1", SHORT)


def ask_line(monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.setattr("supernoded.wire.line.OPEN_S", SHORT)
    monkeypatch.setattr("supernoded.wire.line.REOPEN_S", 0.0)
    line = make_tcp_line(parse_line("tcp://ups.example:502"), HELD)
    return lambda: line.exchange(b"x", lambda _: None)


@pytest.mark.parametrize("wire", ["stream", "datagrams", "http", "line"])
async def test_a_name_server_that_hangs_holds_one_thread(wire: str, names: NameServer, monkeypatch: pytest.MonkeyPatch) -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(2))
    kinds: Mapping[str, Callable[[], Ask]] = {
        "stream": ask_stream,
        "datagrams": ask_datagrams,
        "http": ask_http,
        "line": partial(ask_line, monkeypatch),
    }
    ask = kinds[wire]()
    asked = 0
    while asked < ASKED or not names.asked:  # a busy machine may not even get so far in so short a time
        with pytest.raises(WireError, match=r"ups\.example"):
            await ask()
        asked += 1
    assert names.asked == 1
    assert await asyncio.get_running_loop().run_in_executor(None, lambda: "others go on") == "others go on"
    names.free.set()


async def test_what_one_gave_up_is_there_for_the_next_one_and_asked_anew_after_that(names: NameServer) -> None:
    lookup = Lookup("ups.example", 3493)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(SHORT):
            await lookup.find()
    names.free.set()
    assert await lookup.find() == [("127.0.0.1", 3493)]
    names.addresses = ["127.0.0.2"]
    assert await lookup.find() == [("127.0.0.2", 3493)]
    assert names.asked == 2


async def test_every_address_is_tried_and_one_that_is_an_address_is_not_looked_up(names: NameServer) -> None:
    names.free.set()
    names.addresses = ["127.0.0.1", "127.0.0.2"]
    tried: list[str] = []

    async def reach(host: str, port: int) -> str:
        tried.append(host)
        if host == "127.0.0.1":
            raise ConnectionRefusedError
        return f"{host}:{port}"

    assert await Lookup("ups.example", 1).reach(reach) == "127.0.0.2:1"
    assert tried == ["127.0.0.1", "127.0.0.2"]
    assert await Lookup("fe80::1%eth0", 1).find() == [("fe80::1%eth0", 1)]
    names.addresses = []
    with pytest.raises(OSError, match="has no address"):
        await Lookup("ups.example", 1).reach(reach)
    assert names.asked == 2


async def test_a_request_that_never_went_is_not_told_as_unanswered(names: NameServer) -> None:
    stream = SocketStream(parse_address("tcp://ups.example:3493"), HELD)
    first = asyncio.ensure_future(stream.exchange(b"one\n", within=30.0))
    await asyncio.sleep(0)
    with pytest.raises(WireError, match=r"no turn within 0\.02 s, others talk; 4 bytes were not sent"):
        await stream.exchange(b"two\n", within=SHORT)
    first.cancel()
    with pytest.raises(WireError, match=r"not connected and greeted within 0\.02 s; 6 bytes were not sent"):
        await stream.exchange(b"three\n", within=SHORT)
    assert names.asked == 1
    names.free.set()
