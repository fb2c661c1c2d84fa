"""Leaks (safety rule 20): small for a while, large by two or by the level, and open till a person has cleared it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from supernoded.model import Level, Severity
from supernoded_thermal.settings import ThermalSettings
from tests.plugins.thermal.coolant.bench import CDU, Bench, Change, levels

RAISED, CLEAR, UNSURE = Level.RAISED, Level.CLEAR, Level.UNSURE
WARNING, CRITICAL = Severity.WARNING, Severity.CRITICAL


def wet(*subjects: str) -> dict[tuple[str, str], Change]:
    return {(subject, "coolant.leak"): 1.0 for subject in subjects}


def sticky(*subjects: str) -> dict[tuple[str, str], Change]:
    return {(subject, "coolant.leak_sticky"): 1.0 for subject in subjects}


def test_one_small_sensor_warns_and_becomes_large_in_time() -> None:
    bench = Bench("coolant.leak", ThermalSettings(leak_minor_s=30.0))
    bench.run(5)
    first = bench.run(29, wet("n1"))["n1"]
    assert (first.level, first.severity) == (RAISED, WARNING)
    later = bench.run(4, wet("n1"))["n1"]
    assert (later.level, later.severity) == (RAISED, CRITICAL)
    assert "the limit of a small leak is 30" in later.text


def test_zero_means_small_for_ever() -> None:
    bench = Bench("coolant.leak", ThermalSettings(leak_minor_s=0.0))
    assert bench.run(900, wet("n1"))["n1"].severity is WARNING


@pytest.mark.parametrize("both", [("n1", "n2"), ("n1", CDU)])
def test_two_sensors_are_large(both: tuple[str, str]) -> None:
    bench = Bench("coolant.leak")
    bench.run(5)
    assert bench.run(2, wet(*both))["n1"].severity is WARNING  # one odd look takes nobody's power
    said = bench.run(2, wet(*both))
    assert (said["n1"].level, said["n1"].severity) == (RAISED, CRITICAL)
    assert said["n0"].level is CLEAR


def test_the_units_own_detector_is_explained_by_the_node_that_leaks_until_it_is_closed() -> None:
    bench = Bench("coolant.leak")
    bench.run(5)
    said = bench.run(10, wet("n1", CDU))
    assert said[CDU].level is UNSURE
    assert said[CDU].text.startswith("explained by coolant.leak of n1")
    closed: Mapping[tuple[str, str], Change] = {("n1", "coolant.branch"): 0.0}
    assert bench.run(50, {**wet("n1", CDU), **closed})[CDU].level is Level.UNSURE  # what has run out is not dry at once
    assert bench.run(15, {**wet("n1", CDU), **closed})[CDU].level is RAISED
    assert Bench("coolant.leak").run(5, {**sticky("n1", CDU), **closed})[CDU].level is UNSURE


def test_a_node_that_tells_no_more_as_its_power_has_gone_still_explains_the_units_detector() -> None:
    bench = Bench("coolant.leak")
    bench.run(10)
    assert bench.run(10, wet("n1", CDU))["n1"].severity is Severity.CRITICAL
    dark: dict[tuple[str, str], Change] = {("n1", "coolant.leak"): None, ("n1", "coolant.branch"): 0.0}
    assert bench.run(50, {**wet(CDU), **dark})[CDU].level is Level.UNSURE
    assert bench.run(15, {**wet(CDU), **dark})[CDU].level is RAISED


def test_a_level_that_falls_makes_the_units_leak_large() -> None:
    bench = Bench("coolant.leak")
    bench.run(60)
    for second in range(150):
        said = bench.run(1, {**wet(CDU), (CDU, "coolant.level"): 80.0 - second / 50.0})
    assert said[CDU].severity is CRITICAL
    assert "in 3 minutes" in said[CDU].text


def test_a_sticky_bit_keeps_it_raised_till_a_person_clears_it() -> None:
    bench = Bench("coolant.leak")
    bench.run(5)
    bench.run(5, {**wet("n1", "n2"), **sticky("n1", "n2")})
    dry = bench.run(900, sticky("n1"))
    assert (dry["n1"].level, dry["n1"].severity) == (RAISED, CRITICAL)
    assert "is dry now" in dry["n1"].text
    assert dry["n2"].level is CLEAR
    assert bench.run(12)["n1"].level is CLEAR


def test_a_sticky_bit_that_is_found_is_told_and_takes_nobodys_power() -> None:
    bench = Bench("coolant.leak")
    verdict = bench.run(900, sticky(CDU))[CDU]
    assert (verdict.level, verdict.severity) == (RAISED, WARNING)


def test_a_detector_that_falls_silent_clears_nothing() -> None:
    bench = Bench("coolant.leak", ThermalSettings(leak_minor_s=60.0))
    bench.run(5)
    bench.run(30, wet("n1"))
    assert bench.run(20, {("n1", "coolant.leak"): None, ("n1", "coolant.leak_sticky"): None})["n1"].level is UNSURE
    assert bench.run(20, wet("n1"))["n1"].severity is CRITICAL  # its time ran on


def test_a_faulty_detector_is_reduced_safety_and_no_leak() -> None:
    silent: Mapping[tuple[str, str], Change] = {("n2", "coolant.leak"): None}
    sensor, leak = Bench("coolant.leak_sensor"), Bench("coolant.leak")
    sensor.run(5)
    leak.run(5)
    assert levels(sensor.run(20, silent))["n2"] is RAISED
    assert leak.run(20, {**silent, ("n2", "coolant.leak_sticky"): None})["n2"].level is UNSURE
    assert levels(sensor.run(12))["n2"] is CLEAR


def test_a_detector_of_which_nothing_at_all_is_heard_is_given_longer() -> None:
    bench = Bench("coolant.leak_sensor")
    bench.run(5)
    gone = [("n2", "coolant.leak")]
    assert bench.run(100, without=gone)["n2"].level is not RAISED
    assert bench.run(40, without=gone)["n2"].level is RAISED


def parts(place: str, **flags: float | None) -> dict[tuple[str, str], Change]:
    """Several detectors of one unit or node, as a BMC tells them, and their worst for the whole."""
    told = [*flags.values()]
    worst = 1.0 if 1.0 in told else None if None in told else 0.0
    return {(place, "coolant.leak"): worst, **{(f"{place}/leak/{name}", "coolant.leak"): value for name, value in flags.items()}}


@pytest.mark.parametrize("place", ["n1", CDU])
def test_two_detectors_of_one_unit_are_two_sensors(place: str) -> None:
    bench = Bench("coolant.leak")
    bench.run(5, parts(place, tray=0.0, floor=0.0))
    one = bench.run(30, parts(place, tray=1.0, floor=0.0))[place]
    assert (one.level, one.severity) == (RAISED, WARNING)
    assert f"{place}/leak/tray is wet" in one.text
    two = bench.run(4, parts(place, tray=1.0, floor=1.0))[place]
    assert (two.level, two.severity) == (RAISED, CRITICAL)
    assert f"so is that of {place}/leak/floor" in two.text


def test_one_of_several_that_is_faulty_is_told_as_that_one() -> None:
    sensor, leak = Bench("coolant.leak_sensor"), Bench("coolant.leak")
    for bench in (sensor, leak):
        bench.run(5, parts("n1", tray=0.0, floor=0.0))
    said = sensor.run(20, parts("n1", tray=None, floor=0.0))
    assert (levels(said)["n1/leak/tray"], levels(said)["n1/leak/floor"], levels(said)["n1"]) == (RAISED, CLEAR, CLEAR)
    assert leak.run(20, parts("n1", tray=None, floor=0.0))["n1"].level is UNSURE
    assert leak.run(4, parts("n1", tray=None, floor=1.0))["n1"].level is RAISED


def test_a_large_leak_is_remembered_over_a_restart_with_nothing_read_yet() -> None:
    bench = Bench("coolant.leak")
    bench.run(5)
    bench.run(5, {**wet("n1", "n2"), **sticky("n1", "n2")})
    again = Bench("coolant.leak")
    again.memory, again.at = bench.memory, bench.at
    assert again.ask() == {}
    assert again.run(5, sticky("n1"))["n1"].severity is CRITICAL


def test_a_unit_that_tells_nothing_at_all_is_told_as_that_and_not_as_a_broken_detector() -> None:
    bench = Bench("coolant.leak_sensor")
    bench.run(5)
    silent: dict[tuple[str, str], Change] = {(CDU, "coolant.leak"): None, (CDU, "coolant.alarm"): None}
    bench.run(5, {(CDU, "coolant.alarm"): set()})
    verdict = bench.run(20, silent)[CDU]
    assert verdict.level is Level.RAISED
    assert verdict.text.startswith("cdu/0 tells nothing at all, nor does its leak detector: ")
    assert "look at its power and its line" in verdict.text


def test_what_is_left_at_the_unit_waits_for_the_nodes_own_detector() -> None:
    bench = Bench("coolant.leak")
    bench.run(5)
    left: dict[tuple[str, str], Change] = {(CDU, "coolant.leak_sticky"): 1.0}
    assert bench.run(3, left)[CDU].level is UNSURE
    both = bench.run(30, {**left, **wet("n0")})
    assert (both[CDU].level, both["n0"].level) == (UNSURE, RAISED)
    alone = Bench("coolant.leak")
    alone.run(5)
    assert alone.run(20, left)[CDU].level is RAISED
