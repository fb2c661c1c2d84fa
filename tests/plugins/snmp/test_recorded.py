"""Recorded walks: ours, those of others, and lines that are none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.model import Reading, State
from supernoded.plugin import Source
from supernoded.quantities import find_fault
from supernoded_snmp import supernoded_formats
from supernoded_snmp.recorded import read_snmprec

STRIP = """\
1.3.6.1.2.1.1.2.0|6|1.3.6.1.4.1.318.1.3.4.6
1.3.6.1.4.1.318.1.1.26.2.1.8.1|4x|523220
not a line
1.3.6.1.4.1.318.1.1.26.4.3.1.5.1|2|123
1.3.6.1.4.1.318.1.1.26.6.3.1.5.1|2|zero
1.3.6.1.4.1.318.1.1.26.9.2.3.1.5.1|2:numeric|min=1,max=2,wrap=1,initial=2
1.3.6.1.4.1.318.1.1.26.9.2.3.1.5.2|2:writecache|value=1
1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.1|67|430
"""


def read(data: bytes, name: str = "rack 3.snmprec") -> dict[tuple[str, str], Reading]:
    return {(one.subject, one.quantity): one for one in read_snmprec(Source(name=name, data=data, at=5.0))}


def test_a_walk_of_a_strip() -> None:
    assert supernoded_formats() == {"snmprec": read_snmprec}
    found = read(STRIP.encode())
    assert {key: reading.value for key, reading in found.items()} == {
        ("pdu/rack_3", "pdu.power"): 1230.0,
        ("pdu/rack_3/outlet1", "outlet.state"): "on",
        ("pdu/rack_3/outlet2", "outlet.state"): "off",
        ("pdu/rack_3/outlet1", "outlet.power"): 430.0,
        ("pdu/rack_3", "pdu.model"): "R2",
    }
    assert {reading.at for reading in found.values()} == {5.0}
    assert "ticks" in found["pdu/rack_3/outlet1", "outlet.power"].note


def test_a_walk_of_nothing_that_we_know() -> None:
    assert read(b"1.3.6.1.2.1.1.2.0|6|1.3.6.1.4.1.476.1.42\n1.3.6.1.4.1.476.1|4|Supply Fluid Over Temp\n") == {}


@given(st.text(alphabet="0123456789.|:x\nab-", max_size=400) | st.binary(max_size=300).map(lambda data: data.decode("latin-1")))
def test_no_text_makes_it_raise(text: str) -> None:
    for reading in read(STRIP.encode() + text.encode()).values():
        assert reading.state is State.UNKNOWN or find_fault(reading) is None or reading.note


@given(st.sampled_from(STRIP.splitlines()), st.integers(-(2**70), 2**70))
def test_no_number_makes_it_raise(line: str, number: int) -> None:
    name, kind, _ = line.split("|") if line.count("|") == 2 else ("1.3", "2", "")
    assert isinstance(read(f"{STRIP}{name}|{kind}|{number}\n".encode()), dict)


def test_a_cabinet_unit_of_others(recordings: Path) -> None:
    """Its probes in Fahrenheit, and two that are not there."""
    found = read((recordings / "snmp" / "servertech_sentry3_cdu.snmprec").read_bytes(), "sentry.snmprec")
    degrees = {subject.rsplit("/", 1)[1]: reading.value for (subject, quantity), reading in found.items() if quantity == "air.temperature"}
    assert degrees == {"probe1-1": pytest.approx(20.0), "probe1-2": pytest.approx(23.6, abs=0.05), "probe2-1": None, "probe2-2": None}
    assert found["pdu/sentry", "pdu.voltage"].value == pytest.approx(209.3)
    assert read((recordings / "snmp" / "liebert_fluid_events.snmprec").read_bytes()) == {}
