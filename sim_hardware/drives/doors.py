"""Where a node's machine answers whoever knocks, past broker and daemon, as its ssh does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

PORT = 22
BANNER = b"SSH-2.0-simulated\r\n"


class _Door(asyncio.Protocol):
    """Says what it is, and no more."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop."""
        if isinstance(transport, asyncio.WriteTransport):
            transport.write(BANNER)
            transport.close()


@asynccontextmanager
async def serve_door(host: str, port: int = 0) -> AsyncIterator[str]:
    """Answer there until the context is left, and give `host:port`. Works on the real loop and on `SimLoop`. Raises OSError."""
    async with await asyncio.get_running_loop().create_server(_Door, host, port) as server:
        yield f"{host}:{server.sockets[0].getsockname()[1]}"
