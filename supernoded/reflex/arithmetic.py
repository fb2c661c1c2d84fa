"""How long it takes on a line, at worst: nothing but arithmetic, and the sentence that shows it. All times are in seconds.

Sources: Modbus over Serial Line V1.02, section 2.5.1.1 for the silences; a byte is a start bit, eight data bits, perhaps a parity bit,
and the stop bits. Eight bytes of 11 bits with their silence take 13.2 ms at 9600 baud and 2.5 ms at 115200.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from supernoded.settings.reflex import Parity, Reflex, ReflexLine, ShedFrame, Trigger

REQUEST = 8  # bytes of a request for registers, and of a write of one coil or register
LOOK_ANSWER = 7  # bytes of the answer with one register
FIXED_ABOVE = 19_200  # baud above which the silence is fixed
FIXED_SILENCE = 1.75e-3


class Pace(msgspec.Struct, frozen=True):
    """Speed and format of a line."""

    baud: int
    bits: int = 11  # of one byte on the wire

    def time_bytes(self, count: int) -> float:
        """Seconds that so many bytes take, one after the other."""
        return count * self.bits / self.baud

    @property
    def silence(self) -> float:
        """The silence of 3.5 characters that ends a frame, s."""
        return FIXED_SILENCE if self.baud > FIXED_ABOVE else self.time_bytes(7) / 2.0


class Term(msgspec.Struct, frozen=True):
    """One part of a sum, and in words what it is."""

    what: str
    seconds: float


class Sum(msgspec.Struct, frozen=True):
    """A worst case as the sum of its parts."""

    terms: tuple[Term, ...]

    @property
    def total(self) -> float:
        """The whole, s."""
        return sum(term.seconds for term in self.terms)

    def __str__(self) -> str:
        """The arithmetic, as `2 x 10 ms between looks + ... = 31.2 ms`; parts of no length are left out."""
        shown = " + ".join(f"{term.what} {1e3 * term.seconds:.2f} ms" for term in self.terms if term.seconds > 0)
        return f"{shown or 'nothing'} = {1e3 * self.total:.2f} ms"


def pace_of(line: ReflexLine) -> Pace:
    """The pace of a line as it is set."""
    return Pace(line.baud, 9 + (line.parity is not Parity.NONE) + line.stop)


def sum_exchange(line: ReflexLine, request: int, answer: int) -> Sum:
    """A request of so many bytes and its longest answer, until the line is free for the next one."""
    pace = pace_of(line)
    return Sum(
        (
            Term(f"{request} bytes at {line.baud} baud", pace.time_bytes(request)),
            Term("silence", pace.silence),
            Term("turn-around", line.turnaround_ms / 1e3),
            Term(f"answer of {answer} bytes", pace.time_bytes(answer)),
            Term("adapter", line.adapter_ms / 1e3),
            Term("silence", pace.silence),
        )
    )


def sum_looks(reflex: Reflex, line: ReflexLine) -> Sum:
    """One look at each register that is polled on a line."""
    polled = [trigger for trigger in reflex.triggers if trigger.line == line.name and trigger.register is not None]
    return Sum(tuple(Term(f"look at {one.feed}", sum_exchange(line, REQUEST, LOOK_ANSWER).total) for one in polled))


def sum_detection(reflex: Reflex, trigger: Trigger) -> Sum:
    """From the moment at which a UPS shows the sag until we have it. At worst it comes right after a look."""
    line = _find_line(reflex, trigger.line)
    if trigger.contact is not None:
        return Sum((Term("look at the contact", trigger.interval_s), Term("debounce", trigger.debounce_ms / 1e3 + trigger.interval_s)))
    looks = sum_looks(reflex, line).total
    every = max(trigger.interval_s, looks)
    shed = next((pace_of(line).time_bytes(REQUEST) for frame in reflex.frames if frame.line == line.name), 0.0)
    return Sum(
        (
            Term(f"{trigger.frames} x {1e3 * every:g} ms between looks", trigger.frames * every),
            Term("poll in flight before the first", line.poll_ms / 1e3),
            Term("looks at the line's other feeds", looks - sum_exchange(line, REQUEST, LOOK_ANSWER).total),
            Term("look", sum_exchange(line, REQUEST, LOOK_ANSWER).total - pace_of(line).silence),
            Term("silence before we speak", pace_of(line).silence if shed else 0.0),
        )
    )


def sum_frame(reflex: Reflex, frame: ShedFrame) -> Sum:
    """The worst way to the end of one line's frame: the slowest trigger, what may be in flight, the frame, and its silence."""
    line = _find_line(reflex, frame.line)
    pace = pace_of(line)
    slowest = max((sum_detection(reflex, trigger) for trigger in reflex.triggers), key=lambda one: one.total)
    flying = max(line.poll_ms / 1e3, sum_looks(reflex, line).total)
    return Sum(
        (
            *slowest.terms,
            Term("longest that may be in flight", flying),
            Term("scheduling", reflex.scheduling_ms / 1e3),
            Term(f"{REQUEST} bytes at {line.baud} baud", pace.time_bytes(REQUEST)),
            Term("silence", pace.silence),
        )
    )


def find_refusal(line: ReflexLine, request: int, answer: int) -> str | None:
    """Why a poll of the daemon may not go onto a line at all, with the arithmetic; None when it fits."""
    price, room = sum_exchange(line, request, answer), line.poll_ms / 1e3
    if price.total <= room:
        return None
    return f"a poll on {line.name} may take {line.poll_ms:g} ms (poll_ms), this one takes {price}"


def list_late(reflex: Reflex) -> Iterator[tuple[int, str]]:
    """Which frames (by their place) cannot be out in time, each with the arithmetic."""
    for index, frame in enumerate(reflex.frames):
        worst = sum_frame(reflex, frame)
        if worst.total > reflex.deadline_ms / 1e3:
            yield index, f"cannot be out within {reflex.deadline_ms:g} ms: {worst}"


def list_crowded(reflex: Reflex) -> Iterator[tuple[int, str]]:
    """Which triggers (by their place) are asked oftener than their line can carry."""
    for index, trigger in enumerate(reflex.triggers):
        if trigger.register is not None and trigger.interval_s < (looks := sum_looks(reflex, _find_line(reflex, trigger.line))).total:
            yield index, f"is asked every {1e3 * trigger.interval_s:g} ms, and its line is busy for longer: {looks}"


def explain(reflex: Reflex) -> Sequence[str]:
    """A sentence for each line that fires."""
    return [f"{frame.line}: {sum_frame(reflex, frame)}, of {reflex.deadline_ms:g} ms" for frame in reflex.frames]


def _find_line(reflex: Reflex, name: str) -> ReflexLine:
    return next(line for line in reflex.lines if line.name == name)
