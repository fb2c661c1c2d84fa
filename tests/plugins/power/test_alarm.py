"""A UPS that alarms for something of its own."""

from __future__ import annotations

import pytest

from supernoded.model import Level
from tests.plugins.power.site import Bench, find_rule, level, read, ups

RAISED, CLEAR, UNSURE = Level.RAISED, Level.CLEAR, Level.UNSURE


def test_an_alarm_that_lasts_is_told_in_the_ups_own_words() -> None:
    bench = Bench(find_rule("ups.alarm"))
    assert level(bench, "ups/A", ups("A", "ol"), ups("B", "ol")) is CLEAR
    words = read("ups/A", "ups.alarm", "Battery earth fault!", 1.0)
    assert level(bench, "ups/A", ups("A", "ol alarm", at=1.0), [words]) is UNSURE  # flags flash (nut#2347)
    verdict = bench.tell(ups("A", "ol alarm", at=4.0))["ups/A"]
    assert (verdict.level, verdict.text) == (RAISED, "ups/A alarms for 3 s: Battery earth fault")
    assert bench.ask(4.0)["ups/B"].level is CLEAR
    assert level(bench, "ups/A", ups("A", "ol", at=5.0)) is CLEAR


def test_one_without_words_says_that() -> None:
    bench = Bench(find_rule("ups.alarm"))
    bench.tell(ups("A", "ol alarm"))
    assert bench.tell(ups("A", "ol alarm", at=3.0))["ups/A"].text.endswith("it does not say for what")


@pytest.mark.parametrize(
    "flags", ["ol rb alarm", "ob alarm", "ol over alarm", "off alarm", "ol bypass alarm", "ol fsd alarm", "ob lb alarm"]
)
def test_what_is_told_of_itself_is_not_told_twice(flags: str) -> None:
    bench = Bench(find_rule("ups.alarm"))
    bench.tell(ups("A", flags))
    assert level(bench, "ups/A", ups("A", flags, at=10.0)) is CLEAR


def test_one_that_is_not_heard_is_not_judged_well() -> None:
    bench = Bench(find_rule("ups.alarm"))
    bench.tell(ups("A", "ol"))
    assert level(bench, "ups/A", ups("A", None, at=3.0)) is UNSURE
