"""How a unit's answer goes onto the wire, when the line's faults have had their way with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from sim_hardware.bus.dice import Dice
from sim_hardware.bus.faults import LineFaults
from sim_hardware.bus.pace import Pace
from sim_hardware.bus.rtu import encode_frame

_EXCEPTION = 0x80  # bit of a function code


class Reply(NamedTuple):
    """What a unit answers."""

    pdu: bytes
    delay_s: float = 0.0  # beyond its turn-around
    garbled: bool = False  # one byte is wrong


class Saying(NamedTuple):
    """Bytes to be said `after` so many seconds."""

    after: float
    talker: str
    data: bytes


def plan_answer(faults: LineFaults, dice: Dice, counts: Counter[str], pace: Pace, unit: int, reply: Reply) -> Iterator[Saying]:
    """What is said for an answer, and by whom; nothing where it is lost."""
    if unit in faults.silent or dice.hits(faults.drop_frames):
        counts["answers.silenced" if unit in faults.silent else "answers.dropped"] += 1
        return
    frame = _frame_answer(faults, dice, counts, unit, reply)
    after = reply.delay_s
    if faults.late_s and dice.hits(faults.late_share):
        counts["answers.late"] += 1
        after += faults.late_s
    talker = name_unit(unit)
    sayings = list(_split(faults, dice, counts, pace, Saying(after, talker, frame)))
    if dice.hits(faults.duplicate):
        counts["answers.duplicated"] += 1
        whole = sayings[-1].after + pace.time_of(len(sayings[-1].data)) + 2 * pace.t35
        sayings.append(Saying(whole, talker, frame))
    counts["answers"] += 1
    yield from sayings
    if unit in faults.twins:
        counts["answers.twinned"] += 1
        yield Saying(after + dice.throw() * pace.character_s, f"{talker}#twin", frame)


def name_unit(unit: int) -> str:
    """The talker's name of a unit."""
    return f"unit {unit}"


def _frame_answer(faults: LineFaults, dice: Dice, counts: Counter[str], unit: int, reply: Reply) -> bytes:
    if unit in faults.wrong_unit:
        counts["answers.wrong_unit"] += 1
        unit = unit % 247 + 1
    frame = encode_frame(unit, reply.pdu)
    if reply.pdu[0] & _EXCEPTION and dice.hits(faults.no_crc):
        counts["answers.no_crc"] += 1
        frame = frame[:-2]
    if reply.garbled:
        counts["answers.garbled"] += 1
        frame = dice.garble(frame)
    return frame


def _split(faults: LineFaults, dice: Dice, counts: Counter[str], pace: Pace, saying: Saying) -> Iterator[Saying]:
    if not faults.split_s:
        yield saying
        return
    counts["answers.split"] += 1
    cut = 1 + dice.below(len(saying.data) - 1)
    yield saying._replace(data=saying.data[:cut])
    yield saying._replace(after=saying.after + pace.time_of(cut) + faults.split_s, data=saying.data[cut:])
