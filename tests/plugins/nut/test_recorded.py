"""Recordings: what `upsc` prints, and files of `dummy-ups`."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from supernoded.parts import Source
from supernoded_nut.recorded import parse_variables, read_nut

UPS = """\
# a comment
ups.status: OL DISCHRG OB\t#BAD: it is on mains
battery.charge:   94.00
ups.model: A model: the #2
ups.id:
  device.type: ups
SSL/TLS: not a variable
Init SSL without certificate database
"""


def replay(text: str, name: str = "/tmp/Maker__Model 7__driver.dev") -> dict[tuple[str, str], object]:
    found = read_nut(Source(name=name, data=text.encode(), at=7.0))
    return {(reading.subject, reading.quantity): reading.value for reading in found}


def test_a_ups() -> None:
    subject = "ups/Maker__Model_7__driver"
    assert replay(UPS) == {
        (subject, "ups.status"): frozenset({"ol", "dischrg", "ob"}),
        (subject, "ups.charge"): 94.0,
        (subject, "ups.model"): "A model: the",
    }


def test_a_value_in_quotes_is_what_is_in_them() -> None:
    """As `dummy-ups` takes it."""
    assert parse_variables('ups.status: ""\nups.model: "A model"\nups.id: 19" rack\n') == {
        "ups.status": "",
        "ups.model": "A model",
        "ups.id": '19" rack',
    }


def test_a_pdu_calls_itself_one() -> None:
    assert replay("device.type: pdu\noutlet.3.status: off\n", "p.txt") == {("pdu/p/outlet3", "outlet.state"): "off"}


def test_lines() -> None:
    assert parse_variables(UPS)["ups.id"] == ""
    assert "SSL/TLS" not in parse_variables(UPS)
    assert parse_variables("a.b: 1\r\na.b: 2\r\nc.d:x\n") == {"a.b": "2"}


def test_nothing_recorded_is_nothing() -> None:
    assert replay("") == {}


@given(st.binary())
def test_any_bytes_are_read(data: bytes) -> None:
    readings = list(read_nut(Source(name="", data=data, at=7.0)))
    assert {reading.subject.split("/")[1] for reading in readings} <= {"unnamed"}
