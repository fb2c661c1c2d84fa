"""What people have reported of UPSes and their drivers, as inputs: what is raised of it, and what must never come of it.

Each case has the number of its report (`nut#` is networkupstools/nut) or a word for what was recorded; the readings are our own.
What is a matter of reading alone is tested with the plugin that reads: numbers that stand for nothing, ranges, empty words, thresholds in
`nut/test_ups.py`, links that come and go in `nut/test_sensor.py`, wrong types, broken tables and alarms in mid-walk in `snmp/test_ups.py`,
enums and Fahrenheit in `snmp/test_pdus.py`, and reports by their numbers in the `test_reports.py` of `nut`, `snmp` and `modbus`.

Sheds and stops come of `power.outage` and `power.reserve` alone, so that a case that raises neither does neither.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import supernoded_power
from supernoded.model import Level, Reading
from supernoded_power.settings import PowerSettings
from tests.plugins.power.site import JOB, POWER, Bench, Trouble, find_remedy, job, kinds, make_node, ups

LASTS_S = 120  # of each report: longer than anything that is only a flash
Look = Callable[[int], list[Reading]]  # what is read at a second

A_SILENT = {("power.silent", "ups/A")}
A_LOST, BOTH_LOST = {("power.feed_lost", "feed/A")}, {("power.outage", POWER)}
A_BAD, A_NO_RIDE = {("ups.battery", "ups/A")}, {("power.no_ride_through", "ups/A")}
A_CONFLICT = {("power.conflict", "feed/A")}
DRASTIC = {"power.outage", "power.reserve"}


def pair(a: str | None, b: str | None = "ol", volts: float | None = 230.0, **more: float) -> Look:
    """What both say all the time; `volts` and `more` are A's, and a PDU is live behind each."""
    return lambda at: [*ups("A", a, volts, at, pdu=230.0, **more), *ups("B", b, 230.0, at, pdu=230.0)]


def flash(flags: str, often: int = 1) -> Look:
    """These flags of A for two seconds, so often, on mains."""
    return lambda at: pair(flags if at % 40 in {20, 21} and at // 40 < often else "ol")(at)


def stale(seconds: int) -> Look:
    """Nothing of A for so long, every half minute."""
    return lambda at: pair(None if at % 30 >= 30 - seconds else "ol")(at)


def both(flags: str, volts: float | None = 0.0, **more: float) -> Look:
    return lambda at: [one for name in "AB" for one in ups(name, flags, volts, at, pdu=230.0, output_power=1500.0, **more)]


def after(seconds: int, first: Look, then: Look) -> Look:
    return lambda at: (first if at < seconds else then)(at)


@dataclass(frozen=True)
class Report:
    """`raised` is what stands at the end; `ever` is what was raised in between too."""

    id: str
    look: Look
    raised: set[tuple[str, str]]
    ever: frozenset[tuple[str, str]] = frozenset()


REPORTS = (
    # wrong OB, LB, RB, OFF
    Report("nut#2347-LB", flash("ol lb"), set()),
    Report("nut#2944-RB", flash("ol rb"), set()),
    Report("nut#3623-both", flash("ol lb rb"), set()),
    Report("ZimaOS#588-twice", flash("ol lb rb", 2), set()),
    Report("nut#2347-no-flash", pair("ol rb"), A_BAD | A_NO_RIDE),
    Report("nut#1942-LB-at-90-percent", both("ob lb", charge=90.0, runtime=1500.0), BOTH_LOST),
    Report("nut#3087-LB-at-once", both("ob lb", charge=96.0, runtime=1600.0), BOTH_LOST),
    Report("nut#2278-FSD-OB-OFF", pair("fsd ob off"), A_CONFLICT | A_NO_RIDE),
    Report(
        "nut#303-OFF",
        lambda at: [*ups("A", "off", 230.0, at, pdu=0.0), *ups("B", "ol", 230.0, at, pdu=230.0)],
        A_LOST | A_NO_RIDE | {("power.redundancy", POWER)},
    ),
    Report("nut#2619-no-LB-over-SNMP", both("ob dischrg", charge=5.0, runtime=30.0), BOTH_LOST | {("power.reserve", POWER)}),
    Report("nut#2073-no-nominal", lambda at: [one for one in pair("ol")(at) if "nominal" not in one.quantity], set()),
    Report("nut#2652-charge.low-100", pair("ol", charge=99.0, charge__low=100.0), set()),
    Report("nut#321-OB-LB-for-a-moment", after(3, both("ob lb", charge=80.0), pair("ol")), set(), frozenset(BOTH_LOST)),
    Report("nut#1533-outage-at-the-first-look", both("ob", charge=99.0, runtime=2000.0), BOTH_LOST),
    Report("nut#1886-OB-late", after(10, pair("ol", volts=0.0), pair("ob", volts=0.0)), A_LOST),
    Report("nut#1886-OB-never", pair("ol", volts=0.0), A_CONFLICT, frozenset(A_LOST)),
    Report("nut#2994-empty-status", pair(""), set()),
    # stale, and back again
    Report("nut#2742-stale-for-ever", after(20, pair("ol"), pair(None, volts=None)), A_SILENT),
    Report("nut#3576-stale-all-day", stale(5), set()),
    Report("nut#81-flapping", lambda at: pair(None if at % 2 else "ol")(at), set()),
    Report("nut#2822-stale-beside-one-that-is-well", after(20, pair("ol"), pair(None, volts=None)), A_SILENT),
    Report(
        "nut#2454-4-s-without-a-line", after(30, pair("ob"), after(34, pair(None, volts=None), pair("ob"))), A_LOST, frozenset(A_SILENT)
    ),
    Report("nut#2925-gone-with-the-mains", after(20, pair("ob"), pair(None, volts=None)), A_SILENT, frozenset(A_LOST)),
    Report("nut#2488-an-alarm", pair("ol alarm"), {("ups.alarm", "ups/A")}),
    # recorded
    Report("OL-DISCHRG-OB", pair("ol dischrg ob"), A_CONFLICT),
    Report("OL-DISCHRG-OB-of-both", both("ol dischrg ob", 230.0), A_CONFLICT | {("power.conflict", "feed/B")}),
    Report("no-battery-on-mains", pair("ol alarm rb", charge=0.0, runtime=0.0), A_BAD | A_NO_RIDE),
    Report("FSD-always", pair("ol fsd"), A_NO_RIDE),
    Report("FSD-of-both-on-mains", both("ol fsd", 230.0), A_NO_RIDE | {("power.no_ride_through", "ups/B")}),
    Report("a-word-that-nobody-knows", pair("ol wait"), A_CONFLICT),
    Report("calibrating", pair("ol cal"), A_NO_RIDE),
)


def live(look: Look) -> Iterator[set[tuple[str, str]]]:
    """What is raised, second by second, by all rules over all that is read."""
    node = make_node(Path())
    benches = [Bench(rule) for rule in supernoded_power.supernoded_rules(PowerSettings(), node)]
    for at in range(LASTS_S):
        raised = set[tuple[str, str]]()
        for bench in benches:
            bench.see([*look(at), *job(at, durable_age=10.0)])
            raised |= {(bench.rule.kind, one.subject) for one in bench.ask(at).values() if one.level is Level.RAISED}
        yield raised


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.id)
def test_a_report(report: Report) -> None:
    seen = list(live(report.look))
    assert seen[-1] == report.raised
    drastic = {(kind, subject) for raised in seen for kind, subject in raised if kind in DRASTIC}
    assert drastic <= report.raised | report.ever
    assert report.ever <= set().union(*seen)


@pytest.mark.parametrize("flags", ["ob lb", "ob rb", "ob lb rb"])
def test_low_by_its_own_word_is_believed_as_far_as_to_save_at_once_and_no_further(flags: str) -> None:
    """nut#1942: it was true at 90 %. nut#3087: it was not true at 96 %."""
    times: dict[str, Any] = {"step_time": 10.0, "save_time": 30.0, "request": "none", "durable_age": 500.0}
    trouble = Trouble(find_remedy("power.outage"))
    trouble.see(both(flags, charge=90.0, runtime=1500.0)(0), job(**times))
    trouble.end(trouble.ask())
    (save,) = trouble.ask()
    assert (save.kind, save.target, save.amount) == ("job.checkpoint", JOB, 1.75 * 40.0)
    trouble.end((save,))
    assert [kinds(steps) for steps in trouble.play()] == [[("notify", POWER)]]
