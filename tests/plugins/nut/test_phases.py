"""Phases of a UPS, and the whole that is made of them."""

from __future__ import annotations

import pytest

from supernoded_nut.ups import read_ups

THREE = {"input.phases": "3.00", "output.phases": "3"}


def values(variables: dict[str, str], prefix: str) -> dict[str, object]:
    return {one.quantity.removeprefix("ups."): one.value for one in read_ups(variables) if one.quantity.startswith(f"ups.{prefix}")}


def phased(pattern: str, *texts: str) -> dict[str, str]:
    return {pattern.format(f"L{number}"): text for number, text in enumerate(texts, 1)}


def test_the_lowest_phase_is_the_voltage() -> None:
    found = values({**THREE, **phased("input.{}-N.voltage", "231", "0.0", "229.5"), "input.voltage": "230"}, "input_voltage")
    assert found == {"input_voltage": 0.0, "input_voltage.L1": 231.0, "input_voltage.L2": 0.0, "input_voltage.L3": 229.5}


def test_a_phase_that_is_not_known_hides_the_lowest() -> None:
    found = values({**THREE, **phased("output.{}.voltage", "231", "-1", "229.5")}, "output_voltage")
    assert found == {"output_voltage": None, "output_voltage.L1": 231.0, "output_voltage.L2": None, "output_voltage.L3": 229.5}


def test_a_single_phase_has_no_others() -> None:
    found = values({"input.phases": "1", **phased("input.{}-N.voltage", "231", "0", "0")}, "input_voltage")
    assert found == {"input_voltage": 231.0, "input_voltage.L1": 231.0}


def test_between_phases_where_there_is_nothing_else() -> None:
    across = {"input.L1-L2.voltage": "400", "input.L2-L3.voltage": "346.4", "input.L3-L1.voltage": "399"}
    assert values({**THREE, **across}, "input_voltage")["input_voltage"] == pytest.approx(200.0, abs=0.01)
    assert values({**THREE, **across, "input.voltage": "227"}, "input_voltage") == {"input_voltage": 227.0}


@pytest.mark.parametrize(
    ("phases", "nominal", "expected"),
    [("3", "399", 230.4), ("3", "208", 120.1), ("3", "230", 230.0), ("3", "120", 120.0), ("1", "208", 208.0), ("1", "400", 400.0)],
)
def test_the_nominal_voltage_is_to_neutral(phases: str, nominal: str, expected: float) -> None:
    found = values({"input.phases": phases, "input.voltage.nominal": nominal}, "input_voltage")
    assert found["input_voltage.nominal"] == pytest.approx(expected, abs=0.1)


def test_a_nominal_voltage_that_is_a_place_holder_is_unknown() -> None:
    assert values({"input.voltage.nominal": "1"}, "input_voltage") == {"input_voltage.nominal": None}


def test_power_is_summed_where_no_whole_is_given() -> None:
    powers = phased("output.{}.power", "30900.0", "35300.0", "32600.0")
    found = values({**THREE, **powers}, "output_va")
    assert found == {"output_va": 98800.0, "output_va.L1": 30900.0, "output_va.L2": 35300.0, "output_va.L3": 32600.0}
    assert values({**THREE, **powers, "ups.power": "99000"}, "output_va")["output_va"] == 99000.0
    assert values({**THREE, **powers, "ups.power": "-1"}, "output_va")["output_va"] == 98800.0
    assert values(phased("ups.{}.realpower", "86.00", "140.80", "81.60"), "output_power") == {"output_power": pytest.approx(308.4)}


def test_a_sum_of_some_phases_is_none() -> None:
    assert "output_va" not in values({**THREE, **phased("output.{}.power", "100", "100")}, "output_va")
    assert values({**THREE, **phased("output.{}.power", "100", "-1", "100")}, "output_va")["output_va"] is None


def test_the_load_is_that_of_the_highest_phase_where_no_whole_is_given() -> None:
    loads = phased("output.{}.power.percent", "077.0", "088.0", "081.0")
    assert values({**THREE, **loads}, "load") == {"load": 88.0, "load.L1": 77.0, "load.L2": 88.0, "load.L3": 81.0}
    assert values({**THREE, **loads, "ups.load": "82"}, "load")["load"] == 82.0
