"""A device that speaks datagrams: what was asked is asked again, and only an answer that fits is taken."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from urllib.parse import urlsplit

import msgspec

from supernoded.errors import WireError
from supernoded.wire.names import Lookup
from supernoded.wire.pen import Pen
from supernoded.wire.stream import explain, spell_host

HOW = "write udp://host:port"
MOST_WAITING = 64  # answers that one request has not looked at; more are dropped (ours)

Fits = Callable[[bytes], bool]


class DatagramAddress(msgspec.Struct, frozen=True):
    """A host and a port."""

    host: str
    port: int

    @property
    def name(self) -> str:
        """One name per device, however the URL spelt it; names are not looked up."""
        return f"udp://{self.host}:{self.port}"


def parse_datagrams(url: str) -> DatagramAddress:
    """Read `udp://host:port`; its query is for whoever speaks over it. Raises WireError saying what is wrong."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 0
    except ValueError as error:
        raise WireError(f"{url}: {error}; {HOW}") from error
    if parts.scheme != "udp" or not host or not port:
        raise WireError(f"{url}: no datagrams; {HOW}")
    return DatagramAddress(spell_host(host), port)


class SocketDatagrams:
    """A `Datagrams` over UDP. Several requests may be under way: each looks at every answer that comes."""

    def __init__(self, address: DatagramAddress, pen: Pen) -> None:
        self.address = address
        self._pen = pen
        self._opening = asyncio.Lock()
        self._lookup = Lookup(address.host, address.port, socket.SOCK_DGRAM)
        self._socket: _Socket | None = None

    async def exchange(self, request: bytes, fits: Fits, within: float = 1.0, tries: int = 3) -> bytes:
        """See `Datagrams.exchange`."""
        return await self._exchange(request, fits, within, tries, lambda: None)

    async def order(self, scope: str, request: bytes, fits: Fits, within: float = 1.0) -> bytes:
        """See `Datagrams.order`."""
        return await self._exchange(request, fits, within, 1, lambda: self._pen.ask(scope))

    async def close(self) -> None:
        """See `Datagrams.close`."""
        if self._socket is not None:
            self._socket.drop("closed")

    async def _exchange(self, request: bytes, fits: Fits, within: float, tries: int, ask: Callable[[], None]) -> bytes:
        refused = ""
        for _ in range(tries):
            opened = await self._open(within)
            ask()
            try:
                async with asyncio.timeout(within):
                    return await opened.ask(request, fits)
            except TimeoutError:
                refused = opened.refused
        if self._socket is not None and not self._socket.is_asked:
            self._socket.drop("closed after silence")  # the host may have another address by now
        tried = f"{tries} times, {within:g} s each" if tries > 1 else f"once, {within:g} s ago"
        raise WireError(f"{self.address.name}: no answer to {len(request)} bytes sent {tried}{refused and f': {refused}'}")

    async def _open(self, within: float) -> _Socket:
        to = self.address
        try:
            async with asyncio.timeout(within), self._opening:
                if self._socket is None or self._socket.lost:
                    opened = await self._lookup.reach(self._connect)
                    opened[1].transport, self._socket = opened
                return self._socket
        except TimeoutError as error:
            raise WireError(f"{to.name}: not opened within {within:g} s; is the name server there?") from error
        except OSError as error:
            raise WireError(f"{to.name}: {explain(error)}; is the address right?") from error

    async def _connect(self, host: str, port: int) -> tuple[asyncio.DatagramTransport, _Socket]:
        loop, name = asyncio.get_running_loop(), self.address.name
        return await loop.create_datagram_endpoint(lambda: _Socket(name), remote_addr=(host, port))


class _Socket(asyncio.DatagramProtocol):
    def __init__(self, name: str) -> None:
        self.lost = ""
        self.refused = ""  # what the network said of it last
        self._name = name
        self.transport: asyncio.DatagramTransport | None = None
        self._asking: list[asyncio.Queue[bytes]] = []

    @property
    def is_asked(self) -> bool:
        """Whether somebody waits for an answer."""
        return bool(self._asking)

    async def ask(self, request: bytes, fits: Fits) -> bytes:
        """Send in this very step, then look at what comes until it fits; with nobody to send to it never does."""
        came = asyncio.Queue[bytes](MOST_WAITING)
        self.refused = ""
        if self.transport is None or self.lost:
            raise WireError(f"{self._name}: {self.lost or 'not open'}; nothing was sent")
        self.transport.sendto(request)
        self._asking.append(came)
        try:
            while not fits(answer := await came.get()):
                pass
        finally:
            self._asking.remove(came)
        return answer

    def drop(self, why: str) -> None:
        """Close the socket."""
        self.lost = self.lost or why
        if self.transport is not None:
            self.transport.abort()

    def datagram_received(self, data: bytes, addr: object) -> None:
        del addr  # the socket is connected: it comes from the device
        for came in self._asking:
            if not came.full():
                came.put_nowait(data)

    def error_received(self, exc: Exception) -> None:
        self.refused = f"{explain(exc) if isinstance(exc, OSError) else exc}; does it listen there?"

    def connection_lost(self, exc: Exception | None) -> None:
        self.drop(f"the socket was lost: {exc or 'closed'}")
