"""Batteries, ride-through and overload."""

from __future__ import annotations

import pytest

from supernoded.model import Level
from tests.plugins.power.site import Bench, find_rule, level, read, ups

RAISED, CLEAR, UNSURE = Level.RAISED, Level.CLEAR, Level.UNSURE


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("ol", CLEAR),
        ("ol chrg", CLEAR),
        ("ol test", CLEAR),  # a self-test is no trouble
        ("ol cal", RAISED),
        ("ol eco", RAISED),
        ("ol bypass", RAISED),
        ("off", RAISED),
        ("ob", UNSURE),
        ("ob test", UNSURE),
        (None, UNSURE),
        ("ol lb", UNSURE),  # till it lasts
        ("ol rb", UNSURE),
        ("ol fsd", UNSURE),
    ],
)
def test_who_would_carry_through_a_break(flags: str | None, expected: Level) -> None:
    assert level(Bench(find_rule("power.no_ride_through")), "ups/A", ups("A", flags)) is expected


@pytest.mark.parametrize("flag", ["lb", "rb", "fsd"])
def test_a_flash_of_two_seconds_is_nothing(flag: str) -> None:
    """nut#2347, ZimaOS#588: the mains were there all the time."""
    ride, battery, lost = (Bench(find_rule(kind)) for kind in ("power.no_ride_through", "ups.battery", "power.outage"))
    for at, flags in ((0.0, "ol"), (1.0, f"ol {flag}"), (2.0, f"ol {flag}"), (3.0, f"ol {flag}"), (3.5, "ol"), (10.0, "ol")):
        readings = ups("A", flags, 230.0, at)
        assert level(ride, "ups/A", readings) is not RAISED
        assert level(battery, "ups/A", readings) is not RAISED
        assert level(lost, "power/site", readings) is CLEAR


def test_what_lasts_counts() -> None:
    bench = Bench(find_rule("power.no_ride_through"))
    assert [level(bench, "ups/A", ups("A", "ol lb", 230.0, at)) for at in (0.0, 2.0, 3.0)] == [UNSURE, UNSURE, RAISED]


def test_no_charge_on_mains_is_no_battery() -> None:
    """facility 7.4: charge 0, runtime 0, RB ALARM on mains."""
    bench = Bench(find_rule("power.no_ride_through"))
    verdict = bench.tell(ups("A", "ol rb alarm", charge=0.0, runtime=0.0))["ups/A"]
    assert (verdict.level, verdict.text) == (RAISED, "ups/A would not carry its load through a break: its battery is at 0 %")
    assert level(Bench(find_rule("power.no_ride_through")), "ups/A", [*ups("A", "ol"), read("ups/A", "ups.charge", None)]) is CLEAR


@pytest.mark.parametrize(
    ("health", "test", "expected"),
    [
        (95.0, "Done and passed", CLEAR),
        (70.0, "Done and passed", RAISED),
        (None, "Done and error", RAISED),
        (None, "Battery FAILED the test", RAISED),
        (None, "No test initiated", CLEAR),
        (None, "In progress", CLEAR),
    ],
)
def test_a_battery_that_is_to_be_replaced(health: float | None, test: str, expected: Level) -> None:
    more = [read("ups/A", "ups.test_result", test), read("ups/A", "ups.battery_health", health)]
    assert level(Bench(find_rule("ups.battery")), "ups/A", [*ups("A", "ol"), *more]) is expected


def test_its_own_flag_must_last_and_any_source_has_it() -> None:
    bench = Bench(find_rule("ups.battery"))
    readings = [*ups("A", "ol"), read("ups/A", "ups.status", {"ol", "rb"}, source="z")]
    assert level(bench, "ups/A", readings) is UNSURE
    later = [*ups("A", "ol", at=4.0), read("ups/A", "ups.status", {"ol", "rb"}, 4.0, source="z")]
    assert bench.tell(later)["ups/A"].text == "the battery of ups/A is to be replaced: it has asked for a new one for 4 s"


def test_a_battery_that_nobody_sees_is_not_well() -> None:
    assert level(Bench(find_rule("ups.battery")), "ups/A", ups("A", None)) is UNSURE


@pytest.mark.parametrize(
    ("flags", "load", "expected"),
    [("ol", 90.0, CLEAR), ("ol", 101.0, RAISED), ("ol over", 80.0, RAISED), ("ob over", None, RAISED), (None, None, UNSURE)],
)
def test_an_overload_that_lasts(flags: str | None, load: float | None, expected: Level) -> None:
    bench = Bench(find_rule("ups.overload"))
    for at in (0.0, 9.0):
        verdict = bench.tell([*ups("A", flags, at=at), read("ups/A", "ups.load", load, at)])["ups/A"]
        assert verdict.level is (UNSURE if expected is RAISED else expected)
    assert level(bench, "ups/A", [*ups("A", flags, at=10.0), read("ups/A", "ups.load", load, 10.0)]) is expected


def test_one_phase_may_be_too_much() -> None:
    bench = Bench(find_rule("ups.overload"))
    for at in (0.0, 10.0):
        verdict = bench.tell([*ups("A", "ol", at=at, load=60.0), read("ups/A", "ups.load.L2", 104.0, at)])["ups/A"]
    assert verdict.text == "ups/A is overloaded: ups.load.L2 is 104 %"
