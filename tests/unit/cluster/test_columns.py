"""What is told comes back as it was, in fewer words."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.cluster.columns import LONGEST, Column, is_plain, pack_columns, spread
from supernoded.model import Reading, State

QUANTITIES = ("card.power", "card.health", "rank.card")
VALUES = st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5) | st.frozensets(st.text(max_size=3), max_size=2) | st.none()
READINGS = st.builds(
    Reading,
    subject=st.sampled_from([f"n0/card{slot}" for slot in range(3)]),
    quantity=st.sampled_from(QUANTITIES),
    value=VALUES,
    unit=st.sampled_from(["W", "text"]),
    at=st.sampled_from([0.0, 1.5, 1e9]),
    state=st.sampled_from(list(State)),
    note=st.sampled_from(["", "the tool hangs"]),
    source=st.sampled_from(["a", "b"]),
)


def sort(readings: list[Reading]) -> list[Reading]:
    return sorted(readings, key=lambda one: (one.subject, one.quantity, one.source))


@given(st.lists(READINGS, unique_by=lambda one: (one.subject, one.quantity, one.source)))
def test_nothing_is_lost_on_the_way(readings: list[Reading]) -> None:
    columns, rest = msgspec.json.decode(msgspec.json.encode(pack_columns(readings)), type=tuple[tuple[Column, ...], tuple[Reading, ...]])
    assert sort([*(reading for column in columns for reading in spread(column, 0.0)), *rest]) == sort(readings)


def test_what_was_read_together_is_told_together_and_a_word_on_a_failure_alone() -> None:
    cards = [Reading(subject=f"n0/card{slot}", quantity="card.power", value=300.0, unit="W", at=5.0, source="s") for slot in range(8)]
    failed = msgspec.structs.replace(cards[3], value=None, state=State.UNKNOWN, note="timed out")
    columns, rest = pack_columns([*cards[:3], failed, *cards[4:]])
    assert [(one.quantity, one.at, len(one.values)) for one in columns] == [("card.power", 5.0, 7)]
    assert rest == (failed,)


def test_it_is_moved_in_time() -> None:
    power = Reading(subject="n0/card0", quantity="card.power", value=300.0, unit="W", at=5.0, source="s")
    ((column,), _) = pack_columns([power])
    assert list(spread(column, 2.0)) == [msgspec.structs.replace(power, at=7.0)]


@pytest.mark.parametrize(
    ("change", "plain"),
    [
        ({}, True),
        ({"values": {"n0": 1.0, "n1": "running", "n2": frozenset({"ok"})}}, True),
        ({"values": {"n0": "a\0b"}}, False),
        ({"values": {"n\udc80": 1.0}}, False),
        ({"values": {"n0": frozenset({"two\nlines"})}}, False),
        ({"unit": "\0"}, False),
        ({"source": "\x1b[2J"}, False),
        ({"quantity": "\0"}, False),
        ({"values": {"n0": "x" * LONGEST}}, False),
    ],
)
def test_a_text_that_not_everybody_takes_is_noticed(change: dict[str, Any], plain: bool) -> None:
    column = Column(quantity="card.power", unit="W", source="s", at=1.0, values={"n0": 1.0})
    assert is_plain(msgspec.structs.replace(column, **change)) is plain
