"""One connection to `job.sock`: lines in, lines out, and an end to whoever sends garbage, too much, or reads nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

import msgspec

from supernoded.clock import Clock
from supernoded.job.protocol import MOST_LINE, FromDaemon, FromPeer, Hello, Refused, decode_peer, encode

BURST_S = 10.0  # seconds over which a peer's lines are counted
MOST_UNREAD = 1_048_576  # bytes that a peer may leave unread
HELLO_WITHIN = 5.0  # seconds


class Reception(Protocol):
    """What is done with peers and their words."""

    def admit(self, peer: Peer, hello: Hello) -> str:
        """Take it in, and set its `hello`. Gives why not, empty when it is."""
        ...

    def hear(self, peer: Peer, message: FromPeer) -> None:
        """What one that was taken in says."""
        ...

    def lose(self, peer: Peer) -> None:
        """It is gone, taken in or not."""
        ...


class Peer(asyncio.Protocol):
    """A rank, a launcher or a vault. `hello` = who it is, once it is taken in."""

    def __init__(self, reception: Reception, clock: Clock, lines_per_s: int, full: Callable[[Peer], str]) -> None:
        self.hello: Hello | None = None
        self.came = clock.now()
        self._reception, self._clock, self._full = reception, clock, full
        self._rate, self._left, self._counted = float(lines_per_s), lines_per_s * BURST_S, self.came
        self._transport: asyncio.Transport | None = None
        self._bytes = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio."""
        if isinstance(transport, asyncio.Transport):
            self._transport = transport
        if why := self._full(self):
            self.refuse(why)

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        *lines, self._bytes = (self._bytes + data).split(b"\n")
        for line in lines:
            if self._transport is None:
                return
            self._take(line)
        if len(self._bytes) >= MOST_LINE:
            self.refuse(f"a line of more than {MOST_LINE} bytes")

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        del exc
        self._leave()

    def say(self, message: FromDaemon) -> None:
        """One line. Whoever reads nothing is cut off."""
        if self._transport is None:
            return
        self._transport.write(encode(message))
        if self._transport.get_write_buffer_size() > MOST_UNREAD:
            self._transport.abort()
            self._leave()

    def refuse(self, why: str) -> None:
        """Say why, and hang up."""
        self.say(Refused(why=why))
        self.close()

    def close(self) -> None:
        """Hang up."""
        if self._transport is not None:
            self._transport.close()
        self._leave()

    def is_dumb(self, now: float) -> bool:
        """Whether it has connected and never said who it is."""
        return self.hello is None and now - self.came > HELLO_WITHIN

    def _leave(self) -> None:
        if self._transport is not None:
            self._transport, self._bytes = None, b""
            self._reception.lose(self)

    def _take(self, line: bytes) -> None:
        now = self._clock.now()
        self._left = min(self._rate * BURST_S, self._left + (now - self._counted) * self._rate) - 1.0
        self._counted = now
        if self._left < 0:
            self.refuse(f"more than {self._rate:g} lines a second for {BURST_S:g} s; leave out steps that follow fast")
            return
        try:
            message = decode_peer(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            self.refuse(f"not understood: {str(error)[:200]}")
            return
        if self.hello is not None and not isinstance(message, Hello):
            self._reception.hear(self, message)
        elif self.hello is not None or not isinstance(message, Hello):
            self.refuse("hello comes first, and once")
        elif why := self._reception.admit(self, message):
            self.refuse(why)
