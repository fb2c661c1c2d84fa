"""Units on a line that a test scripts, in virtual time, and a protocol that can tell garbage but not whose answer an answer is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from supernoded.errors import WireError
from supernoded.wire import Pen
from supernoded.wire.line import SharedLine
from supernoded.wire.line_address import parse_line

T = TypeVar("T")
Saying = tuple[float, bytes]  # seconds from the request, or from now, and what is said then
HEAD, LENGTH = 0xAA, 4


def run(work: Coroutine[Any, Any, T]) -> T:
    loop = SimLoop(1)
    answer = play(loop, work)
    assert loop.failures == []
    return answer


def frame(number: int) -> bytes:
    """An answer of this number: all of one shape, as in RTU."""
    return bytes((HEAD, number, number ^ 0xFF, HEAD))


def find(came: bytes) -> slice | None:
    """A frame at the very start."""
    if len(came) < LENGTH:
        return None
    if came[0] != HEAD or came[3] != HEAD or came[1] != came[2] ^ 0xFF:
        raise WireError(f"no frame: {came.hex(' ')}")
    return slice(0, LENGTH)


class Units(asyncio.Transport):
    """All that is on the line. `answer` says when and what; `sent` is what was sent, and when."""

    def __init__(self, answer: Callable[[bytes], Sequence[Saying]] = lambda request: [(0.01, frame(request[0]))]) -> None:
        super().__init__()
        self.answer = answer
        self.sent: list[Saying] = []
        self.dials = 0
        self.refusals: list[OSError] = []  # of the next dials
        self._protocol: asyncio.Protocol | None = None

    async def dial(self, protocol: asyncio.Protocol) -> None:
        self.dials += 1
        await asyncio.sleep(0)
        if self.refusals:
            raise self.refusals.pop(0)
        self._protocol = protocol
        protocol.connection_made(self)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent.append((asyncio.get_running_loop().time(), bytes(data)))
        self.say(self.answer(bytes(data)))

    def say(self, sayings: Sequence[Saying]) -> None:
        for after, data in sayings:
            asyncio.get_running_loop().call_later(after, self._land, data)

    def fall_off(self) -> None:
        """The device is gone."""
        protocol, self._protocol = self._protocol, None
        if protocol is not None:
            protocol.connection_lost(OSError(5, "Input/output error"))

    def abort(self) -> None:
        self._protocol = None

    def _land(self, data: bytes) -> None:
        if self._protocol is not None:
            self._protocol.data_received(data)


def make_line(units: Units, query: str = "baud=19200", refusals: dict[str, str] | None = None) -> SharedLine:
    return SharedLine(parse_line(f"serial:///dev/none?{query}"), units.dial, Pen(({} if refusals is None else refusals).get))
