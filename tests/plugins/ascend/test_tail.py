"""What is new at the end of a log."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from supernoded_ascend.tail import MOST_CHARACTERS, Known, follow, measure_overlap, split_end

LINES = st.lists(st.sampled_from(["a", "b", "ab", ""]), max_size=12)


def test_growth_rotation_and_an_end_that_is_not_written_yet() -> None:
    known, news = follow(Known(), ["a", "b", "half"])
    assert news == ["a", "b"]
    known, news = follow(known, ["a", "b", "half a line", "c"])
    assert news == ["half a line"]
    known, news = follow(known, ["b", "half a line", "c"])  # the head was cut off
    assert news == []
    known, news = follow(known, ["new", "log"])
    assert news == ["c", "new"]
    known, news = follow(known, [])
    assert (known, news) == (Known(), ["log"])


@given(LINES, st.lists(st.integers(0, 12), max_size=6))
def test_a_log_that_only_grows_gives_each_line_once(lines: list[str], cuts: list[int]) -> None:
    known, seen = Known(), list[str]()
    for cut in [*sorted(cuts), len(lines)]:
        known, news = follow(known, lines[:cut])
        seen += news
    assert seen == lines[:-1]
    assert known.last == (lines[-1] if lines else None)


@given(LINES, LINES)
def test_the_overlap_is_the_greatest(before: list[str], lines: list[str]) -> None:
    most = min(len(before), len(lines))
    assert measure_overlap(before, lines) == max(size for size in range(most + 1) if before[len(before) - size :] == lines[:size])


@given(st.lists(LINES, max_size=6))
def test_nothing_is_lost_whatever_a_log_becomes(logs: list[list[str]]) -> None:
    known, seen = Known(), list[str]()
    for lines in logs:
        known, news = follow(known, lines)
        seen += news
    assert (set(seen) | ({known.last} if known.last is not None else set())) >= {line for lines in logs for line in lines} - {"", "a"}


def test_only_whole_lines_of_a_long_end() -> None:
    text = "\n".join(f"line {number:06}" for number in range(20_000))
    lines = split_end(text)
    assert len("\n".join(lines)) <= MOST_CHARACTERS
    assert all(len(line) == 11 for line in lines)
    assert lines[-1] == "line 019999"
    assert split_end("a\nb") == ["a", "b"]
