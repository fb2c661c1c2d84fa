"""Which ranks were on which cards, as a text: what is read is what was written, and garbage is nothing."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from supernoded_isolation.saga.runs import format_runs, parse_runs


@given(st.dictionaries(st.integers(0, 9_999_999), st.integers(0, 15), max_size=20))
def test_what_is_read_is_what_was_written(slots: dict[int, int]) -> None:
    moved = {rank: f"n1/card{slot}" for rank, slot in slots.items()}
    assert parse_runs("n1", format_runs(moved)) == moved


def test_a_whole_node_is_short() -> None:
    assert format_runs({rank: f"n1/card{rank - 8}" for rank in range(8, 24)}) == "8:0x16"


@given(st.text(max_size=40))
def test_garbage_raises_nothing(text: str) -> None:
    assert all(card.startswith("n1/card") for card in parse_runs("n1", text).values())


def test_what_is_too_much_for_a_node_is_none() -> None:
    assert parse_runs("n1", "0:0x9999") == {}
