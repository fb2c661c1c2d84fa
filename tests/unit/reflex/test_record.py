"""The record survives whatever befalls it."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.reflex.record import Firing, Recorder, append_firing, parse_firings, read_firings

LOG = logging.getLogger("supernoded.reflex.test")


def make_firing(number: int) -> Firing:
    return Firing(number=number, at=1e9 + number, feeds=("A", "B"), lines=("pduA", "pduB"), delay_ms=0.1, age_ms=12.5)


def list_numbers(path: Path) -> list[int]:
    return [firing.number for firing in read_firings(path)]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "record"
    assert read_firings(path) == []
    for number in (1, 2, 3):
        append_firing(path, make_firing(number), 10_000)
    assert read_firings(path) == [make_firing(number) for number in (1, 2, 3)]


@pytest.mark.parametrize("kept", range(1, 40, 3))
def test_a_torn_tail_takes_no_other_firing_with_it(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "record"
    append_firing(path, make_firing(1), 10_000)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:kept])
    assert list_numbers(path) == [1]
    append_firing(path, make_firing(2), 10_000)
    assert list_numbers(path) == [1, 2]


def test_it_is_bounded_and_keeps_the_newest(tmp_path: Path) -> None:
    path = tmp_path / "record"
    for number in range(1, 201):
        append_firing(path, make_firing(number), 2000)
    sizes = [one.stat().st_size for one in tmp_path.iterdir()]
    assert len(sizes) == 2
    assert max(sizes) < 2000 + 200
    numbers = list_numbers(path)
    assert numbers == list(range(numbers[0], 201))
    assert len(numbers) >= 2000 // 200


@given(st.lists(st.one_of(st.binary(max_size=80), st.integers(1, 1000).map(make_firing)), max_size=12))
def test_any_bytes_are_read(pieces: list[bytes | Firing]) -> None:
    lines = [msgspec.json.encode(piece) if isinstance(piece, Firing) else piece.replace(b"\n", b"") for piece in pieces]
    assert parse_firings(b"\n".join(lines)) == [piece for piece in pieces if isinstance(piece, Firing)]


def test_the_recorder_writes_and_says_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    recorder = Recorder(tmp_path / "record", 10_000, LOG)
    recorder.start()
    recorder.take(make_firing(7))
    recorder.stop()
    assert list_numbers(tmp_path / "record") == [7]
    assert caplog.messages == [
        "firing 7: feeds A, B flagged, shed sent on pduA, pduB, 0.10 ms from bytes in to bytes out, 12.5 ms after all was well"
    ]


def test_a_disk_that_takes_nothing_is_told_once_and_when_it_does_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    place = tmp_path / "folder" / "record"
    recorder = Recorder(place, 10_000, LOG)
    recorder.take(make_firing(1))
    recorder.take(make_firing(2))
    recorder.start()
    recorder.stop()
    assert recorder.lost == 2
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "firing 1 is not in" in caplog.messages[0]


def test_a_disk_that_hangs_costs_firings_of_the_record_and_no_time() -> None:
    recorder = Recorder(Path("/nowhere"), 10_000, LOG)  # its thread is not there, as one that hangs
    for number in range(300):
        recorder.take(make_firing(number))
    assert recorder.lost == 300 - 256
