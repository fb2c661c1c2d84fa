"""The pair of wires: who talks when, what collides, what is lost. Times of bytes are the model's own, not those of a loop that is late."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass

from sim_hardware.bus.dice import Dice
from sim_hardware.bus.faults import LineFaults
from sim_hardware.bus.pace import Pace
from sim_hardware.bus.record import Passed, Record

FIFO = 14  # bytes that a UART gathers before it tells anybody (16550A, trigger level 14)
STUCK = "stuck driver"
BACKLOG_S = 10.0  # what a talker has still to say, at most; more is lost, as from a full buffer
_EPSILON = 1e-9  # s; two bytes that touch do not collide


@dataclass(eq=False)
class Burst:
    """Bytes that one talker says without a pause."""

    talker: str
    start: float
    end: float
    data: bytes
    landed: bool = False


class Wire:
    """Carries bursts at the line's pace. Overlapping bursts of two talkers are garbage for everybody while they overlap."""

    def __init__(self, pace: Pace, dice: Dice, record: Record, context: Context, hear: Callable[[Passed], None]) -> None:
        self.pace, self.dice, self.record, self.context, self.hear = pace, dice, record, context, hear
        self.faults = LineFaults()
        self._air: list[Burst] = []
        self._free_at: dict[str, float] = {}  # when a talker has said all that it was given

    def say(self, talker: str, data: bytes) -> float:
        """Say the bytes now, or as soon as the same talker has ended; give the time at which they end."""
        loop = asyncio.get_running_loop()
        start = max(loop.time(), self._free_at.get(talker, 0.0))
        if start - loop.time() > BACKLOG_S:
            self.record.counts["overruns"] += len(data)
            return start
        self._free_at[talker] = start + self.pace.time_of(len(data))
        burst = Burst(talker, start, self._free_at[talker], data)
        self._air.append(burst)
        for first in range(0, len(data), FIFO):
            last = min(first + FIFO, len(data))
            loop.call_at(start + self.pace.time_of(last), self._land, burst, first, last, context=self.context)
        return burst.end

    def is_talking(self, before: float) -> bool:
        """Whether somebody has begun before this time and is not at an end."""
        return any(not burst.landed and burst.start < before for burst in self._air)

    def _land(self, burst: Burst, first: int, last: int) -> None:
        said = burst.data[first:last]
        start = burst.start + self.pace.time_of(first)
        heard = self._spoil(burst, self._collide(burst, said, start))
        piece = Passed(start, burst.start + self.pace.time_of(last), burst.talker, heard, said)
        if last == len(burst.data):
            burst.landed = True
            self._forget()
        self.record.pieces.append(piece)
        self.record.counts["bytes"] += len(said)
        if heard:
            self.hear(piece)

    def _forget(self) -> None:
        """Drop bursts that nothing still on its way can collide with, and talkers that have said all: masters come and go for ever."""
        now = asyncio.get_running_loop().time()
        self._free_at = {talker: at for talker, at in self._free_at.items() if at > now}
        waiting = [burst.start for burst in self._air if not burst.landed]
        first = min(waiting, default=float("inf"))
        self._air = [burst for burst in self._air if not burst.landed or burst.end > first]

    def _collide(self, burst: Burst, said: bytes, start: float) -> bytes:
        others = [(other.start, other.end) for other in self._air if other.talker != burst.talker]
        if not others:
            return said
        heard, step = bytearray(said), self.pace.character_s
        for place in range(len(said)):
            begin, end = start + place * step, start + (place + 1) * step
            if any(low < end - _EPSILON and high > begin + _EPSILON for low, high in others):
                heard[place] ^= 1 + self.dice.below(255)
                self.record.counts["bytes.collided"] += 1
        return bytes(heard)

    def _spoil(self, burst: Burst, data: bytes) -> bytes:
        faults, counts = self.faults, self.record.counts
        if faults.stuck == "held" and burst.talker != STUCK:
            counts["bytes.held"] += len(data)
            return b""
        if not faults.drop_bytes and not faults.flip:
            return data
        kept = bytearray()
        for byte in data:
            if self.dice.hits(faults.drop_bytes):
                counts["bytes.dropped"] += 1
                continue
            flipped = self.dice.hits(faults.flip)
            counts["bytes.flipped"] += flipped
            kept.append(byte ^ (1 << self.dice.below(8)) if flipped else byte)
        return bytes(kept)
