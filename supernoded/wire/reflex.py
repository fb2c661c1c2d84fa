"""A line that the reflex process owns and lends: `reflex://name`, over that process's unix socket, in JSON lines.

The process lets a request onto the line only when it fits the time that its deadline leaves (safety rule 21); else it says so, with the
arithmetic. It speaks Modbus RTU, and so knows by itself how long an answer can be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from supernoded.errors import WireError
from supernoded.wire.line_address import LineAddress
from supernoded.wire.pen import Pen
from supernoded.wire.ports import Find, Line
from supernoded.wire.stream import Address, SocketStream

PATIENCE = 1.0  # seconds beyond a request's own for the reflex process to say what came of it; ours

Came = Literal["answer", "sent", "silence", "corrupt", "echo", "lost", "refused"]


class Loan(msgspec.Struct, frozen=True, kw_only=True, tag="loan"):
    """A request that the daemon wants put onto a line."""

    line: str
    request: bytes
    within_s: float
    latest_s: float = 0.0
    rest_s: float = 0.0  # a broadcast, and how long the line rests for the daemon after it


class Ask(msgspec.Struct, frozen=True, kw_only=True, tag="ask"):
    """How are you?"""


class Returned(msgspec.Struct, frozen=True, kw_only=True, tag="returned"):
    """What came of a loan."""

    came: Came
    answer: bytes = b""
    text: str = ""  # why there is none


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """How one line stands. Counts are of this life of the process, firings of all."""

    line: str
    state: str  # a word of the quantity `reflex.state`
    text: str  # in a sentence
    firings: int | None = None  # None = it is not fired on
    delay_ms: float | None = None  # of the newest firing
    counts: Mapping[str, int] = {}


class Told(msgspec.Struct, frozen=True, kw_only=True, tag="told"):
    """How all lines stand."""

    lines: tuple[Standing, ...]
    counts: Mapping[str, int] = {}  # of triggers: fired, late, held, blind


Request = Loan | Ask
Reply = Returned | Told


def lend_from(place: Path) -> Callable[[LineAddress, Pen], Line]:
    """What makes lines of `reflex://name`, which the process at that socket lends."""
    return lambda address, pen: ReflexLine(address.place, place, pen)


class ReflexLine:
    """A `Line` that the reflex process lends. See `supernoded.wire.ports.Line`."""

    def __init__(self, name: str, place: Path, pen: Pen) -> None:
        self._line, self._place = name, place
        self._stream = SocketStream(Address(path=str(place)), pen)
        self._counts = {"timeouts": 0, "strays": 0, "echo_errors": 0, "losses": 0, "refusals": 0}

    @property
    def name(self) -> str:
        """See `Line.name`."""
        return f"reflex://{self._line}"

    @property
    def counts(self) -> Mapping[str, int]:
        """See `Line.counts`; `refusals` are requests that the reflex process did not let in."""
        return self._counts

    async def exchange(self, request: bytes, find: Find, within: float = 0.5, latest: float = 0.0) -> bytes:
        """See `Line.exchange`."""
        return self._cut(await self._lend(None, self._ask(request, within, latest)), find)

    async def order(self, scope: str, request: bytes, find: Find, within: float = 0.5, latest: float = 0.0) -> bytes:
        """See `Line.order`."""
        return self._cut(await self._lend(scope, self._ask(request, within, latest)), find)

    async def broadcast(self, scope: str, request: bytes, turnaround: float = 0.2) -> None:
        """See `Line.broadcast`; the reflex process sends no broadcast but the one it is prepared for (safety rule 24)."""
        await self._lend(scope, Loan(line=self._line, request=request, within_s=PATIENCE, rest_s=max(turnaround, 1e-3)))

    async def close(self) -> None:
        """See `Line.close`."""
        await self._stream.close()

    def _ask(self, request: bytes, within: float, latest: float) -> Loan:
        return Loan(line=self._line, request=request, within_s=within, latest_s=latest)

    async def _lend(self, scope: str | None, loan: Loan) -> bytes:
        line, within = msgspec.json.encode(loan) + b"\n", loan.within_s + PATIENCE
        try:
            said = await (self._stream.exchange(line, within=within) if scope is None else self._stream.order(scope, line, within=within))
        except WireError:
            self._counts["losses"] += 1
            raise
        try:
            reply = msgspec.json.decode(said, type=Returned)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise WireError(f"{self.name}: {self._place} is not the reflex process, it said {said[:80]!r}") from error
        return self._judge(reply)

    def _judge(self, reply: Returned) -> bytes:
        if reply.came in ("answer", "sent"):
            return reply.answer
        kind = {"silence": "timeouts", "corrupt": "strays", "echo": "echo_errors", "lost": "losses"}.get(reply.came, "refusals")
        self._counts[kind] += 1
        raise WireError(f"{self.name}: {reply.text or reply.came}")

    def _cut(self, came: bytes, find: Find) -> bytes:
        place = find(came)
        if place is None:
            self._counts["timeouts"] += 1
            raise WireError(f"{self.name}: {len(came)} bytes came, which are no whole answer: {came[:16].hex(' ')}")
        return came[place]
