"""One opening of a shared line: bytes out, bytes in, until it is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from supernoded.errors import WireError
from supernoded.wire.stream import explain


class LineEnd(asyncio.Protocol):
    """Keeps what comes between `send` and `hush`; what comes at any other time is told to `unasked` and dropped."""

    def __init__(self, name: str, unasked: Callable[[int], None], gone: Callable[[], None]) -> None:
        self.came = bytearray()
        self.lost = ""  # why it is of no use any more
        self.heard_at = asyncio.get_running_loop().time()  # the last byte, at first the opening: something may have been said just before
        self._name, self._unasked, self._gone = name, unasked, gone
        self._transport: asyncio.WriteTransport | None = None
        self._listening = False
        self._news = asyncio.Event()

    def send(self, request: bytes) -> None:
        """Send in this very step, and listen from now on. Raises WireError when the line is lost; then nothing was sent."""
        if self._transport is None or self.lost:
            raise WireError(f"{self._name}: {self.lost or 'not open'}; nothing was sent")
        self.came.clear()
        self._listening = True
        self._transport.write(request)

    async def hear(self) -> None:
        """Wait until more has come. Raises WireError when the line is lost."""
        if not self.lost:
            self._news.clear()
            await self._news.wait()
        if self.lost:
            raise WireError(f"{self._name}: {self.lost}")

    def hush(self) -> None:
        """Listen no longer."""
        self._listening = False

    def drop(self, why: str) -> None:
        """End it; whoever listens is told why."""
        self.lost = self.lost or why
        self._news.set()
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.BaseProtocol`."""
        if not isinstance(transport, asyncio.WriteTransport):
            raise TypeError(f"{transport!r} cannot be written to")
        self._transport = transport
        self.heard_at = asyncio.get_running_loop().time()
        if self.lost:  # given up while it was being opened
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        self.heard_at = asyncio.get_running_loop().time()
        if self._listening:
            self.came += data
            self._news.set()
        else:
            self._unasked(len(data))

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.BaseProtocol`."""
        if not self.lost:
            self._gone()
        self.drop(f"the line was lost: {explain(exc) if isinstance(exc, OSError) else exc or 'closed by the other side'}")
