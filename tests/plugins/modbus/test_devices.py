"""URLs of devices."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.plugin import WireError
from supernoded_modbus.devices import Place, name_line, parse_wire
from supernoded_modbus.maps import load_map
from supernoded_modbus.site import fit_map


@pytest.mark.parametrize(
    ("url", "place"),
    [
        (
            "serial:///dev/ttyUSB0?baud=115200&unit=3&map=pdu&serial=P1",
            Place("serial:///dev/ttyUSB0?baud=115200", 3, "pdu", "P1", tcp=False, baud=115200),
        ),
        (
            "serial:///dev/ttyUSB0?unit=3&echo=yes&baud=9600&adapter_ms=16",
            Place("serial:///dev/ttyUSB0?adapter_ms=16&baud=9600&echo=yes", 3, "ups", "", tcp=False, baud=9600),
        ),
        ("serial:///dev/ttyS1", Place("serial:///dev/ttyS1", 1, "ups", "", tcp=False, baud=19200)),
        ("modbus://10.0.0.7:1502?map=rpu", Place("tcp://10.0.0.7:1502", 1, "rpu", "", tcp=True, baud=0)),
        ("modbus://plc?unit=255&map=plc", Place("tcp://plc:502", 255, "plc", "", tcp=True, baud=0)),
        ("modbus://gw:4001?framing=rtu&unit=2&map=pdu&baud=9600", Place("tcp://gw:4001?baud=9600", 2, "pdu", "", tcp=False, baud=9600)),
        ("reflex://feed-A?unit=4&map=pdu", Place("reflex://feed-A", 4, "pdu", "", tcp=False, baud=0)),
    ],
)
def test_a_wire_is_a_line_and_a_number_on_it(url: str, place: Place) -> None:
    assert parse_wire(url, "ups") == place


@given(st.text(max_size=80) | st.text(max_size=40).map(lambda text: f"serial:///dev/t?{text}"))
def test_any_text_is_a_wire_or_an_error_that_shows_it(url: str) -> None:
    try:
        place = parse_wire(url, "ups")
    except WireError as error:
        assert url in str(error)
    else:
        assert 0 <= place.unit <= 255


@pytest.mark.parametrize(
    ("name", "subject"),
    [("serial:///dev/ttyUSB0", "line/ttyUSB0"), ("tcp://10.0.0.7:502", "line/10.0.0.7:502"), ("reflex://feed-A", "line/feed-A")],
)
def test_the_subject_of_a_line(name: str, subject: str) -> None:
    assert name_line(name) == subject


def test_reads_over_a_lent_line_are_short() -> None:
    whole = load_map("pdu")
    assert fit_map(whole, "reflex://feed-A").most == 16
    assert fit_map(whole, "serial:///dev/ttyUSB0?baud=115200") is whole
