from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.ctl.printing import GAP, LEAST, escape_controls, narrow
from supernoded.ctl.wording import say_count, say_duration, say_result, say_size, say_time, say_value, say_when
from supernoded.messages import Deed
from tests.unit.admin.fake_desk import ACTION, DONE, REHEARSED


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (59.9, "59 s"), (60, "1 min"), (125, "2 min 5 s"), (3600, "1 h"), (7265, "2 h 1 min"), (90_000, "1 d 1 h"), (-5, "5 s")],
)
def test_durations(seconds: float, words: str) -> None:
    assert say_duration(seconds) == words


def test_times_are_local_with_their_age(in_berlin: None) -> None:
    assert say_when(1_800_000_000, 1_800_000_125) == "2027-01-15 09:00:00 (2 min 5 s ago)"
    assert say_when(1_800_000_000, 1_799_992_800) == "2027-01-15 09:00:00 (in 2 h)"
    assert say_when(None, 0) == "-"
    assert say_time(1_800_000_000, 1_800_000_125) == "09:00:00 (2 min 5 s ago)"
    assert say_time(1_800_000_000, 1_800_060_000) == "2027-01-15 09:00:00 (16 h 40 min ago)"  # yesterday, by the local calendar
    assert say_time(None, 0) == "-"


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (None, "V", "-"),
        (12345678901.0, "1", "12,345,678,901"),
        (85298561024.0, "B", "79.4 GiB"),
        (33800000000000.0, "bit", "33.8 Tbit"),
        (0.991211, "1", "0.9912"),
        (1234.0, "s", "20 min 34 s"),
        (-1234.0, "s", "-20 min 34 s"),
        (0.25, "s", "0.25 s"),
        (21.5, "C", "21.5 C"),
        (3.2e-10, "1", "3.2e-10"),
        (float("inf"), "1", "inf"),
        (float("inf"), "V", "inf V"),
        (frozenset({"OL", "CHRG"}), "flags", "CHRG OL"),
        (frozenset(), "flags", "(none)"),
        ("on", "text", "on"),
    ],
)
def test_values(value: float | str | frozenset[str] | None, unit: str, words: str) -> None:
    assert say_value(value, unit) == words


def test_sizes() -> None:
    assert [say_size(s) for s in (0, 1023, 2048, 3 * 2**20, 5 * 2**40)] == ["0 B", "1023 B", "2 KiB", "3 MiB", "5 TiB"]


def test_counts_and_their_plurals() -> None:
    assert [say_count(n, thing) for n, thing in ((1, "sensor"), (0, "sensor"), (2, "remedy"))] == ["1 sensor", "0 sensors", "2 remedies"]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=8), st.integers(1, 200))
def test_columns_give_way_no_more_than_they_must(widths: list[int], room: int) -> None:
    narrowed = narrow(widths, room)
    gaps = GAP * (len(widths) - 1)
    assert all(min(wide, LEAST) <= now <= wide for wide, now in zip(widths, narrowed, strict=True))
    if sum(widths) + gaps <= room:
        assert narrowed == widths
    else:
        assert sum(narrowed) + gaps == room or max(narrowed) <= LEAST


def test_a_rehearsal_is_never_called_done() -> None:
    assert say_result(REHEARSED) == "rehearsed"
    assert say_result(DONE) == "done"
    assert say_result(Deed(action=ACTION)) == "under way"


@given(st.text())
def test_nothing_that_steers_a_terminal_gets_through(text: str) -> None:
    assert all(c.isprintable() or c == "\n" for c in escape_controls(text))


def test_an_escape_is_shown() -> None:
    assert escape_controls("a\x1b[2Jb\rü") == r"a\x1b[2Jb\rü"
