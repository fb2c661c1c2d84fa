"""An RS485 line: masters and units on one pair of wires, one of them at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextvars import copy_context

from sim_hardware.bus.answering import Reply, name_unit, plan_answer
from sim_hardware.bus.dice import Dice
from sim_hardware.bus.faults import LineFaults
from sim_hardware.bus.frames import Run
from sim_hardware.bus.pace import Pace
from sim_hardware.bus.port import LinePort
from sim_hardware.bus.record import Passed, Record
from sim_hardware.bus.rtu import Adu, decode_frame
from sim_hardware.bus.wire import STUCK, Wire

__all__ = ["BROADCAST", "Answer", "Line", "Reply"]

BROADCAST = 0
TURNAROUND_S = 0.004  # from the end of a request's silence to the first byte of the answer; NModbus#203 has 3 to 4 ms

Answer = Callable[[int, bytes], Reply | None]  # unit asked (0: all of them), PDU -> what it answers


class Line:
    """One line. Made anywhere, used on the loop that runs; chance is by seed and name."""

    def __init__(self, name: str, pace: Pace | None = None, seed: int = 0) -> None:
        self.name, self.pace = name, pace or Pace()
        self.record = Record()
        self._dice = Dice(seed, f"line/{name}")
        self._context = copy_context()  # the line outlives the process that writes to it
        self._wire = Wire(self.pace, self._dice, self.record, self._context, self._hear)
        self._units: dict[int, list[tuple[Answer, float]]] = {}
        self._ports: list[LinePort] = []
        self._masters = 0
        self._run = Run(self.pace)
        self._silence: asyncio.TimerHandle | None = None
        self._babbling = False

    @property
    def faults(self) -> LineFaults:
        """What is wrong with it. Set another table to change it; to let a driver babble needs a running loop."""
        return self._wire.faults

    @faults.setter
    def faults(self, faults: LineFaults) -> None:
        self._wire.faults = faults
        if faults.stuck == "babble" and not self._babbling:
            self._babble()

    # who is on the line

    def attach(self, unit: int, answer: Answer, turnaround_s: float = TURNAROUND_S) -> Callable[[], None]:
        """Put a unit on the line and give the way to take it off. A second one of the same id is not refused: both will answer.

        Raises ValueError for an id outside 1 to 247.
        """
        if not 1 <= unit <= 247:
            raise ValueError(f"unit {unit} on line {self.name}: units are 1 to 247")
        entry = (answer, turnaround_s)
        self._units.setdefault(unit, []).append(entry)

        def detach() -> None:
            self._units[unit].remove(entry)

        return detach

    def connect(self, protocol: asyncio.BaseProtocol) -> LinePort:
        """Put a master on the line. Two of them can talk at once, and then neither is understood."""
        self._masters += 1
        port = LinePort(self, f"master {self._masters}", protocol)
        self._ports.append(port)
        protocol.connection_made(port)
        return port

    def forget(self, port: LinePort) -> None:
        """The port is closed."""
        self._ports.remove(port)

    def say(self, talker: str, data: bytes) -> float:
        """Say bytes; give the time at which they end."""
        return self._wire.say(talker, data)

    # what passes

    def _hear(self, piece: Passed) -> None:
        for port in tuple(self._ports):
            if port.name != piece.talker or self.faults.echo:
                port.hear(piece.data)
        self._run.hear(piece)
        self._wait_for_silence()

    def _wait_for_silence(self) -> None:
        if self._silence is not None:
            self._silence.cancel()
        loop = asyncio.get_running_loop()
        self._silence = loop.call_at(self._run.silent_at, self._end_frame, context=self._context)

    def _end_frame(self) -> None:
        self._silence = None
        if self._wire.is_talking(before=self._run.silent_at):
            return  # a byte has begun in time, and will be heard
        run, self._run = self._run, Run(self.pace)
        self.record.counts["frames"] += 1
        talkers = run.list_talkers()
        talked = [unit for unit in self._units if name_unit(unit) in talkers]
        self._ask(self._read(run.make_frame()), [unit for unit in self._units if unit not in talked])
        for unit in talked:  # it did not hear itself, and so a request close behind its answer is whole to it alone
            self._ask(self._read(run.make_frame(name_unit(unit))), [unit])

    def _read(self, frame: bytes | None) -> Adu | None:
        if frame is None:
            self.record.counts["frames.broken"] += 1
            return None
        adu = decode_frame(frame)
        self.record.counts["frames.bad"] += adu is None and frame != b""
        return adu

    # answers

    def _ask(self, adu: Adu | None, hearers: Sequence[int]) -> None:
        if adu is None:
            return
        self.record.counts["broadcasts"] += adu.unit == BROADCAST
        for unit in hearers if adu.unit == BROADCAST else [unit for unit in hearers if unit == adu.unit]:
            for place, (answer, turnaround_s) in enumerate(self._units[unit]):
                reply = answer(adu.unit, adu.pdu)
                if reply is not None and adu.unit != BROADCAST:
                    self._answer(unit, place, reply, turnaround_s)

    def _answer(self, unit: int, place: int, reply: Reply, turnaround_s: float) -> None:
        loop = asyncio.get_running_loop()
        when = loop.time() + turnaround_s + (place and self._dice.throw() * self.pace.character_s)
        for after, talker, data in plan_answer(self.faults, self._dice, self.record.counts, self.pace, unit, reply):
            name = f"{talker}#{place}" if place else talker
            loop.call_at(when + after, self._wire.say, name, data, context=self._context)

    def _babble(self) -> None:
        self._babbling = self.faults.stuck == "babble"
        if self._babbling:
            noise = bytes(self._dice.below(256) for _ in range(8))
            end = self._wire.say(STUCK, noise)
            asyncio.get_running_loop().call_at(end, self._babble, context=self._context)
