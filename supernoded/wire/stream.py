"""A byte stream to a device: one request, one answer, and no late answer is ever taken for the next one."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import ssl
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from supernoded.errors import WireError
from supernoded.wire.hop import Hop
from supernoded.wire.names import Lookup
from supernoded.wire.pen import Pen
from supernoded.wire.ports import Find, Greeting
from supernoded.wire.tls import make_tls

MOST_ANSWER = 1024 * 1024  # bytes of one answer


class Address(msgspec.Struct, frozen=True):
    """Where a stream leads: a host and port, or the path of a unix socket."""

    host: str = ""
    port: int = 0
    path: str = ""

    @property
    def line(self) -> str:
        """One name per device, however the URL spelt it; names are not looked up."""
        return f"unix://{self.path}" if self.path else f"tcp://{self.host}:{self.port}"


def parse_address(url: str) -> Address:
    """Read `tcp://host:port` or `unix:///path`. Raises WireError saying what is wrong."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise WireError(f"{url}: {error}; write tcp://host:port or unix:///path") from error
    if parts.scheme == "tcp" and host and port:
        return Address(host=spell_host(host), port=port)
    if parts.scheme == "unix" and not host and parts.path:
        return Address(path=str(Path(parts.path).resolve()))
    raise WireError(f"{url}: no stream; write tcp://host:port or unix:///path")


def spell_host(host: str) -> str:
    """One spelling per host; names are not looked up."""
    try:
        return ipaddress.ip_address(host).compressed
    except ValueError:
        return "127.0.0.1" if host == "localhost" else host.rstrip(".")


class SocketStream:
    """A `Stream` over TCP or a unix socket. Any doubt about what belongs to which request closes the line."""

    def __init__(self, address: Address, pen: Pen) -> None:
        self.address = address
        self._pen, self._hop, self._free = pen, Hop(), asyncio.Lock()
        self._lookup = Lookup(address.host, address.port)
        self._line: _Line | None = None
        self._greeting: Greeting | None = None

    def greet_with(self, greeting: Greeting) -> None:
        """See `Stream.greet_with`."""
        self._greeting = greeting

    async def exchange(self, request: bytes, end: bytes | Find = b"\n", within: float = 2.0) -> bytes:
        """See `Stream.exchange`."""
        return await self._exchange(request, end, within, lambda: None)

    async def order(self, scope: str, request: bytes, end: bytes | Find = b"\n", within: float = 2.0) -> bytes:
        """See `Stream.order`."""
        return await self._exchange(request, end, within, lambda: self._pen.ask(scope))

    async def close(self) -> None:
        """See `Stream.close`."""
        if self._line is not None:
            self._line.drop("closed")
            self._line = None

    async def _exchange(self, request: bytes, end: bytes | Find, within: float, ask: Callable[[], None]) -> bytes:
        name, missed = self.address.line, f"no turn within {within:g} s, others talk; {len(request)} bytes were not sent"
        try:
            async with asyncio.timeout(within), self._free:
                missed = f"not connected and greeted within {within:g} s; {len(request)} bytes were not sent, is the device there?"
                line = await self._open(within)
                ask()
                missed = f"no answer to {len(request)} bytes within {within:g} s; the line is closed, as the answer may still come"
                return await line.ask(request, end)
        except TimeoutError as error:
            raise WireError(f"{name}: {missed}") from error
        except WireError:
            raise
        except OSError as error:
            raise WireError(f"{name}: {explain(error)}; is the device there and listening?") from error

    async def _open(self, within: float) -> _Line:
        """The line that stands, or a new one on which the greeting was said."""
        if self._line is not None and not self._line.lost:
            return self._line
        loop, to = asyncio.get_running_loop(), self.address
        if to.path:
            _, line = await loop.create_unix_connection(_Line, to.path)
        else:
            _, line = await self._lookup.reach(lambda host, port: loop.create_connection(_Line, host, port))
        line.name = to.line
        if self._greeting is not None:
            try:
                await self._greeting(_Opening(line, to, self._hop, within))
            except BaseException:
                line.drop("the greeting failed")
                raise
        self._line = line
        return line


class _Opening:
    """See `supernoded.wire.Opening`."""

    def __init__(self, line: _Line, address: Address, hop: Hop, within: float) -> None:
        self._line, self._address, self._hop, self._within = line, address, hop, within

    async def ask(self, request: bytes, end: bytes | Find = b"\n") -> bytes:
        """See `Opening.ask`."""
        return await self._line.ask(request, end)

    async def secure(self, ca_file: str = "", *, insecure: bool = False) -> None:
        """See `Opening.secure`."""
        name = self._address.line
        tls = await self._hop.run(name, lambda: make_tls(name, ca_file, insecure=insecure), self._within)
        try:
            await self._line.secure(tls, self._address.host or "localhost")
        except ssl.SSLError as error:
            why = getattr(error, "verify_message", "") or error.reason or str(error)
            raise WireError(f"{name}: TLS failed: {why}; look at ca_file and at the server's certificate") from error


def up_to(end: bytes) -> Find:
    """Finds the answer that goes up to and with `end`."""
    looked = 0

    def find(came: bytes) -> slice | None:
        nonlocal looked
        found = came.find(end, max(looked - len(end) + 1, 0))
        looked = len(came)
        return slice(found + len(end)) if found >= 0 else None

    return find


def explain(error: OSError) -> str:
    """The system's words; asyncio puts its own in their place. Errors of name look-up have numbers below zero."""
    return os.strerror(error.errno) if error.errno is not None and error.errno > 0 else error.strerror or str(error)


class _Line(asyncio.Protocol):
    """One connection. What comes without being asked for, or after the answer, ends it."""

    def __init__(self) -> None:
        self.name = ""
        self.lost = False
        self._transport: asyncio.WriteTransport | None = None
        self._answer: asyncio.Future[bytes] | None = None
        self._find: Find = up_to(b"\n")
        self._came = bytearray()

    async def ask(self, request: bytes, end: bytes | Find) -> bytes:
        """Send in this very step, then wait for the answer; when that does not come whole, the connection ends."""
        if self._transport is None or self.lost:
            raise WireError(f"{self.name}: not connected")
        self._find, self._answer = end if callable(end) else up_to(end), asyncio.get_running_loop().create_future()
        self._came.clear()
        self._transport.write(request)
        try:
            return await self._answer
        finally:
            if self._answer is not None:
                self._answer = None
                self.drop("given up")

    async def secure(self, tls: ssl.SSLContext, host: str) -> None:
        """Put TLS under what follows. Raises ssl.SSLError, and WireError when the connection is lost by then."""
        if self._transport is None or self.lost:
            raise WireError(f"{self.name}: not connected, or something was said where TLS was due")
        self._transport = await asyncio.get_running_loop().start_tls(self._transport, self, tls, server_hostname=host)
        if self._transport is None or self.lost:
            raise WireError(f"{self.name}: the connection was lost while TLS began")

    def drop(self, why: str) -> None:
        """End the connection; who waits for an answer is told why."""
        self.lost = True
        if self._transport is not None:
            self._transport.abort()
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(WireError(f"{self.name}: {why}"))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if not isinstance(transport, asyncio.WriteTransport):
            raise TypeError(f"{transport!r} cannot be written to")
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._answer is None or self._answer.done():
            self.drop("sent something that was not asked for")
            return
        self._came += data
        try:
            found = self._find(bytes(self._came))
        except WireError as error:
            self.drop(str(error))
            return
        if found is None:
            if len(self._came) > MOST_ANSWER:
                self.drop(f"answered more than {MOST_ANSWER} bytes without an end")
            return
        self._answer.set_result(bytes(self._came[found]))
        self._answer = None
        if len(self._came) > found.stop:
            self.drop("sent more than the answer")

    def connection_lost(self, exc: Exception | None) -> None:
        self.drop(f"the connection was lost: {exc or 'closed by the other side'}")
