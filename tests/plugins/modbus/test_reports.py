"""What people have reported of serial lines and Modbus libraries, as inputs: what comes out of each read, one after the other.

Each case has the number of its report. All registers answer in one shape, so that an answer to another request could be taken for one's
own. Faults by chance are in `torture.py`, whose classes these are too: split, late, duplicate, echo, no CRC, dropped and flipped bytes.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from sim_hardware.bus.rtu import decode_frame, encode_frame
from sim_hardware.loop import SimLoop
from sim_hardware.loop.clock import SimClock
from supernoded.plugin import WireError
from supernoded.testing import ManualClock, MemoryWires
from supernoded_modbus.bus import Bus, Pace
from supernoded_modbus.frames import ask_for, read_answer, tell_coil
from supernoded_modbus.maps import read_map
from supernoded_modbus.member import Member
from tests.plugins.modbus.lines import Played, make_bus, make_unit
from tests.plugins.modbus.torture import ANSWER_S, SCOPE, UNITS, Bank, expect_word, make_map
from tests.unit.wire.units import Saying, Units, make_line, run

BAUD = 19200
Says = Callable[[int, bytes, bytes], Sequence[Saying]]  # which request it is, the request, and the frame that is its answer
RIGHT, WRONG, BAD = "", "another value", "crc_errors"
KINDS = ("timeouts", "crc_errors", "strays", "echo_errors", "exceptions")


def well(_: int, __: bytes, frame: bytes) -> Sequence[Saying]:
    return [(0.004, frame)]


def first(count: int, spoilt: Says) -> Says:
    """The first so many answers come like this, the others as they should."""
    return lambda place, request, frame: (spoilt if place < count else well)(place, request, frame)


def in_pieces(gap: float, *cuts: int) -> Says:
    """With pauses before these bytes."""
    places = (0, *cuts, None)
    return lambda _, __, frame: [(0.004 + gap * at, frame[places[at] : places[at + 1]]) for at in range(len(cuts) + 1)]


def refuse(request: bytes, code: int) -> bytes:
    return encode_frame(request[0], bytes((request[1] | 0x80, code)))


@dataclass(frozen=True)
class Report:
    """`told` is what each read comes to: `RIGHT`, or what its failure counts as."""

    id: str
    says: Says
    told: tuple[str, ...]
    query: str = ""


REPORTS = (
    Report("pymodbus#688-partial-reads", in_pieces(0.01, 1, 4), (RIGHT,) * 3),
    Report(
        "pymodbus#356-half-frames-and-then-whole-ones",
        first(3, lambda _, __, f: [(0.004, f[:3] + f[:4])]),
        (*["crc_errors"] * 3, RIGHT, RIGHT),
    ),
    Report("pymodbus#367-late", first(1, lambda _, __, f: [(ANSWER_S + 0.05, f)]), ("timeouts", RIGHT, RIGHT)),
    Report("pymodbus#375-late-every-other-time", lambda at, _, f: [(0.004 if at % 2 else 0.2, f)], ("timeouts", RIGHT) * 3),
    Report("pymodbus#1654-one-is-dead", lambda _, r, f: [(0.004, f)] if r[0] == 2 else [], ("timeouts", RIGHT) * 3),
    Report("pymodbus#2269-one-is-dead-for-long", lambda _, r, f: [(0.004, f)] if r[0] == 2 else [], ("timeouts", RIGHT) * 20),
    Report("pymodbus#2592-echo", lambda _, r, f: [(0.0, r), (0.008, f)], (RIGHT,) * 3, "&echo=yes"),
    Report("pymodbus#1722-echo-in-pieces", lambda _, r, f: [(0.0, r[:3]), (0.005, r[3:] + f)], (RIGHT,) * 3, "&echo=yes"),
    Report("pymodbus#1675-echo-with-the-answer", lambda _, r, f: [(0.01, r + f)], (RIGHT,) * 3, "&echo=yes"),
    Report("pymodbus#2414-it-answers-its-own-echo", lambda _, r, f: [(0.004, f), (0.012, refuse(r, 1))], (RIGHT,) * 3),
    Report("echo-that-nobody-declared", lambda _, r, f: [(0.0, r), (0.008, f)], ("echo_errors",) * 3),
    Report("tokio-modbus#60-exception-without-CRC", first(2, lambda _, r, __: [(0.004, refuse(r, 2)[:3])]), (BAD, BAD, RIGHT)),
    Report("jSerialComm#369-16-ms-in-the-adapter", in_pieces(0.016, 2, 5), (RIGHT,) * 3, "&adapter_ms=16"),
    Report("jSerialComm#355-all-at-the-timer", lambda _, __, f: [(0.032, f)], (RIGHT,) * 3, "&adapter_ms=16"),
    Report("NModbus#203-4-ms-turnaround", well, (RIGHT,) * 3),
    Report("pyftdi#186-11-ms-gaps", in_pieces(0.011, 2, 4, 6), (RIGHT,) * 3),
    Report("libmodbus#249-the-first-bytes-are-cut", first(2, lambda _, __, f: [(0.004, f[3:])]), ("strays", "strays", RIGHT)),
    Report("nut#3414-late-and-then-called-invalid", lambda at, _, f: [(0.004 if at else 0.07, f)], ("timeouts", RIGHT, RIGHT)),
)


class Story:
    """Two units on a line, which answer as the report has it."""

    def __init__(self, report: Report) -> None:
        self.units, self._report, self._asked = Units(self._answer), report, 0
        self._banks = {number: Bank(number) for number in UNITS}
        self.line = make_line(self.units, f"baud={BAUD}{report.query}")
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimLoop)
        self.bus = Bus(self.line, Pace(BAUD), SimClock(loop, "n0"))
        self.members = [Member(number, f"pdu/{number}", make_map()) for number in UNITS]
        for member in self.members:
            self.bus.join(member)

    def _answer(self, request: bytes) -> Sequence[Saying]:
        adu = decode_frame(request)
        assert adu is not None
        reply = self._banks[adu.unit].answer(adu.unit, adu.pdu) if adu.unit else None
        frame, place = encode_frame(adu.unit, reply.pdu) if reply is not None else b"", self._asked
        self._asked += 1
        return self._report.says(place, request, frame)

    async def read(self, place: int) -> str:
        """Another register each time, of the two in turn; what it comes to."""
        member, address, before = self.members[place % 2], 10 * place, dict(self.bus.counts)
        try:
            pdu = await self.bus.ask(member, ask_for("holding", address, 1), urgent=True)
        except WireError:
            return next(kind for kind in KINDS if self.bus.counts[kind] > before.get(kind, 0))
        return RIGHT if read_answer(pdu, 1) == [expect_word(member.number, address)] else WRONG


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.id)
def test_a_report(report: Report) -> None:
    async def live() -> None:
        story, told = Story(report), list[str]()
        for place in range(len(report.told)):
            told.append(await story.read(place))
        assert tuple(told) == report.told
        assert story.units.dials == 1  # a line that works for one is never closed

    run(live())


@pytest.mark.parametrize("report", ["pymodbus#2326", "pymodbus#2689"])
def test_an_adapter_that_is_plugged_in_again(report: str) -> None:
    """It falls off in the middle of an answer, or between two, is not there for a while, and then is."""

    async def live() -> None:
        story = Story(Report(report, well, ()))
        assert await story.read(0) == RIGHT
        if report == "pymodbus#2326":
            asyncio.get_running_loop().call_later(0.002, story.units.fall_off)
            assert await story.read(1) == "timeouts"
        else:
            story.units.fall_off()
        story.units.refusals = [OSError(2, "No such file or directory")]
        await asyncio.sleep(1.1)
        assert await story.read(2) == "timeouts"
        await asyncio.sleep(1.1)
        assert [await story.read(place) for place in (3, 4)] == [RIGHT, RIGHT]
        assert (story.units.dials, story.line.counts["losses"]) == (3, 1)

    run(live())


def test_the_echo_of_a_broadcast_is_none_of_the_next_answer() -> None:
    """pymodbus#1744: whoever asks at once gets the answer, though the broadcast's echo is only on its way."""

    async def live() -> None:
        story = Story(Report("", lambda _, r, f: [(0.006, r), *([(0.014, f)] if f else [])], (), "&echo=yes"))
        telling = asyncio.create_task(story.bus.broadcast(SCOPE, tell_coil(5, on=True)))
        await asyncio.sleep(0)
        assert await story.read(1) == RIGHT
        await telling
        assert story.bus.counts["echo_errors"] == 0

    run(live())


FLOATS = read_map(
    b"""
text = "t"
probes = [{low = "supply", high = "return", least = 5.0, most = 60.0}]
rows = [
    {name = "serial", address = 0, kind = "text", length = 2},
    {name = "supply", address = 10, kind = "f32", order = "cdab"},
    {name = "return", address = 12, kind = "f32", order = "cdab"},
    {name = "w", address = 20, writable = true, high = 1000.0},
]
""",
    "t",
)


@pytest.mark.parametrize(
    ("form", "address", "fits"),
    [("<", 10, True), (">", 10, False), ("<", 11, False), ("<", 9, False)],
    ids=["as-declared", "telegraf#7518-word-order", "openems#86-one-register-on", "openems#86-one-register-before"],
)
async def test_a_map_that_does_not_fit_is_found_out_before_anything_is_written(
    form: str, address: int, fits: bool, supernoded_wires: MemoryWires, supernoded_clock: ManualClock
) -> None:
    played = Played(supernoded_wires)
    unit = make_unit(make_bus(played, supernoded_clock), FLOATS, supernoded_clock, serial="S1")
    words = [word for value in (22.1, 31.9) for word in (halves(value) if form == ">" else reversed(halves(value)))]
    played.banks[1].words |= {0: 0x5331, 1: 0, **dict(enumerate(words, address))}
    writing = asyncio.create_task(unit.write(SCOPE, ("w", -1), 7.0))
    for _ in range(20):
        await supernoded_clock.advance(0.1)
    if fits:
        await writing
    else:
        with pytest.raises(WireError, match="is the register map right"):
            await writing
    assert (20 in played.banks[1].words) is fits


def halves(value: float) -> tuple[int, int]:
    """Its two registers, the high one first."""
    high, low = struct.unpack(">2H", struct.pack(">f", value))
    return high, low
