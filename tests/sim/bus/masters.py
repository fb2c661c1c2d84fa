"""A plain master, a unit that keeps numbers, and virtual time, for tests of lines."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from sim_hardware.bus import Line, LineFaults, LinePort, Pace, Reply
from sim_hardware.bus.rtu import encode_frame
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play

T = TypeVar("T")
READ = b"\x03\x00\x00\x00\x01"  # one holding register: 8 bytes as a frame
SILENCE = 0.020  # s; longer than a turn-around, shorter than the gaps of faults
COIL = b"\x05\x00\x07\xff\x00"  # its answer equals it


def run(work: Coroutine[Any, Any, T], seed: int = 1) -> T:
    loop = SimLoop(seed)
    answer = play(loop, work)
    assert loop.failures == []
    return answer


class Counting:
    """Answers with how many requests it has had, as a register; refuses what is no read; echoes FC 5."""

    def __init__(self) -> None:
        self.heard: list[bytes] = []

    def answer(self, unit: int, pdu: bytes) -> Reply | None:
        self.heard.append(pdu)
        if unit == 0:
            return None
        if pdu[0] == 5:
            return Reply(pdu)
        if pdu[0] != 3:
            return Reply(bytes((pdu[0] | 0x80, 1)))
        return Reply(b"\x03\x02" + len(self.heard).to_bytes(2, "big"))


class Master(asyncio.Protocol):
    """Writes a frame, and takes what comes until the line has been silent for a while."""

    def __init__(self, line: Line) -> None:
        self.line, self.chunks, self.lost = line, list[tuple[float, bytes]](), False
        self.news = asyncio.Event()
        self.port: LinePort = line.connect(self)

    def data_received(self, data: bytes) -> None:
        self.chunks.append((asyncio.get_running_loop().time(), data))
        self.news.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True

    @property
    def heard(self) -> bytes:
        return b"".join(data for _, data in self.chunks)

    async def ask(self, unit: int, pdu: bytes = READ, patience: float = 1.0) -> bytes:
        self.chunks.clear()
        self.port.write(encode_frame(unit, pdu))
        return await self.listen(patience)

    async def listen(self, patience: float = 1.0) -> bytes:
        """All that comes before a silence; at most `patience` is waited for each piece."""
        wait = patience
        while True:
            self.news.clear()
            try:
                async with asyncio.timeout(wait):
                    await self.news.wait()
            except TimeoutError:
                return self.heard
            wait = SILENCE


Units = dict[int, Counting]


def make_line(faults: LineFaults | None = None, pace: Pace | None = None, units: tuple[int, ...] = (5,)) -> tuple[Line, Units]:
    line = Line("test", pace, seed=3)
    line.faults = faults or LineFaults()
    there = {unit: Counting() for unit in units}
    for unit, counting in there.items():
        line.attach(unit, counting.answer)
    return line, there
