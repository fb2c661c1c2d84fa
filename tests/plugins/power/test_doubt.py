"""Conflicts and silence."""

from __future__ import annotations

import pytest

from supernoded.model import Level, Reading, Severity
from tests.plugins.power.site import Bench, find_rule, level, read, ups

RAISED, CLEAR, UNSURE = Level.RAISED, Level.CLEAR, Level.UNSURE


@pytest.mark.parametrize(
    ("flags", "volts", "pdu", "expected", "said"),
    [
        ("ol dischrg ob", 230.0, None, RAISED, "on line and on battery at once"),  # facility 7.1
        ("ol", 230.0, 0.0, CLEAR, "feed/A is dead"),  # till it has lasted: polls lag behind each other
        ("off", 230.0, 230.0, UNSURE, "its output is off"),  # the same
        ("ol wait", 230.0, None, RAISED, "it says a word that nobody knows"),
        ("ol", 230.0, 230.0, CLEAR, ""),
        ("ob", 0.0, 230.0, CLEAR, ""),
        ("", None, None, UNSURE, ""),  # empty is unknown, not offline (facility 7.9)
        (None, None, None, UNSURE, ""),
    ],
)
def test_views_that_contradict_each_other(flags: str | None, volts: float | None, pdu: float | None, expected: Level, said: str) -> None:
    verdict = Bench(find_rule("power.conflict")).tell(ups("A", flags, volts, pdu=pdu))["feed/A"]
    assert verdict.level is expected
    assert said in verdict.text


def test_a_ups_on_line_before_dark_pdus_contradicts_itself_once_that_lasts() -> None:
    bench = Bench(find_rule("power.conflict"))
    assert level(bench, "feed/A", ups("A", "ol", pdu=0.0)) is CLEAR
    verdict = bench.tell(ups("A", "ol", at=10.0, pdu=0.0))["feed/A"]
    assert (verdict.level, verdict.text) == (RAISED, "feed/A contradicts itself: on line, but pdu/A1 reads 0 V")
    assert level(bench, "feed/A", ups("A", "ol", at=11.0, pdu=230.0)) is CLEAR


def test_a_ups_whose_output_is_off_before_live_pdus_contradicts_itself_once_that_lasts() -> None:
    bench = Bench(find_rule("power.conflict"))
    bench.tell(ups("A", "off", pdu=230.0))
    verdict = bench.tell(ups("A", "off", at=10.0, pdu=230.0))["feed/A"]
    assert (verdict.level, verdict.text) == (RAISED, "feed/A contradicts itself: its output is off, but pdu/A1 reads 230 V")


def test_silence_after_battery_is_critical_at_once() -> None:
    bench = Bench(find_rule("power.silent"))
    assert level(bench, "ups/A", ups("A", "ob", 0.0)) is CLEAR
    verdict = bench.tell(ups("A", None, None, 4.0))["ups/A"]  # nut#2454, nut#2925
    assert (verdict.level, verdict.severity) == (RAISED, Severity.CRITICAL)
    assert verdict.text == (
        "ups/A was on battery and is silent (ups.status of ups/A: no answer); "
        "the load is taken to be alive till a second source says otherwise"
    )
    assert level(bench, "ups/A", ups("A", "ol", 230.0, 9.0)) is CLEAR


def test_silence_on_mains_is_a_warning_and_takes_its_time() -> None:
    bench = Bench(find_rule("power.silent"))
    bench.tell(ups("A", "ol"))
    assert level(bench, "ups/A", ups("A", None, None, 4.0)) is UNSURE
    verdict = bench.tell(ups("A", None, None, 19.0))["ups/A"]
    assert (verdict.level, verdict.severity) == (RAISED, Severity.WARNING)


def test_a_ups_that_falls_silent_with_its_pdus_is_critical_soon() -> None:
    bench = Bench(find_rule("power.silent"))
    bench.tell(ups("A", "ol", pdu=230.0), ups("B", "ol", pdu=230.0))

    def nothing(at: float) -> list[Reading]:
        return [*ups("A", None, None, at), read("pdu/A1", "pdu.voltage", None, at, note="no answer")]

    assert level(bench, "ups/A", nothing(1.0)) is UNSURE
    verdict = bench.tell(nothing(4.0))["ups/A"]  # nut#2925: it vanishes with the mains
    assert (verdict.level, verdict.severity) == (RAISED, Severity.CRITICAL)
    assert verdict.text.endswith("nor of the PDUs behind it, for 3 s: feed/A may be dead")


def test_a_ups_whose_pdus_are_heard_has_only_lost_its_line() -> None:
    bench = Bench(find_rule("power.silent"))
    bench.tell(ups("A", "ol", pdu=230.0))
    assert level(bench, "ups/A", ups("A", None, None, 10.0, pdu=230.0)) is UNSURE
    assert bench.tell(ups("A", None, None, 30.0, pdu=230.0))["ups/A"].severity is Severity.WARNING


def test_a_test_is_no_battery_that_fell_silent() -> None:
    bench = Bench(find_rule("power.silent"))
    bench.tell(ups("A", "ob cal", 230.0))
    assert level(bench, "ups/A", ups("A", None, None, 4.0)) is UNSURE


def test_what_was_never_heard_is_not_silent() -> None:
    assert "ups/B" not in Bench(find_rule("power.silent")).tell(ups("A", "ol"))


def test_a_reading_that_grows_old_is_silence_too() -> None:
    bench = Bench(find_rule("power.silent"))
    bench.tell(ups("A", "ob", 0.0))
    verdict = bench.ask(6.0)["ups/A"]
    assert (verdict.level, "last read 6.0 s ago" in verdict.text) == (RAISED, True)
