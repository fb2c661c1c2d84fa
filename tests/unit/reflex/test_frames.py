"""Frames against another's arithmetic, and answers that are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.bus.rtu import encode_frame
from supernoded.reflex.frames import MOST, build_look, build_shed, has_right_crc, is_whole, measure_answer, read_look, seal
from supernoded.settings.reflex import Bank, ShedFrame, Trigger

LOOK = build_look(Trigger(feed="A", line="x", register=102, unit=247, bank=Bank.INPUT, above=0))


def test_the_frames_as_the_manual_has_them() -> None:
    assert build_shed(ShedFrame(line="x", coil=1000)) == encode_frame(0, bytes.fromhex("05 03e8 ff00"))
    assert build_shed(ShedFrame(line="x", register=506, value=0xA55A)) == encode_frame(0, bytes.fromhex("06 01fa a55a"))
    assert encode_frame(247, bytes.fromhex("04 0066 0001")) == LOOK
    assert build_look(Trigger(feed="A", line="x", register=0, above=0)) == encode_frame(1, bytes.fromhex("03 0000 0001"))


@given(st.integers(1, 255), st.binary(min_size=1, max_size=250))
def test_the_crc_is_that_of_pymodbus(unit: int, pdu: bytes) -> None:
    frame = encode_frame(unit, pdu)
    assert seal(frame[:-2]) == frame
    assert has_right_crc(frame, len(frame))


@given(st.integers(0, 65_535))
def test_an_answer_is_read(value: int) -> None:
    came = bytearray(encode_frame(247, b"\x04\x02" + value.to_bytes(2, "big")))
    assert read_look(LOOK, came, 7) == value
    assert read_look(LOOK, came, 6) is None
    assert read_look(LOOK, bytearray(b"\x00" + came), 8) is None


@given(st.integers(0, 65_535), st.integers(0, 6), st.integers(1, 255))
def test_no_spoilt_byte_is_taken_for_a_value(value: int, place: int, flip: int) -> None:
    came = bytearray(encode_frame(247, b"\x04\x02" + value.to_bytes(2, "big")))
    came[place] ^= flip
    assert read_look(LOOK, came, 7) is None


@pytest.mark.parametrize(
    "stranger", [(246, b"\x04\x02\x00\x01"), (247, b"\x03\x02\x00\x01"), (247, b"\x04\x04\x00\x01"), (247, b"\x84\x02\x00\x00")]
)
def test_a_sound_frame_of_another_kind_is_no_answer(stranger: tuple[int, bytes]) -> None:
    assert read_look(LOOK, bytearray(encode_frame(*stranger)), 7) is None


@pytest.mark.parametrize(
    ("pdu", "length"),
    [
        *(("03 0000 0014", 45), ("04 0000 0001", 7), ("01 0000 0009", 7), ("02 0000 0008", 6), ("05 0001 ff00", 8), ("06 0001 0002", 8)),
        *(("10 0001 0001 02 0000", 8), ("0f 0001 0001 01 01", 8), ("2b 0e 03 00", MOST), ("03 0000 ffff", MOST)),
    ],
)
def test_how_long_an_answer_can_be(pdu: str, length: int) -> None:
    assert measure_answer(encode_frame(9, bytes.fromhex(pdu))) == length


@given(st.binary(max_size=300))
def test_any_request_has_a_length(request: bytes) -> None:
    assert 0 <= measure_answer(request) <= MOST


def test_a_broadcast_has_no_answer() -> None:
    assert measure_answer(build_shed(ShedFrame(line="x", coil=1))) == 0


def test_an_exception_ends_the_answer() -> None:
    request, answer = encode_frame(9, bytes.fromhex("03 0000 0014")), bytearray(encode_frame(9, b"\x83\x02"))
    assert is_whole(request, answer, 5, 45)
    assert not is_whole(request, answer, 4, 45)
    assert not is_whole(request, bytearray(encode_frame(8, b"\x83\x02")), 5, 45)
    answer[2] ^= 1
    assert not is_whole(request, answer, 5, 45)
