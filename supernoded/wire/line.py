"""A line that several units share: half duplex, one request outstanding. What comes late is dropped, never taken for the next answer."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from supernoded.errors import WireError
from supernoded.wire.line_address import LineAddress
from supernoded.wire.line_end import LineEnd
from supernoded.wire.pen import Pen
from supernoded.wire.ports import Find
from supernoded.wire.stream import explain

Dial = Callable[[asyncio.Protocol], Awaitable[object]]  # brings the protocol onto the line; raises OSError or WireError in plain words

TURN_S = 10.0  # s for which a turn is waited for; ours, a unit that is dead holds the line for its latest answer
OPEN_S = 3.0  # s for opening (ours)
REOPEN_S = 1.0  # s from one opening to the next, so that what falls off at once is not opened without end (ours)
BABBLE_S = 1.0  # s in which a line falls silent, else a driver does not let go of it (ours; the longest frame takes 0.29 s at 9600 baud)
REPEAT = 16  # characters that an answer said twice is behind its silence when the first of it is heard: a UART gathers 14 (16550A)
MOST = 4096  # bytes that may come without an answer among them (ours; 16 of the longest frames)
MOST_TOLD = 32  # bytes that an error shows


class EchoError(WireError):
    """What came back is not what was sent: somebody else talked at the same time."""


class SharedLine:
    """A `Line` over any transport that `dial` brings. Its counts are those of `Line.counts`, for as long as the daemon lives."""

    def __init__(self, address: LineAddress, dial: Dial, pen: Pen) -> None:
        self.address = address
        self._dial, self._pen = dial, pen
        self._counts: Counter[str] = Counter()
        self._free = asyncio.Lock()
        self._polls = asyncio.Lock()  # held with the line by whoever polls: the others wait here, and orders go before them
        self._port: LineEnd | None = None
        self._dialled_at = -REOPEN_S
        self._quiet_at = 0.0  # the loop's time before which a late answer may come
        self._last = b""  # the newest answer, which a unit may say twice

    @property
    def name(self) -> str:
        """See `Line.name`."""
        return self.address.name

    @property
    def counts(self) -> Mapping[str, int]:
        """See `Line.counts`."""
        return self._counts

    async def exchange(self, request: bytes, find: Find, within: float = 0.5, latest: float = 0.0) -> bytes:
        """See `Line.exchange`."""
        async with self._turn(find, self._polls, self._free) as port:
            return await self._converse(port, request, find, within, latest)

    async def order(self, scope: str, request: bytes, find: Find, within: float = 0.5, latest: float = 0.0) -> bytes:
        """See `Line.order`."""
        async with self._turn(find, self._free) as port:
            self._pen.ask(scope)
            return await self._converse(port, request, find, within, latest)

    async def broadcast(self, scope: str, request: bytes, turnaround: float = 0.2) -> None:
        """See `Line.broadcast`; where there is an echo it is waited for."""
        async with self._turn(_find_nothing, self._free) as port:
            self._pen.ask(scope)
            busy = self.address.time_of(len(request)) + turnaround
            self._quiet_at = asyncio.get_running_loop().time() + busy
            await self._converse(port, request, _find_nothing, busy, turnaround)

    async def close(self) -> None:
        """See `Line.close`."""
        self._dialled_at = -REOPEN_S
        if self._port is not None:
            self._port.drop("closed")

    # a turn

    @asynccontextmanager
    async def _turn(self, find: Find, *locks: asyncio.Lock) -> AsyncIterator[LineEnd]:
        async with AsyncExitStack() as stack:
            try:
                async with asyncio.timeout(TURN_S):
                    for lock in locks:
                        await stack.enter_async_context(lock)
                    port = await self._open()
                    await self._rest(port, find)
            except TimeoutError as error:
                raise WireError(f"{self.name}: no turn within {TURN_S:g} s, others talk or a late answer is waited for") from error
            yield port

    async def _open(self) -> LineEnd:
        if self._port is not None and not self._port.lost:
            return self._port
        now = asyncio.get_running_loop().time()
        if self._port is not None and now < self._dialled_at + REOPEN_S:
            raise WireError(f"{self.name}: {self._port.lost}; it is not opened again within {REOPEN_S:g} s")
        self._dialled_at = now
        self._port = LineEnd(self.name, self._drop, self._lose)
        try:
            async with asyncio.timeout(OPEN_S):
                await self._dial(self._port)
        except (OSError, WireError) as error:  # one of them is the time-out
            self._port.drop(_say_why(error))
            raise WireError(f"{self.name}: {self._port.lost}") from error
        except asyncio.CancelledError:
            self._port.drop("given up while it was being opened")
            raise
        return self._port

    async def _rest(self, port: LineEnd, find: Find) -> None:
        """Wait until no late answer can come any more and the line is silent."""
        loop = asyncio.get_running_loop()
        never = max(self._quiet_at, loop.time()) + BABBLE_S
        while True:
            for _ in range(2):
                await asyncio.sleep(0)  # what the system holds already is heard first, also after a loop that stood still
            wait = max(self._quiet_at, port.heard_at + self._gap(find)) - loop.time()
            if wait <= 0:
                return
            if loop.time() > never:
                raise WireError(f"{self.name}: not silent for {BABBLE_S:g} s; a driver does not let go of it, or two masters talk")
            await asyncio.sleep(wait)

    def _gap(self, find: Find) -> float:
        """The silence before a request; longer when the last answer, said once more, would be taken for the next one."""
        if not self._last or not _would_take(find, self._last):
            return self.address.silence
        return 2 * self.address.silence + self.address.time_of(REPEAT) + self.address.adapter

    # request and answer

    async def _converse(self, port: LineEnd, request: bytes, find: Find, within: float, latest: float) -> bytes:
        """One request and its answer, with no await before its first byte. Whatever ends it early makes the line rest."""
        begun = asyncio.get_running_loop().time()
        answer: bytes | None = None
        port.send(request)
        try:
            async with asyncio.timeout(within):
                answer = self._last = await self._listen(port, request, find)
        except TimeoutError as error:
            self._counts["timeouts"] += 1
            raise WireError(f"{self.name}: no answer to {_show(request)} within {within:g} s, {_tell(port.came)}") from error
        except EchoError as error:
            self._counts["echo_errors"] += 1
            raise EchoError(f"{self.name}: {error}") from error
        finally:
            port.hush()
            if answer is None:
                late = (latest or within) + self.address.time_of(len(request)) + self.address.silence + self.address.adapter
                self._quiet_at = max(self._quiet_at, begun + late)
        return answer

    async def _listen(self, port: LineEnd, request: bytes, find: Find) -> bytes:
        while True:
            came = strip_echo(port.came, request) if self.address.echo else bytes(port.came)
            if came is not None:
                found = self._find(came, find)
                if found is not None:
                    self._counts["strays"] += len(came) - len(found)
                    return found
            await port.hear()

    def _find(self, came: bytes, find: Find) -> bytes | None:
        try:
            found = find(came)
        except WireError:
            self._counts["garbled"] += 1
            raise
        if found is None and len(came) > MOST:
            self._counts["garbled"] += 1
            raise WireError(f"{self.name}: {len(came)} bytes and no answer among them, {_tell(came)}")
        return None if found is None else came[found]

    # what nobody asked for

    def _drop(self, count: int) -> None:
        self._counts["late" if asyncio.get_running_loop().time() < self._quiet_at else "strays"] += count

    def _lose(self) -> None:
        self._counts["losses"] += 1


def strip_echo(came: bytes | bytearray, request: bytes) -> bytes | None:
    """What came behind the echo, None while that is not whole. Raises EchoError when it differs from the request."""
    echo = bytes(came[: len(request)])
    if not request.startswith(echo):
        raise EchoError(f"sent {_show(request)} and heard {_show(echo)}: somebody else talked at the same time, or there is no echo")
    return bytes(came[len(request) :]) if len(echo) == len(request) else None


def _find_nothing(came: bytes) -> slice:
    del came
    return slice(0, 0)


def _would_take(find: Find, answer: bytes) -> bool:
    try:
        return find(answer) is not None
    except WireError:
        return False
    finally:
        find(b"")  # one that remembers what it has seen has seen nothing yet of its own answer


def _say_why(error: OSError | WireError) -> str:
    if isinstance(error, WireError):
        return str(error)
    if isinstance(error, TimeoutError) and error.errno is None:
        return f"cannot be opened within {OPEN_S:g} s"
    return f"{explain(error)}; is the device there and listening?"


def _tell(came: bytes | bytearray) -> str:
    return f"only {_show(bytes(came))}" if came else "only silence"


def _show(data: bytes) -> str:
    return data[:MOST_TOLD].hex(" ") + " ..." * (len(data) > MOST_TOLD)
