"""Every fault of a line, as a plain master sees it; and what lifts it."""

import asyncio
from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.bus import LineFaults, Pace
from sim_hardware.bus.rtu import decode_frame, encode_frame
from tests.sim.bus.masters import COIL, READ, Master, Units, make_line, run

REQUEST = encode_frame(5, READ)
FIRST = encode_frame(5, b"\x03\x02\x00\x01")


def ask_once(faults: LineFaults, pdu: bytes = READ, unit: int = 5, pace: Pace | None = None) -> tuple[Master, Units]:
    async def scenario() -> tuple[Master, Units]:
        line, units = make_line(faults, pace)
        master = Master(line)
        await master.ask(unit, pdu)
        return master, units

    return run(scenario())


def ask_often(faults: LineFaults, times: int = 200) -> tuple[list[bytes], Master]:
    async def scenario() -> tuple[list[bytes], Master]:
        line, _ = make_line(faults, Pace(115200))
        master = Master(line)
        return [await master.ask(5, COIL, 0.1) for _ in range(times)], master

    return run(scenario())


def test_without_faults_nothing_is_counted() -> None:
    answers, master = ask_often(LineFaults(), 20)
    assert answers == [encode_frame(5, COIL)] * 20
    assert set(+master.line.record.counts) == {"bytes", "frames", "answers"}


def test_echo_comes_before_the_answer() -> None:
    master, _ = ask_once(LineFaults(echo=True))
    assert master.heard == REQUEST + FIRST


def test_echo_of_a_write_to_nobody_looks_like_its_acknowledgement() -> None:
    master, _ = ask_once(LineFaults(echo=True), COIL, unit=9)
    assert master.heard == encode_frame(9, COIL)


def test_dropped_bytes() -> None:
    answers, master = ask_often(LineFaults(drop_bytes=0.02))
    counts = master.line.record.counts
    assert 0.01 < counts["bytes.dropped"] / counts["bytes"] < 0.03
    assert any(0 < len(answer) < 8 for answer in answers)
    assert encode_frame(5, COIL) in answers


def test_dropped_frames_are_whole_answers() -> None:
    answers, master = ask_often(LineFaults(drop_frames=0.3))
    assert set(answers) == {b"", encode_frame(5, COIL)}
    assert 40 < answers.count(b"") == master.line.record.counts["answers.dropped"] < 80


def test_flipped_bits() -> None:
    answers, master = ask_often(LineFaults(flip=0.02))
    counts = master.line.record.counts
    assert 0.01 < counts["bytes.flipped"] / counts["bytes"] < 0.03
    wrong = [answer for answer in answers if len(answer) == 8 and answer != encode_frame(5, COIL)]
    assert wrong
    assert all(decode_frame(answer) is None for answer in wrong)


def test_a_split_answer_has_a_gap() -> None:
    master, _ = ask_once(LineFaults(split_s=0.030))
    assert master.heard != FIRST  # the master took the silence for the end
    assert [talker for _, _, talker, _, _ in master.line.record.pieces] == ["master 1", "unit 5"]


def test_a_split_answer_is_whole_to_who_waits() -> None:
    async def scenario() -> Master:
        line, _ = make_line(LineFaults(split_s=0.030))
        master = Master(line)
        await master.ask(5)
        await asyncio.sleep(1.0)
        return master

    master = run(scenario())
    assert master.heard == FIRST
    pieces = [piece for piece in master.line.record.pieces if piece.talker == "unit 5"]
    assert pieces[1].start - pieces[0].end == pytest.approx(0.030)


def test_a_duplicated_answer_comes_twice() -> None:
    async def scenario() -> Master:
        line, _ = make_line(LineFaults(duplicate=1.0))
        master = Master(line)
        await master.ask(5)
        return master

    master = run(scenario())
    assert master.heard == FIRST * 2
    assert master.line.record.counts["answers.duplicated"] == 1


@given(late=st.floats(0.5, 60.0), seed=st.integers(0, 1000))
def test_a_late_answer_is_whole_and_right(late: float, seed: int) -> None:
    """The trap: it is a right answer to the question before."""

    async def scenario() -> None:
        line, _ = make_line(LineFaults(late_s=late))
        master = Master(line)
        assert await master.ask(5, READ, 0.4) == b""
        line.faults = replace(line.faults, late_s=0.0)
        answer = await master.listen(61.0)
        assert answer == FIRST
        assert decode_frame(answer) == (5, b"\x03\x02\x00\x01")
        assert line.record.counts["answers.late"] == 1
        assert line.record.pieces[-1].end == pytest.approx(late, abs=0.05)

    run(scenario(), seed)


def test_a_late_answer_is_taken_for_that_of_the_next_question() -> None:
    async def scenario() -> None:
        line, _ = make_line(LineFaults(late_s=0.475))
        master = Master(line)
        assert await master.ask(5, READ, 0.48) == b""
        line.faults = LineFaults()
        assert (await master.ask(5)).startswith(FIRST)

    run(scenario())


def test_a_silent_unit_acts_and_says_nothing_while_others_talk() -> None:
    async def scenario() -> None:
        line, units = make_line(LineFaults(silent=frozenset({5})), units=(5, 6))
        master = Master(line)
        assert await master.ask(5) == b""
        assert units[5].heard == [READ]
        assert await master.ask(6)

    run(scenario())


def test_a_wrong_unit_answers_under_the_next_id() -> None:
    master, _ = ask_once(LineFaults(wrong_unit=frozenset({5})))
    assert decode_frame(master.heard) == (6, b"\x03\x02\x00\x01")


def test_two_units_with_one_id_spoil_each_other() -> None:
    answers, master = ask_often(LineFaults(twins=frozenset({5})), 50)
    assert all(len(answer) >= 8 and decode_frame(answer) is None for answer in answers)
    assert master.line.record.counts["bytes.collided"] > 50


def test_two_units_attached_under_one_id_spoil_each_other_too() -> None:
    async def scenario() -> None:
        line, units = make_line()
        line.attach(5, units[5].answer)
        master = Master(line)
        assert decode_frame(await master.ask(5)) is None
        assert len(units[5].heard) == 2

    run(scenario())


def test_two_units_of_one_id_that_are_not_equally_quick_answer_one_behind_the_other_and_not_each_other() -> None:
    async def scenario() -> None:
        line, units = make_line()
        line.attach(5, units[5].answer, turnaround_s=0.015)
        master = Master(line)
        assert await master.ask(5, COIL) == encode_frame(5, COIL) * 2
        assert len(units[5].heard) == 2

    run(scenario())


def test_a_held_line_passes_nothing() -> None:
    master, units = ask_once(LineFaults(stuck="held", echo=True))
    assert master.heard == b""
    assert units[5].heard == []
    assert master.line.record.counts["bytes.held"] == 8


def test_a_babbling_driver_spoils_everything_until_it_is_lifted() -> None:
    async def scenario() -> None:
        line, units = make_line()
        master = Master(line)
        line.faults = LineFaults(stuck="babble")
        line.faults = LineFaults(stuck="babble")  # once is enough
        master.port.write(REQUEST)
        await asyncio.sleep(1.0)
        assert len(master.heard) == pytest.approx(1920, abs=14)
        assert units[5].heard == []
        line.faults = LineFaults()
        await master.listen()
        assert await master.ask(5) == FIRST
        assert line.record.counts["frames.broken"] + line.record.counts["frames.bad"] == 1  # it was one endless frame

    run(scenario())


@pytest.mark.parametrize("usb_ms", [1.0, 16.0])
def test_an_adapter_hands_over_in_bursts(usb_ms: float) -> None:
    async def scenario() -> Master:
        line, _ = make_line(LineFaults(usb_ms=usb_ms), Pace(9600))
        master = Master(line)
        for _ in range(5):
            await master.ask(5)
            await asyncio.sleep(0.1)
        return master

    master = run(scenario())
    assert master.heard
    for at, _ in master.chunks:
        assert at * 1000 / usb_ms == pytest.approx(round(at * 1000 / usb_ms))
    assert master.line.record.counts["bursts.usb"] >= 5


def test_a_full_packet_of_an_adapter_does_not_wait() -> None:
    async def scenario() -> list[float]:
        line, _ = make_line(LineFaults(usb_ms=255.0), Pace(115200))
        master, talker = Master(line), Master(line)
        talker.port.write(bytes(70))
        await master.listen()
        return [at for at, _ in master.chunks]

    times = run(scenario())
    assert times[0] == pytest.approx(70 * 10 / 115200)
    assert len(times) == 1


def test_an_exception_without_checksum() -> None:
    master, _ = ask_once(LineFaults(no_crc=1.0), b"\x04\x00\x00\x00\x01")
    assert master.heard == b"\x05\x84\x01"
    master, _ = ask_once(LineFaults(no_crc=1.0))
    assert master.heard == FIRST  # a right answer keeps its own


def test_late_answers_of_a_share() -> None:
    answers, master = ask_often(LineFaults(late_s=0.200, late_share=0.2), 100)
    assert 8 < master.line.record.counts["answers.late"] < 35
    assert b"" in answers


BOUNDED = [one for one in fields(LineFaults) if "low" in one.metadata]


@pytest.mark.parametrize("one", BOUNDED, ids=lambda one: str(one.name))
def test_every_number_has_its_bounds_and_its_unit(one: Any) -> None:
    low, high = one.metadata["low"], one.metadata["high"]
    assert one.metadata["unit"] in {"share", "s", "ms"}
    given: dict[str, Any] = {}
    for right in (low, high):
        given[one.name] = right
        assert getattr(LineFaults(**given), one.name) == right
    for wrong in (low - 0.01, high + 0.01, float("nan")):
        given[one.name] = wrong
        with pytest.raises(ValueError, match=f"{one.name} = .* {low:g} to {high:g}"):
            LineFaults(**given)


@pytest.mark.parametrize("name", ["silent", "wrong_unit", "twins"])
def test_units_are_1_to_247(name: str) -> None:
    units: dict[str, Any] = {name: frozenset({0})}
    with pytest.raises(ValueError, match=f"{name} has unit 0"):
        LineFaults(**units)


def test_a_driver_sticks_in_one_of_two_ways() -> None:
    unknown: Any = "fast"
    with pytest.raises(ValueError, match="stuck = 'fast'"):
        LineFaults(stuck=unknown)


def test_times_of_pieces_never_run_backwards() -> None:
    _, master = ask_often(LineFaults(split_s=0.001, duplicate=0.5), 50)
    ends = [piece.end for piece in master.line.record.pieces]
    assert all(one <= other + 1e-9 for one, other in pairwise(ends))
