"""A TCP-to-RTU gateway as a plain serial server: the line's bytes over TCP. All its clients share one port of the line, and hear all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sim_hardware.bus.line import Line

_BUFFER = 65_536  # bytes that a client has not taken, above which it misses what is heard, as with real ones; ours


class _Port(asyncio.Protocol):
    """The line's side: what is heard goes to every client that takes it."""

    def __init__(self) -> None:
        self.clients: list[asyncio.Transport] = []

    def data_received(self, data: bytes) -> None:
        for client in self.clients:
            if client.get_write_buffer_size() < _BUFFER:
                client.write(data)


class _Client(asyncio.Protocol):
    """One client's side: what it sends is said on the line, as it comes."""

    def __init__(self, port: _Port, line: asyncio.Transport) -> None:
        self._port, self._line = port, line

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport
            self._port.clients.append(transport)

    def data_received(self, data: bytes) -> None:
        self._line.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._port.clients.remove(self._transport)


@asynccontextmanager
async def serve_gateway(line: Line, host: str, port: int = 0) -> AsyncIterator[tuple[str, int]]:
    """Listen, and give the address; port 0 takes a free one. Works on the real loop and on `SimLoop`. Raises OSError."""
    inner = _Port()
    transport = line.connect(inner)
    try:
        server = await asyncio.get_running_loop().create_server(lambda: _Client(inner, transport), host, port)
        try:
            yield server.sockets[0].getsockname()[:2]
        finally:
            server.close()
            for client in tuple(inner.clients):
                client.abort()
    finally:
        transport.close()
