"""Readings as JSON lines."""

from __future__ import annotations

import pytest

from supernoded.errors import SupernodedError
from supernoded.formats import FORMATS, read_readings
from supernoded.model import Reading, State
from supernoded.parts import Source

LINK = b'"subject": "n0/card0/port0", "quantity": "link.state", "unit": "1"'


def read(*lines: bytes) -> list[Reading]:
    return list(read_readings(Source(name="day.jsonl", data=b"\n".join(lines), at=99.0)))


def test_each_line_is_a_reading_at_its_own_time_in_order() -> None:
    second, first = read(b'{"at": 2.5, "value": 1, ' + LINK + b"}", b"", b'{"at": 1, "value": 0.5, ' + LINK + b"}\r")
    assert second == Reading(subject="n0/card0/port0", quantity="link.state", value=0.5, unit="1", at=1.0)
    assert (first.at, first.value, first.state) == (2.5, 1.0, State.GOOD)


def test_no_value_is_unknown_and_flags_are_a_set() -> None:
    unknown, flags, text = read(
        b'{"type": "reading", "at": 1, "value": null, "state": "good", "note": "why", ' + LINK + b"}",
        b'{"at": 2, "value": ["OL", "CHRG"], ' + LINK + b"}",
        b'{"at": 3, "value": "on", "state": "stale", ' + LINK + b"}",
    )
    assert (unknown.value, unknown.state, unknown.note) == (None, State.UNKNOWN, "why")
    assert flags.value == frozenset({"OL", "CHRG"})
    assert (text.value, text.state) == ("on", State.STALE)


@pytest.mark.parametrize("word", [b"NaN", b"Infinity", b"-Infinity", b"1e999"])
def test_what_is_no_measurement_is_unknown_and_costs_only_itself(word: bytes) -> None:
    lost, seen = read(b'{"at": 1, "value": ' + word + b", " + LINK + b"}", b'{"at": 2, "value": 1, ' + LINK + b"}")
    assert (lost.value, lost.state, seen.state) == (None, State.UNKNOWN, State.GOOD)
    assert lost.note.endswith("is no measurement")


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    (seen,) = read(b'\xef\xbb\xbf{"at": 1, "value": 1, ' + LINK + b"}")
    assert seen.value == 1.0


@pytest.mark.parametrize(("theirs", "ours"), [("°C", "C"), ("degC", "C"), ("", "1"), ("bits", "bit"), ("furlong", "furlong")])
def test_units_are_spelled_our_way(theirs: str, ours: str) -> None:
    (seen,) = read(f'{{"at": 1, "subject": "n0", "quantity": "x.acme.q", "value": 1, "unit": "{theirs}"}}'.encode())
    assert seen.unit == ours


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"{", "truncated"),
        (b'{"at": 1}', "missing required field `subject`"),
        (b'{"at": "noon", "value": 1, ' + LINK + b"}", r"Expected `float`, got `str` - at `\$.at`"),
        (b'{"at": NaN, "value": 1, ' + LINK + b"}", "`at` is nan"),
        (b'{"at": 1, "value": NaN, "subject": 3}', "got `int`"),
        (b'{"more": ' + b"[" * 100_000, "recursion"),
        (b'{"at": 1, "value": true, ' + LINK + b"}", "got `bool`"),
        (b'"\xff"', "."),
    ],
)
def test_a_bad_line_is_named(line: bytes, fault: str) -> None:
    with pytest.raises(SupernodedError, match=rf"(?s)day\.jsonl, line 2: .*{fault}.*; write "):
        read(b'{"at": 1, "value": 1, ' + LINK + b"}", line)


def test_it_is_offered_by_name() -> None:
    assert dict(FORMATS) == {"readings": read_readings}
