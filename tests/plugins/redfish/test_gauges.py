"""Sensors in our units, their status, and whatever else a service may say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.quantities import VOCABULARY
from supernoded_redfish import node_words, unit_words
from supernoded_redfish.controls import parse_control
from supernoded_redfish.facts import Fact
from supernoded_redfish.gauges import OUR_UNITS, UNITS, parse_sensor
from supernoded_redfish.leaks import name_detectors, parse_detector, read_detector
from tests.plugins.redfish.services import sensor

WORDS = ["Temperature", "Percent", "Rotational", "LiquidFlowLPM", "Cel", "Enabled", "Critical", "OK", "Supply", "Fan1", "GPU_3", "Coolant"]
KEYS = ["ReadingType", "Reading", "ReadingUnits", "Status", "State", "Health", "Thresholds", "UpperCritical", "Id", "Name", "DetectorState"]
KEYS += ["SetPoint", "ControlMode", "ControlType", "SpeedPercent", "SpeedRPM", "PumpSpeedPercent", "DataSourceUri", "PhysicalContext"]
KEYS += [
    "Temperatures",
    "Fans",
    "ReadingCelsius",
    "TemperatureReadingsCelsius",
    "SupplyTemperatureCelsius",
    "FluidLevelPercent",
    "ReadingTime",
]
KEYS += [
    "SupplyTemperatureControlCelsius",
    "SpeedControlPercent",
    "ControlMode@Redfish.AllowableValues",
    "TemperatureSummaryCelsius",
    "Intake",
]
ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.sampled_from(WORDS)
JSON = st.recursive(
    ANYTHING, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6), max_leaves=12
)
PAGE = st.dictionaries(st.sampled_from(KEYS), JSON)


@pytest.mark.parametrize(
    ("kind", "units", "reading", "value"),
    [
        ("Temperature", "Cel", 22.5, 22.5),
        ("Temperature", "", 22.5, 22.5),
        ("Temperature", "[degF]", 71.6, 22.0),
        ("Temperature", "K", 295.15, 22.0),
        ("LiquidFlowLPM", "L/min", 140, 140.0),
        ("LiquidFlow", "L/s", 2, 120.0),
        ("LiquidFlow", "m3/h", 6, 100.0),
        ("PressurekPa", "", 150, 150.0),
        ("PressurePa", "Pa", 150000, 150.0),
        ("Pressure", "bar", 1.5, 150.0),
        ("Heat", "kW", 85.25, 85250.0),
        ("AirFlowCMM", "m3/min", 1.5, 90.0),
        ("AirFlow", "[ft_i]3/min", 100, 169.901082),
        ("Percent", "%", 40, 40.0),
        ("Rotational", "{rev}/min", 9000, 9000.0),
        ("Rotational", "RPM", 9000, 9000.0),
    ],
)
def test_units(kind: str, units: str, reading: float, value: float) -> None:
    gauge = parse_sensor(sensor(kind, reading, units))
    assert gauge is not None
    assert gauge.value == pytest.approx(value)


def test_an_unknown_unit_is_no_value_and_an_unknown_type_no_gauge() -> None:
    gauge = parse_sensor(sensor("Temperature", 22.0, "mV"))
    assert gauge is not None
    assert (gauge.value, gauge.note) == (None, "ReadingUnits is 'mV', which is no unit of temperature")
    assert parse_sensor(sensor("Altitude", 22.0, "m")) is None


@pytest.mark.parametrize(
    ("status", "note"),
    [
        ({"State": "Enabled", "Health": "OK"}, ""),
        ({"State": "Enabled", "Health": None}, ""),
        (None, ""),
        ({"State": "Enabled", "Health": "Warning"}, "its health is 'Warning'"),
        ({"State": "UnavailableOffline", "Health": "OK"}, "its Status is 'UnavailableOffline'"),
        ({"State": "Absent"}, "its Status is 'Absent'"),
        ({"State": ["Enabled"]}, "its Status is list"),
    ],
)
def test_a_sensor_whose_status_is_not_ok_is_not_believed(status: object, note: str) -> None:
    gauge = parse_sensor(sensor("Temperature", 22.0, "Cel", Status=status))
    assert gauge is not None
    assert (gauge.value, gauge.note) == (None if note else 22.0, note)


@pytest.mark.parametrize(("reading", "value"), [(91.0, 91.0), (45.0, None), (2.0, 2.0)])
def test_a_health_that_tells_of_a_crossed_threshold_does_not_hide_the_value(reading: float, value: float | None) -> None:
    limits = {"UpperCritical": {"Reading": 95}, "UpperCaution": {"Reading": 90}, "LowerCaution": {"Reading": 3}}
    gauge = parse_sensor(sensor("Temperature", reading, "Cel", Status={"State": "Enabled", "Health": "Warning"}, Thresholds=limits))
    assert gauge is not None
    assert (gauge.value, gauge.high) == (value, 90.0)


@pytest.mark.parametrize("reading", [None, True, "22", [22], {"Reading": None}, float("nan"), float("inf"), 10**400])
def test_what_is_no_number_is_no_value(reading: object) -> None:
    gauge = parse_sensor(sensor("Temperature", reading, "Cel"))
    assert gauge is not None
    assert gauge.value is None
    assert gauge.note.startswith("Reading is ")


@pytest.mark.parametrize(
    ("state", "status", "wet", "note"),
    [
        ("OK", {"State": "Enabled", "Health": "OK"}, 0.0, ""),
        ("Warning", {"State": "Enabled", "Health": "Warning"}, 1.0, ""),
        ("Critical", {"State": "Enabled", "Health": "Critical"}, 1.0, ""),
        ("OK", {"State": "Enabled", "Health": "Critical"}, None, "detector fault: DetectorState is OK and its health 'Critical'"),
        ("Critical", {"State": "Degraded", "Health": "Critical"}, None, "detector fault: its Status is 'Degraded'"),
        ("OK", {"State": "UnavailableOffline", "Health": "Warning"}, None, "detector fault: its Status is 'UnavailableOffline'"),
        ("Unavailable", {"State": "Enabled", "Health": "OK"}, None, "detector fault: DetectorState is 'Unavailable'"),
        (None, {"State": "Enabled"}, None, "detector fault: DetectorState is missing"),
        (["OK"], {}, None, "detector fault: DetectorState is list"),
    ],
)
def test_a_detector_that_is_at_fault_is_not_dry(state: object, status: object, wet: float | None, note: str) -> None:
    assert read_detector({"DetectorState": state, "Status": status}) == (wet, note)


@pytest.mark.parametrize(
    ("first", "second", "whole", "note"),
    [
        ("OK", "OK", 0.0, ""),
        ("OK", "Critical", 1.0, "wet: rope-2"),
        ("Warning", "Critical", 1.0, "wet: rope-1, rope-2"),
        ("OK", "Unavailable", None, "rope-2: detector fault: DetectorState is 'Unavailable'"),
        ("Critical", "Unavailable", 1.0, "wet: rope-1"),
    ],
)
def test_several_detectors_are_told_each_and_as_the_worst_of_them(first: str, second: str, whole: float | None, note: str) -> None:
    pages = {"Rope_1": first, "Rope_2": second, "Latched": "OK"}
    facts = [fact for name, state in pages.items() for fact in parse_detector("cdu/0", f"/x/{name}", {"DetectorState": state})]
    told = {fact.key: fact for fact in name_detectors("cdu/0", facts)}
    assert list(told) == [
        ("cdu/0/leak/rope-1", "coolant.leak"),
        ("cdu/0/leak/rope-2", "coolant.leak"),
        ("cdu/0", "coolant.leak"),
        ("cdu/0", "coolant.leak_sticky"),
    ]
    assert (told["cdu/0", "coolant.leak"].value, told["cdu/0", "coolant.leak"].note) == (whole, note)


def parse_all(page: Mapping[str, Any]) -> Iterator[Fact]:
    path = "/redfish/v1/x/Fan1"
    yield from parse_detector("n0", path, page)
    yield from unit_words.parse_unit_sensor("cdu/0", {}, path, page)
    yield from unit_words.parse_connector("cdu/0", unit_words.PRIMARY, path, page)
    yield from unit_words.parse_connector("cdu/0", unit_words.SECONDARY, path, page)
    yield from unit_words.parse_reservoir("cdu/0", path, page)
    yield from unit_words.parse_pump("cdu/0", path, page)
    yield from unit_words.parse_unit_control("cdu/0", path, page)
    yield from node_words.parse_node_sensor("n0", {"GPU_3": "n0/card9"}, path, page)
    yield from node_words.parse_node_thermal("n0", {}, path, page)
    yield from node_words.parse_fan("n0", path, page)
    yield from node_words.parse_fan_control("n0", path, page)


@given(PAGE)
def test_whatever_a_page_says_is_fact_or_no_fact(page: dict[str, Any]) -> None:
    for fact in parse_all(page):
        if fact.quantity != unit_words.OWN_MODE:
            assert VOCABULARY[fact.quantity].unit == fact.unit
        assert fact.value is not None or fact.note
    parse_control("/x", page).write(SetPoint=1)
    node_words.count_from_none("n0", 8, parse_all(page), {})


def test_every_kind_has_a_unit_of_ours_and_factors_to_it() -> None:
    assert set(UNITS) == set(OUR_UNITS)
