"""What drivers say of a UPS, and what it means: flags, sentinels, ranges, phases, zeroes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.model import Reading
from supernoded.quantities import VOCABULARY, find_fault
from supernoded_nut.told import Told, to_readings
from supernoded_nut.ups import read_ups

NAMES = (
    *("ups.status", "battery.charge", "battery.runtime", "battery.temperature", "ups.load", "ups.power", "input.voltage", "input.phases"),
    *("input.L1-N.voltage", "input.L2-L3.voltage", "output.L2.power", "output.L3.power.percent", "ups.model", "input.voltage.nominal"),
)


def told(**variables: str) -> dict[str, Told]:
    """Keyword `ups_status` is `ups.status`."""
    found = read_ups({name.replace("_", "."): text for name, text in variables.items()})
    assert len({one.quantity for one in found}) == len(found)
    return {one.quantity: one for one in found}


def values(variables: dict[str, str]) -> dict[str, object]:
    return {one.quantity: one.value for one in read_ups(variables)}


def test_a_healthy_ups() -> None:
    found = values(
        {
            "ups.status": "OL CHRG",
            "battery.charge": "87",
            "battery.charge.low": "20",
            "battery.runtime": "1240",
            "battery.runtime.low": "120",
            "battery.temperature": "26.5",
            "battery.voltage": "218.4",
            "input.voltage": "231.0",
            "input.voltage.nominal": "230",
            "input.frequency": "049.9",
            "output.voltage": "230.0",
            "ups.load": "37",
            "ups.power": "1850",
            "ups.power.nominal": "5000",
            "ups.realpower": "1700",
            "ups.model": " A  model ",
            "device.serial": "S1",
            "ups.test.result": "Done and passed",
            "ups.beeper.status": "enabled",
        }
    )
    assert found == {
        "ups.status": frozenset({"ol", "chrg"}),
        "ups.charge": 87.0,
        "ups.charge.low": 20.0,
        "ups.runtime": 1240.0,
        "ups.runtime.low": 120.0,
        "ups.battery_temperature": 26.5,
        "ups.battery_voltage": 218.4,
        "ups.input_voltage": 231.0,
        "ups.input_voltage.nominal": 230.0,
        "ups.input_frequency": 49.9,
        "ups.output_voltage": 230.0,
        "ups.load": 37.0,
        "ups.output_va": 1850.0,
        "ups.rated_va": 5000.0,
        "ups.output_power": 1700.0,
        "ups.model": "A model",
        "ups.serial": "S1",
        "ups.test_result": "Done and passed",
    }


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("OL DISCHRG OB", {"ol", "dischrg", "ob"}),
        ("ALARM OL FSD", {"alarm", "ol", "fsd"}),
        ("FSD OB OFF OB", {"fsd", "ob", "off"}),
        ("OL HB ECO NEWWORD", {"ol", "hb", "eco", "newword"}),
    ],
)
def test_flags_are_passed_on_as_they_come(text: str, flags: set[str]) -> None:
    assert told(ups_status=text)["ups.status"].value == frozenset(flags)


@pytest.mark.parametrize(
    ("text", "note"), [("", "ups.status is ''"), ("  ", "ups.status is '  '"), ("?? 0x1", "no flags"), ("a " * 40, "no flags")]
)
def test_a_status_that_says_nothing_is_unknown(text: str, note: str) -> None:
    status = told(ups_status=text)["ups.status"]
    assert (status.value, note in status.note) == (None, True)


def test_no_status_at_all_is_told() -> None:
    assert told(ups_load="1")["ups.status"] == Told("ups.status", None, "flags", "its driver gives no ups.status")


@pytest.mark.parametrize(
    "text", ["-1", "65535", "32767.0", "-128", "4294967295", "", "N/A", "-", "nan", "inf", "1e5", "1_0", "0x10", "2.5 min"]
)
def test_what_stands_for_nothing_is_unknown(text: str) -> None:
    runtime = told(ups_status="OB", battery_runtime=text)["ups.runtime"]
    assert runtime.value is None
    assert repr(text) in runtime.note or text in runtime.note


@pytest.mark.parametrize(
    ("name", "quantity", "text"),
    [
        ("battery.runtime", "ups.runtime", "-60"),
        ("battery.charge", "ups.charge", "-197.6"),
        ("battery.charge", "ups.charge", "100.5"),
        ("battery.charge.low", "ups.charge.low", "345.6"),
        ("battery.charge.low", "ups.charge.low", "120"),
        ("battery.charge.low", "ups.charge.low", "100"),
        ("battery.temperature", "ups.battery_temperature", "-272"),
        ("battery.temperature", "ups.battery_temperature", "-215"),
        ("battery.temperature", "ups.battery_temperature", "248"),
        ("ups.load", "ups.load", "562020"),
        ("ups.load", "ups.load", "300"),
        ("ups.load", "ups.load", "255"),
        ("input.frequency", "ups.input_frequency", "5990"),
        ("output.voltage", "ups.output_voltage", "2160"),
        ("ups.power.nominal", "ups.rated_va", "1"),
    ],
)
def test_what_cannot_be_is_unknown_and_costs_nothing_else(name: str, quantity: str, text: str) -> None:
    found = {one.quantity: one for one in read_ups({"ups.status": "OL", "battery.voltage": "27.1", name: text})}
    assert found[quantity].value is None
    assert text in found[quantity].note
    assert found["ups.battery_voltage"].value == 27.1


@pytest.mark.parametrize(
    ("status", "charge", "runtime", "value"),
    [
        ("OL", "100", "0", None),  # not computed
        ("OL CHRG", "53", "0", None),
        ("OL", "-1", "0", None),
        ("", "100", "0", None),
        ("OL ALARM RB", "0", "0", 0.0),  # no battery: it is true
        ("OL CHRG LB", "3", "0", 0.0),
        ("OB", "100", "0", 0.0),
        ("OL", "100", "1", 1.0),
    ],
)
def test_a_runtime_of_zero(status: str, charge: str, runtime: str, value: float | None) -> None:
    found = told(ups_status=status, battery_charge=charge, battery_runtime=runtime)["ups.runtime"]
    assert found.value == value
    assert ("not computed" in found.note) is (value is None)


@pytest.mark.parametrize(("status", "value"), [("OL", None), ("", None), ("OL CHRG", 0.0), ("OB LB", 0.0), ("OL RB", 0.0)])
def test_a_charge_of_zero_needs_a_flag_beside_it(status: str, value: float | None) -> None:
    assert told(ups_status=status, battery_charge="0.00")["ups.charge"].value == value


def test_a_temperature_of_exactly_zero_is_no_probe() -> None:
    assert told(battery_temperature="0.0")["ups.battery_temperature"].note == "battery temperature of exactly 0 C: no probe"
    assert told(battery_temperature="0.1")["ups.battery_temperature"].value == 0.1


def test_no_frequency_on_mains_is_not_measured() -> None:
    assert told(ups_status="OL", input_frequency="000.0")["ups.input_frequency"].value is None
    assert told(ups_status="OB", input_frequency="0")["ups.input_frequency"].value == 0.0


def test_no_power_at_a_load_is_not_measured() -> None:
    assert told(ups_load="25", ups_power="0.0")["ups.output_va"].value is None
    assert told(ups_load="0", ups_power="0.0")["ups.output_va"].value == 0.0


@given(st.dictionaries(st.sampled_from(NAMES), st.one_of(st.text(), st.decimals(allow_nan=True).map(str), st.sampled_from(["OL", "OB"]))))
def test_any_text_gives_what_the_vocabulary_takes(variables: dict[str, str]) -> None:
    readings: list[Reading] = to_readings(read_ups(variables), "ups/A", 5.0)
    assert [find_fault(reading) for reading in readings if reading.value is not None] == [None for r in readings if r.value is not None]
    assert all(reading.note for reading in readings if reading.value is None)
    assert {reading.quantity for reading in readings} <= set(VOCABULARY)
