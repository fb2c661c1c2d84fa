"""What the URL of a line says, and who owns it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.errors import WireError
from supernoded.wire import Line, Pen
from supernoded.wire.line_address import LineAddress, parse_line
from supernoded.wire.system import LINES, Devices, SystemWires
from tests.unit.wire.units import Units, find, frame, make_line

HELD = Pen(lambda scope: None)


def test_every_key_of_a_line_is_read_and_others_are_passed_over() -> None:
    address = parse_line("serial:///dev/ttyUSB7?baud=115200&parity=E&stop=2&echo=yes&adapter_ms=16&unit=3&map=pdu")
    assert address == LineAddress("serial:///dev/ttyUSB7", "serial", "/dev/ttyUSB7", 0, 115200, "E", 2, echo=True, adapter=0.016)


def test_the_defaults() -> None:
    assert parse_line("serial:///dev/ttyUSB7") == LineAddress("serial:///dev/ttyUSB7", "serial", "/dev/ttyUSB7", 0, 19200)
    assert parse_line("tcp://Localhost:502?unit=1") == LineAddress("tcp://127.0.0.1:502", "tcp", "127.0.0.1", 502)
    assert parse_line("reflex://feeds") == LineAddress("reflex://feeds", "reflex", "feeds")


@pytest.mark.parametrize(
    ("query", "silence"),
    [("baud=9600", 0.0040104), ("baud=19200", 0.0020052), ("baud=38400", 0.00175), ("baud=1000000", 0.00175)],
)
def test_the_silence_that_ends_a_frame(query: str, silence: float) -> None:
    assert parse_line(f"serial:///dev/x?{query}").silence == pytest.approx(silence, rel=1e-4)
    assert parse_line(f"tcp://h:4001?{query}").silence == pytest.approx(silence, rel=1e-4)
    assert parse_line("tcp://h:4001").silence == 0.00175


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("serial:///dev/x?baud=fast", "baud=fast; write a number from 300"),
        ("serial:///dev/x?baud=0", "baud=0; write a number"),
        ("serial:///dev/x?baud=-9600", "baud=-9600; write a number"),
        ("serial:///dev/x?baud=²", "write a number"),
        (f"serial:///dev/x?baud={'9' * 5000}", "write a number"),
        ("serial:///dev/x?baud=9600&baud=19200", "baud is said 2 times"),
        ("serial:///dev/x?parity=odd", "parity=odd; write N, E or O"),
        ("serial:///dev/x?stop=1.5", "stop=1.5; write 1 or 2"),
        ("serial:///dev/x?echo=", "echo=; write yes or no"),
        ("serial:///dev/x?adapter_ms=nan", "write whole milliseconds from 0 to 1000"),
        ("serial://dev/x", "no line; write serial:///dev"),
        ("serial:///", "no line"),
        ("tcp://h", "no line"),
        ("tcp://h:99999", "write serial:///dev"),
        ("reflex:///x", "no line"),
        ("reflex://a/b", "no line"),
        ("udp://h:1", "no line"),
        ("", "no line"),
    ],
)
def test_what_is_no_line_is_refused(url: str, words: str) -> None:
    with pytest.raises(WireError, match=words):
        parse_line(url)


@given(st.text(), st.sampled_from(("", "serial:///dev/x?", "tcp://h:1?baud=", "tcp://", "serial:///dev/x?adapter_ms=")))
def test_no_text_is_worse_than_refused(text: str, start: str) -> None:
    try:
        assert parse_line(start + text).name
    except WireError as error:
        assert "write" in str(error) or "say it once" in str(error)


def test_a_device_has_one_owner_however_it_is_spelt(tmp_path: Path) -> None:
    (tmp_path / "real").touch()
    (tmp_path / "by-id").symlink_to(tmp_path / "real")
    wires = SystemWires(HELD)
    modbus, other = wires.owned_by("modbus"), wires.owned_by("other")
    line = modbus.line(f"serial://{tmp_path}/by-id?baud=9600&unit=1")
    assert line.name == f"serial://{tmp_path}/real"
    assert modbus.line(f"serial://{tmp_path}/real?baud=9600&unit=2") is line
    with pytest.raises(WireError, match=r"/real belongs to modbus, and a line has one owner; other must do without it"):
        other.line(f"serial://{tmp_path}/real?baud=9600")
    with pytest.raises(WireError, match="is open already with another speed"):
        modbus.line(f"serial://{tmp_path}/real?baud=19200")


def test_a_gateway_is_one_device_as_stream_and_as_line() -> None:
    wires = SystemWires(HELD)
    wires.owned_by("modbus").line("tcp://gateway:502?unit=1")
    with pytest.raises(WireError, match=r"tcp://gateway:502 belongs to modbus"):
        wires.owned_by("other").stream("tcp://gateway:502")


def test_a_scheme_chooses_its_line() -> None:
    pens: list[Pen] = []

    def lend(address: LineAddress, pen: Pen) -> Line:
        pens.append(pen)
        assert address.name == "reflex://feeds"
        return make_line(Units())

    wires = SystemWires(HELD, devices=Devices({**LINES, "reflex": lend}))
    assert wires.line("reflex://feeds") is wires.line("reflex://feeds?unit=2")
    assert pens == [HELD]
    with pytest.raises(WireError, match="no reflex line can be had here; there are serial, tcp"):
        SystemWires(HELD).line("reflex://feeds")


async def test_after_closing_it_may_have_another_owner() -> None:
    wires, units = SystemWires(HELD), Units()
    line = wires.owned_by("modbus").line("serial:///dev/none", units.dial)
    assert await line.exchange(b"\x01", find) == frame(1)
    await wires.close()
    again = wires.owned_by("other").line("serial:///dev/none", units.dial)
    assert again is not line
    assert await again.exchange(b"\x02", find) == frame(2)
