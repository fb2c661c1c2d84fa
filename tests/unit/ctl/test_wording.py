from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.ctl.printing import escape_controls
from supernoded.ctl.wording import say_duration, say_result, say_size, say_value, say_when
from supernoded.messages import Deed
from tests.unit.admin.fake_desk import ACTION, REHEARSED


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


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (None, "V", "-"),
        (12345678901.0, "1", "12345678901"),
        (21.5, "C", "21.5 C"),
        (3.2e-10, "1", "3.2e-10"),
        (float("inf"), "1", "inf"),
        (frozenset({"OL", "CHRG"}), "flags", "CHRG OL"),
        (frozenset(), "flags", "(none)"),
        ("on", "text", "on"),
    ],
)
def test_values(value: float | str | frozenset[str] | None, unit: str, words: str) -> None:
    assert say_value(value, unit) == words


def test_sizes() -> None:
    assert [say_size(s) for s in (0, 1023, 2048, 3 * 2**20, 5 * 2**40)] == ["0 B", "1023 B", "2 KiB", "3 MiB", "5 TiB"]


def test_a_rehearsal_is_never_called_done() -> None:
    assert say_result(REHEARSED) == "rehearsed"
    assert say_result(Deed(action=ACTION, outcome=REHEARSED.outcome)) == "done"
    assert say_result(Deed(action=ACTION)) == "under way"


@given(st.text())
def test_nothing_that_steers_a_terminal_gets_through(text: str) -> None:
    assert all(c.isprintable() or c == "\n" for c in escape_controls(text))


def test_an_escape_is_shown() -> None:
    assert escape_controls("a\x1b[2Jb\rü") == r"a\x1b[2Jb\rü"
