"""The plugin against peers that Debian's upsd cannot play without an NSS database or a grudge: TLS, silence, floods, halves, strangers."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

import supernoded_nut
from supernoded.clock import SystemClock
from supernoded.model import Reading
from supernoded.plugin import Node, Sensor
from supernoded.topology import Topology
from supernoded.topology.site import Ups
from supernoded.wire import Pen
from supernoded.wire.system import SystemWires
from supernoded_nut import server
from supernoded_nut.settings import NutSettings, ServerSettings
from tests.plugins.nut.upsd import Upsd
from tests.protocol.certificates import Pair, issue

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Peer:
    """An upsd on a socket: with a certificate it goes on in TLS. `heard` are the lines, and whether each came sealed."""

    def __init__(self, pair: Pair | None = None) -> None:
        self.upsd = Upsd({"a": {"ups.status": "OL"}, "b": {"ups.status": "OB"}})
        self.heard: list[tuple[bytes, bool]] = []
        self._tls: ssl.SSLContext | None = None
        if pair is None:
            self.upsd.refusals["STARTTLS"] = "FEATURE-NOT-CONFIGURED"
        else:
            self._tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            self._tls.load_cert_chain(pair.certificate_file, pair.key_file)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            self.heard.append((line, writer.get_extra_info("ssl_object") is not None))
            writer.write(self.upsd.answer(line))
            await writer.drain()
            if line == b"STARTTLS\n" and self._tls is not None:
                await writer.start_tls(self._tls)


@asynccontextmanager
async def listening(serve: Serve) -> AsyncIterator[int]:
    """A server on loopback, whose connections end with it."""
    open_now: set[asyncio.Task[None]] = set()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        open_now.add(task)
        try:
            await serve(reader, writer)
        except OSError:
            pass  # the client has hung up, or does not like the certificate
        finally:
            writer.transport.abort()

    listener = await asyncio.start_server(connect, "127.0.0.1", 0)
    try:
        yield listener.sockets[0].getsockname()[1]
    finally:
        listener.close()
        for task in open_now:
            task.cancel()
        await asyncio.gather(*open_now, return_exceptions=True)
        await asyncio.sleep(0)


@asynccontextmanager
async def sensing(node: Node, port: int, settings: ServerSettings | None = None, *devices: str) -> AsyncIterator[list[Sensor]]:
    """Sensors of these devices of one server, over real wires."""
    wires = SystemWires(Pen(lambda _: None))
    ups = tuple(Ups(name=name, wire=f"nut://localhost:{port}/{name}") for name in devices or ("a",))
    servers = {f"localhost:{port}": settings} if settings is not None else {}
    real = replace(node, topology=Topology(ups=ups), wires=wires, clock=SystemClock())
    try:
        yield list(supernoded_nut.supernoded_sensors(NutSettings(servers=servers), real))
    finally:
        await wires.close()
        await asyncio.sleep(0)


async def read(sensor: Sensor) -> dict[str, Reading]:
    return {reading.quantity: reading for reading in await sensor.read()}


@pytest.fixture
def login(tmp_path: Path) -> ServerSettings:
    (tmp_path / "secret").write_text("secret word\n")
    return ServerSettings(user="admin", password_file=str(tmp_path / "secret"))


async def test_everything_but_starttls_is_sealed(supernoded_node: Node, tmp_path: Path, login: ServerSettings) -> None:
    authority = issue(tmp_path, "authority")
    peer = Peer(issue(tmp_path, "localhost", authority))
    settings = ServerSettings(user=login.user, password_file=login.password_file, ca_file=authority.certificate_file)
    async with listening(peer.serve) as port, sensing(supernoded_node, port, settings) as (sensor,):
        assert (await read(sensor))["ups.status"].value == frozenset({"ol"})
    assert peer.heard == [
        (b"STARTTLS\n", False),
        (b"USERNAME admin\n", True),
        (b'PASSWORD "secret word"\n', True),
        (b"SET TRACKING ON\n", True),
        (b"LIST VAR a\n", True),
    ]


async def test_a_stranger_with_another_certificate_gets_no_password(supernoded_node: Node, tmp_path: Path, login: ServerSettings) -> None:
    peer, other = Peer(issue(tmp_path, "localhost", issue(tmp_path, "authority"))), issue(tmp_path, "other")
    settings = ServerSettings(user=login.user, password_file=login.password_file, ca_file=other.certificate_file)
    async with listening(peer.serve) as port, sensing(supernoded_node, port, settings) as (sensor,):
        found = await read(sensor)
    assert (found["ups.link"].value, found["ups.status"].value) == ("silent", None)
    assert "TLS failed" in found["ups.status"].note
    assert [line for line, _ in peer.heard] == [b"STARTTLS\n"]


async def test_a_server_without_tls_gets_no_password(supernoded_node: Node, login: ServerSettings) -> None:
    peer = Peer()
    async with listening(peer.serve) as port, sensing(supernoded_node, port, login) as (sensor,):
        found = await read(sensor)
        assert "in the clear" in found["ups.status"].note
        assert found["ups.link"].value == "silent"
    assert peer.heard == [(b"STARTTLS\n", False)]


async def test_devices_share_one_connection_and_servers_are_apart(supernoded_node: Node) -> None:
    peer, connections, silent = Peer(), list[int](), asyncio.Event()

    async def count(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(1)
        await peer.serve(reader, writer)

    async def hang(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.readline()
        silent.set()
        await asyncio.Event().wait()

    async with (
        listening(count) as port,
        listening(hang) as other,
        sensing(supernoded_node, port, None, "a", "b") as (a, b),
        sensing(supernoded_node, other) as (dead,),
    ):
        waiting = asyncio.create_task(read(dead))
        await silent.wait()
        found = await asyncio.gather(*map(read, (a, b)), *map(read, (a, b)))
        assert [one["ups.status"].value for one in found] == [frozenset({"ol"}), frozenset({"ob"})] * 2
        assert (await waiting)["ups.link"].value == "silent"
    assert len(connections) == 1


def say(data: bytes) -> Serve:
    """A server that says this to every line."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readline():
            writer.write(data)
            await writer.drain()

    return serve


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"BEGIN LIST VAR a\n" + b'VAR a x "1"\n' * 90_000, "no list of a device"),  # 1 MB
        (b"x" * 2**20, "is this a NUT server"),
        (b"\n" * 1000, "is this a NUT server"),
        (b"HTTP/1.0 400 Bad Request\r\n\r\n", "is this a NUT server"),
        (b'BEGIN LIST VAR a\nVAR a ups.status "O', "no answer"),
        (b"ERR DATA-STA", "no answer"),
        (b"", "no answer"),
    ],
)
async def test_what_is_no_answer_is_silence(supernoded_node: Node, monkeypatch: pytest.MonkeyPatch, data: bytes, why: str) -> None:
    monkeypatch.setattr(server, "WITHIN", 0.3)
    async with listening(say(data)) as port, sensing(supernoded_node, port) as (sensor,):
        found = await read(sensor)
    assert (found["ups.link"].value, found["ups.status"].value) == ("silent", None)
    assert why in found["ups.status"].note


async def test_what_is_said_unasked_is_never_an_answer(supernoded_node: Node) -> None:
    peer, said = Peer(), list[bytes]()

    async def chatter(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readline()
        extra = b'BEGIN LIST VAR a\nVAR a ups.status "OB LB"\nEND LIST VAR a\n' if not said else b""
        said.append(line)
        writer.write(peer.upsd.answer(line) + extra)
        await writer.drain()
        await peer.serve(reader, writer)

    async with listening(chatter) as port, sensing(supernoded_node, port) as (sensor,):
        for _ in range(3):
            assert (await read(sensor))["ups.status"].value == frozenset({"ol"})
    assert len(said) == 2
