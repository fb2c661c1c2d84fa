"""Readings as sensors make them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from supernoded.model import State
from supernoded.reading import LONGEST_NOTE, make_reading, quote


def test_without_a_value_it_is_unknown() -> None:
    assert make_reading("p", "link.state", 0.0, "1", 7.0).state is State.GOOD
    assert make_reading("p", "link.state", None, "1", 7.0, "no").state is State.UNKNOWN


def test_a_long_note_keeps_what_was_asked_and_the_reason() -> None:
    note = make_reading("p", "link.state", None, "1", 7.0, f"ssh admin@s1 {'x' * 500}: did not end and was killed within 8 s").note
    assert note.startswith("ssh admin@s1 ")
    assert note.endswith("did not end and was killed within 8 s")


@given(st.text(max_size=400))
def test_what_is_quoted_leaves_room(text: str) -> None:
    assert len(make_reading("p", "q", None, "1", 7.0, text).note) <= LONGEST_NOTE
    assert quote(text)[1:4] == repr(text)[1:4]
