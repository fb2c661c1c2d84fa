"""Shared lines and datagrams in memory, beside the other ports of `supernoded.testing.memory`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from supernoded.errors import WireError
from supernoded.wire import Find, Pen


class MemoryLine:
    """A line whose units `answer` plays: a request's bytes in, an answer's bytes out, none of them for silence.

    `sent` is every request and broadcast, in order. What is sent with nobody there, or answered with a WireError, raises.
    """

    def __init__(self, name: str, pen: Pen) -> None:
        self.name = name
        self.answer: Callable[[bytes], bytes | WireError] | None = None
        self.sent: list[bytes] = []
        self.counts: Counter[str] = Counter()
        self.closed = False
        self._pen = pen

    async def exchange(self, request: bytes, find: Find, within: float = 0.5, latest: float = 0.0) -> bytes:
        """See `Line.exchange`; nothing is waited for."""
        del latest
        came = self._send(request)
        found = find(came) if came else None
        if found is None:
            self.counts["timeouts"] += 1
            raise WireError(f"{self.name}: no whole answer to {request.hex(' ')} within {within:g} s, only {came.hex(' ') or 'silence'}")
        return came[found]

    async def order(self, scope: str, request: bytes, find: Find, within: float = 0.5, latest: float = 0.0) -> bytes:
        """See `Line.order`."""
        self._pen.ask(scope)
        return await self.exchange(request, find, within, latest)

    async def broadcast(self, scope: str, request: bytes, turnaround: float = 0.2) -> None:
        """See `Line.broadcast`; what `answer` gives is dropped."""
        del turnaround
        self._pen.ask(scope)
        self._send(request)

    async def close(self) -> None:
        """See `Line.close`."""
        self.closed = True

    def _send(self, request: bytes) -> bytes:
        if self.answer is None:
            raise WireError(f"{self.name}: nobody is on the line; give the test's line an `answer`")
        self.closed = False
        self.sent.append(request)
        came = self.answer(request)
        if isinstance(came, WireError):
            raise came
        return came


class MemoryDatagrams:
    """A device that `answer` plays: a request in, an answer out, empty for one that is lost. `sent` is every request, in order."""

    def __init__(self, url: str, pen: Pen) -> None:
        self.answer: Callable[[bytes], bytes | WireError] | None = None
        self.sent: list[bytes] = []
        self.closed = False
        self._url, self._pen = url, pen

    async def exchange(self, request: bytes, fits: Callable[[bytes], bool], within: float = 1.0, tries: int = 3) -> bytes:
        """See `Datagrams.exchange`; nothing is waited for."""
        if self.answer is None:
            raise WireError(f"{self._url}: nobody listens; give the test's datagrams an `answer`")
        self.closed = False
        for _ in range(tries):
            self.sent.append(request)
            came = self.answer(request)
            if isinstance(came, WireError):
                raise came
            if came and fits(came):
                return came
        raise WireError(f"{self._url}: no answer that fits to {len(request)} bytes, sent {tries} times, {within:g} s each")

    async def order(self, scope: str, request: bytes, fits: Callable[[bytes], bool], within: float = 1.0) -> bytes:
        """See `Datagrams.order`."""
        self._pen.ask(scope)
        return await self.exchange(request, fits, within, tries=1)

    async def close(self) -> None:
        """See `Datagrams.close`."""
        self.closed = True
