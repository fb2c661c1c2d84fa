"""Recordings of other people's devices: what each of them must come to."""

from __future__ import annotations

from pathlib import Path

import pytest

from supernoded.parts import Source
from supernoded.quantities import find_fault
from supernoded_nut.recorded import read_nut


@pytest.fixture
def folder(recordings: Path) -> Path:
    return recordings / "nut-ddl"


def test_every_recording_gives_what_the_vocabulary_takes(folder: Path) -> None:
    files = sorted(folder.glob("*.dev"))
    assert len(files) >= 9
    for file in files:
        readings = list(read_nut(Source(name=file.name, data=file.read_bytes(), at=7.0)))
        assert {find_fault(reading) for reading in readings if reading.value is not None} == {None}, file
        assert all(reading.note for reading in readings if reading.value is None), file
        keys = [(reading.subject, reading.quantity) for reading in readings]
        assert len(set(keys)) == len(keys) > 5, file


@pytest.mark.parametrize(
    ("file", "quantity", "value"),
    [
        ("HP__R12000*", "ups.status", frozenset({"ol", "dischrg", "ob"})),  # contradictory: the policy's to judge
        ("Novex*", "ups.status", frozenset({"alarm", "ol", "fsd"})),
        ("Novex*", "ups.load", 0.0),
        ("APC__Back-UPS*", "ups.battery_temperature", None),
        ("APC__Back-UPS*", "ups.rated_va", None),
        ("APC__Back-UPS*", "ups.input_voltage.nominal", None),
        ("APC__Back-UPS*", "ups.status", frozenset({"ol", "lb", "over", "rb", "boost"})),
        ("APC__Silcon*", "ups.charge.low", None),
        ("APC__Silcon*", "ups.input_frequency", None),
        ("APC__Silcon*", "ups.output_va", 98800.0),
        ("APC__Silcon*", "ups.load.L2", 88.0),
        ("APC__Silcon*", "ups.input_voltage", 227.0),
        ("Eaton__93PM*", "ups.runtime", None),
        ("Eaton__93PM*", "ups.charge", None),
        ("Eaton__93PM*", "ups.input_voltage", 231.0),
        ("Eaton__93PM*", "ups.input_voltage.nominal", pytest.approx(230.4, abs=0.1)),
        ("Eaton__93PM*", "ups.load", 0.0),
        ("PiSupply*", "ups.battery_temperature", None),
        ("PiSupply*", "ups.charge", 53.1),
        ("Socomec*", "ups.runtime", None),
        ("Socomec*", "ups.charge", 100.0),
        ("Tripp_Lite*", "ups.load", None),
        ("Tripp_Lite*", "ups.runtime", 600.0),
    ],
)
def test_what_is_odd_in_one(folder: Path, file: str, quantity: str, value: object) -> None:
    (found,) = folder.glob(file)
    readings = {reading.quantity: reading for reading in read_nut(Source(name=found.name, data=found.read_bytes(), at=7.0))}
    assert readings[quantity].value == value


def test_a_pdu_has_outlets_and_no_status(folder: Path) -> None:
    (file,) = folder.glob("Eaton__ePDU*")
    readings = list(read_nut(Source(name=file.name, data=file.read_bytes(), at=7.0)))
    assert {reading.subject.split("/")[0] for reading in readings} == {"pdu"}
    assert "ups.status" not in {reading.quantity for reading in readings}
    assert len({reading.subject for reading in readings if reading.quantity == "outlet.state"}) == 24
    assert {reading.quantity: reading.value for reading in readings}["pdu.power"] == 4198.0
