"""Answers of one line."""

from __future__ import annotations

import pytest

from supernoded.plugin import State
from supernoded.quantities import find_fault
from supernoded_ascend.words import parse_fec, parse_link, parse_probe, parse_speed

PORT = "n0/card3/port0"


@pytest.mark.parametrize("prefix", ["", "[devid 3] ", "[device 3]", "[DEVID 3]\t"])
@pytest.mark.parametrize(("text", "state"), [("link status: UP", 1.0), ("link status: DOWN\r", 0.0), ("Link  Status : down", 0.0)])
def test_link(prefix: str, text: str, state: float) -> None:
    (reading,) = parse_link(f"{prefix}{text}\n", 7.0, PORT)
    assert (reading.subject, reading.quantity, reading.value, reading.unit, reading.at) == (PORT, "link.state", state, "1", 7.0)
    assert find_fault(reading) is None


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("", "the tool printed nothing about it"),
        ("link status:", "the tool printed nothing about it"),
        ("link status: up?", "not understood: 'up?'"),
        ("status UP", "the tool printed nothing about it"),
    ],
)
def test_a_link_that_is_not_told_is_neither_up_nor_down(text: str, note: str) -> None:
    (reading,) = parse_link(text, 7.0, PORT)
    assert (reading.value, reading.state, reading.note) == (None, State.UNKNOWN, note)


@pytest.mark.parametrize(("text", "speed"), [("Speed: 200000 Mb/s", 200.0), ("Speed: Unknown", None), ("Speed: 0 Mb/s", None), ("", None)])
def test_speed(text: str, speed: float | None) -> None:
    (reading,) = parse_speed(text, 7.0, PORT)
    assert (reading.quantity, reading.value, reading.unit) == ("link.speed", speed, "Gb/s")
    assert bool(reading.note) == (speed is None)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("fec mode: rs FEC mode", "rs-fec"),
        ("fec mode: no FEC mode", "none"),
        ("fec mode: base-r FEC", "base-r-fec"),
        ("fec mode: 42", None),
        ("fec mode: rs FEC mode or so", None),
    ],
)
def test_fec(text: str, code: str | None) -> None:
    (reading,) = parse_fec(text, 7.0, PORT)
    assert reading.value == code
    assert bool(reading.note) == (code is None)


@pytest.mark.parametrize(
    ("word", "probe"),
    [
        ("Success", "success"),
        ("Socket failed", "failed"),
        ("Socket fail", "failed"),
        ("Thread error", "failed"),
        ("Receive timeout", "time-out"),
        ("Unreachable", "unreachable"),
        ("Time exceeded", "unreachable"),
        ("Fault", "fault"),
        ("Init", "starting"),
        ("Detect ip set", "starting"),
        ("Splendid", None),
        ("", None),
    ],
)
def test_what_the_probe_says(word: str, probe: str | None) -> None:
    (reading,) = parse_probe(f"net health status: {word}", 7.0, PORT)
    assert reading.value == probe
    assert probe is None or find_fault(reading) is None
    assert bool(reading.note) == (probe != "success")
