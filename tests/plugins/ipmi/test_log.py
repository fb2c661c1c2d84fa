"""The BMC's event log: what was asserted and has not been deasserted since."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.plugin import Reading, State
from supernoded_ipmi.log import MOST, parse_line, read_log

LOST = "Power Supply #0x21 | Power Supply AC lost"
FLAG = frozenset({"Power Supply #0x21: Power Supply AC lost"})


def entry(number: int, time: str, direction: str, event: str = LOST, date: str = "03/04/2026") -> str:
    return f" {number:x} | {date} | {time} | {event} | {direction}  "


def stand(*lines: str) -> frozenset[str] | None:
    value = read_log("\n".join(lines), "n0", 7.0).value
    assert value is None or isinstance(value, frozenset)
    return value


def test_what_was_asserted_stands_till_it_is_deasserted_in_whatever_order_they_come() -> None:
    began, over = entry(1, "10:00:00", "Asserted"), entry(2, "10:05:00", "Deasserted")
    again = entry(3, "11:00:00", "Asserted", date="03/04/26")
    assert stand(began) == FLAG
    assert {stand(*order) for order in permutations((began, over))} == {frozenset()}
    assert {stand(*order) for order in permutations((began, over, again))} == {FLAG}


def test_of_two_at_one_moment_the_recovery_counts() -> None:
    one, other = entry(2, "10:00:00", "Deasserted"), entry(2, "10:00:00", "Asserted")
    assert stand(one, other) == stand(other, one) == frozenset()


def test_without_a_time_the_number_tells_which_was_first() -> None:
    began, over = entry(17, "10:00:00", "Asserted"), entry(18, "0000000061", "Deasserted", date="Pre-Init")
    assert stand(began, over) == stand(over, began) == frozenset()
    assert stand(over, entry(19, "0000000064", "Asserted", date="Pre-Init")) == FLAG


def test_one_event_says_nothing_of_another() -> None:
    assert stand(entry(1, "10:00:00", "Asserted"), entry(2, "10:05:00", "Deasserted", "Fan #0x30 | Lower Critical going low")) == FLAG


def test_a_log_that_is_empty_and_one_that_cannot_be_read_are_not_the_same() -> None:
    assert stand("") == stand("SEL has no entries") == frozenset()
    unread = read_log("Get SEL Info command failed", "n0", 7.0)
    assert (unread.state, unread.note) == (State.UNKNOWN, "no line of a log: 'Get SEL Info command failed'")
    assert read_log(entry(1, "10:00:00", "Asserted"), "n0", 7.0, cut=True).value is None


def test_no_more_are_told_than_fit() -> None:
    told = read_log("\n".join(entry(one, "10:00:00", "Asserted", f"Fan #{one} | slow") for one in range(MOST + 5)), "n0", 7.0)
    assert isinstance(told.value, frozenset)
    assert (len(told.value), told.note) == (MOST, "5 more are not told")


@pytest.mark.parametrize("line", ["", "|||||", "zz | a | b | c | d | Asserted", "1 | a | b | c | d", "1 | a | b | c | d | seen"])
def test_what_is_no_entry(line: str) -> None:
    assert parse_line(line) is None


PARTS = st.sampled_from(
    ["1", "ff", "03/04/2026", "99/99/2099", "10:00:00", "Pre-Init", "Fan #1", "low", "Asserted", "Deasserted", "|", "\n"]
)


@given(st.one_of(st.text(max_size=200), st.lists(PARTS, max_size=40).map(" | ".join)))
def test_no_text_breaks_it(text: str) -> None:
    assert isinstance(read_log(text, "n0", 7.0), Reading)
