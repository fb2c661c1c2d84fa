"""Where an answer stands in what has come: never in garbage, never another unit's, and behind noise all the same."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.bus.rtu import decode_frame, encode_frame
from supernoded_modbus.frames import FrameError, Question, RtuFinder, TcpFinder, ask_for, read_answer, tell_coil, tell_registers

QUESTIONS = (
    ask_for("holding", 100, 2),
    ask_for("input", 3, 60),
    ask_for("coil", 0, 11),
    ask_for("discrete", 200, 1),
    tell_registers(500, (1, 2, 3)),
    tell_coil(1000, on=True),
)
questions = st.sampled_from(QUESTIONS)


def answer_to(question: Question, fill: int = 7) -> bytes:
    return question.begins + bytes((fill,)) * (question.length - len(question.begins))


def test_requests_are_those_of_the_standard() -> None:
    assert [one.pdu.hex() for one in QUESTIONS] == [
        "0300640002",
        "040003003c",
        "010000000b",
        "0200c80001",
        "1001f4000306000100020003",
        "0503e8ff00",
    ]
    assert RtuFinder(1, QUESTIONS[0]).frame == encode_frame(1, QUESTIONS[0].pdu)
    assert TcpFinder(1, QUESTIONS[0], 0x1234).frame.hex() == "12340000000601" + QUESTIONS[0].pdu.hex()


@given(question=questions, noise=st.binary(max_size=8), tail=st.binary(max_size=20))
def test_an_answer_is_found_behind_noise_and_before_more(question: Question, noise: bytes, tail: bytes) -> None:
    finder = RtuFinder(9, question)
    frame = encode_frame(9, answer_to(question))
    found = finder(noise + frame + tail)
    assert found is not None
    assert finder.cut((noise + frame + tail)[found]) == answer_to(question)


@given(question=questions, cut=st.integers(0, 200))
def test_half_an_answer_is_waited_for(question: Question, cut: int) -> None:
    frame = encode_frame(9, answer_to(question))
    assert RtuFinder(9, question)(frame[: cut % len(frame)]) is None


@given(question=questions, code=st.integers(1, 11))
def test_an_exception_is_an_answer(question: Question, code: int) -> None:
    refusal = bytes((question.pdu[0] | 0x80, code))
    finder = RtuFinder(9, question)
    found = finder(encode_frame(9, refusal))
    assert found is not None
    assert finder.cut(encode_frame(9, refusal)[found]) == refusal


@given(question=questions, garbage=st.binary(max_size=600), unit=st.integers(1, 247))
def test_in_garbage_there_is_no_answer(question: Question, garbage: bytes, unit: int) -> None:
    finder = RtuFinder(unit, question)
    try:
        found = finder(garbage)
    except FrameError:
        return
    assert found is None or decode_frame(garbage[found]) is not None


@given(question=questions, other=questions, unit=st.integers(1, 247))
def test_the_answer_to_something_else_is_none(question: Question, other: Question, unit: int) -> None:
    frame = encode_frame(unit, answer_to(other))
    if unit != 9 or other.begins != question.begins:
        assert RtuFinder(9, question)(frame) is None


@given(question=questions, place=st.integers(0, 1000), bit=st.integers(0, 7))
def test_one_flipped_bit_is_seen(question: Question, place: int, bit: int) -> None:
    frame = bytearray(encode_frame(9, answer_to(question)))
    frame[place % len(frame)] ^= 1 << bit
    assert RtuFinder(9, question)(bytes(frame)) is None


@pytest.mark.parametrize("question", [one for one in QUESTIONS if one.reads])
def test_an_echo_that_nobody_declared_is_told(question: Question) -> None:
    finder = RtuFinder(9, question)
    with pytest.raises(FrameError, match="echo=yes") as caught:
        finder(finder.frame + encode_frame(9, answer_to(question)))
    assert caught.value.kind == "echo_errors"


def test_a_driver_that_does_not_let_go_is_told() -> None:
    with pytest.raises(FrameError, match="does not let go"):
        RtuFinder(9, QUESTIONS[0])(bytes(300))


@pytest.mark.parametrize(
    ("came", "kind"), [(b"", "timeouts"), (b"\x09\x03\x04\x00", "crc_errors"), (encode_frame(8, b"\x03\x02\x00\x00"), "strays")]
)
def test_what_the_silence_was(came: bytes, kind: str) -> None:
    finder = RtuFinder(9, QUESTIONS[0])
    assert finder(came) is None
    assert finder.name_fault() == kind


def frame_tcp(transaction: int, pdu: bytes, unit: int = 1) -> bytes:
    return struct.pack(">HHHB", transaction, 0, len(pdu) + 1, unit) + pdu


@given(question=questions, others=st.lists(st.integers(0, 0xFFFF).filter(lambda number: number != 77), max_size=5))
def test_answers_to_other_transactions_are_passed_over(question: Question, others: list[int]) -> None:
    finder = TcpFinder(1, question, 77)
    late = b"".join(frame_tcp(number, answer_to(question, 1)) for number in others)
    assert finder(late) is None
    came = late + frame_tcp(77, answer_to(question, 2))
    found = finder(came)
    assert found is not None
    assert finder.cut(came[found]) == answer_to(question, 2)


@pytest.mark.parametrize(("asked", "answers", "taken"), [(1, 1, True), (1, 2, False), (1, 255, False), (255, 1, True), (0, 1, True)])
def test_another_units_answer_under_our_transaction_is_refused(asked: int, answers: int, taken: bool) -> None:
    came = frame_tcp(77, answer_to(QUESTIONS[0]), answers)
    finder = TcpFinder(asked, QUESTIONS[0], 77)
    if taken:
        assert finder(came) == slice(0, len(came))
        return
    with pytest.raises(FrameError, match=f"unit {asked} was asked, and transaction 77 is answered by unit {answers}") as caught:
        finder(came)
    assert caught.value.kind == "strays"


@given(question=questions, garbage=st.binary(max_size=300))
def test_no_garbage_over_tcp_is_an_answer(question: Question, garbage: bytes) -> None:
    finder = TcpFinder(1, question, 77)
    try:
        found = finder(garbage)
    except FrameError:
        return
    assert found is None or garbage[found][:2] == b"\x00\x4d"


def test_something_else_under_our_transaction_is_refused() -> None:
    with pytest.raises(FrameError, match="something else"):
        TcpFinder(1, QUESTIONS[0], 77)(frame_tcp(77, b"\x04\x02\x00\x00"))
    with pytest.raises(FrameError, match="no Modbus TCP"):
        TcpFinder(1, QUESTIONS[0], 77)(b"HTTP/1.1 200 OK")


def test_answers_are_read() -> None:
    assert read_answer(b"\x03\x04\x00\x01\xff\xff", 2) == [1, 65535]
    assert read_answer(b"\x01\x02\x05\x02", 11) == [1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0]


@given(st.binary(min_size=1, max_size=60), st.integers(1, 20))
def test_what_cannot_be_read_is_an_error(pdu: bytes, count: int) -> None:
    try:
        words = read_answer(pdu, count)
    except FrameError:
        return
    assert all(0 <= word <= 0xFFFF for word in words)
