from __future__ import annotations

from supernoded.admin.powering import list_power
from supernoded.admin.timeline import choose_incident, tell_timeline
from supernoded.messages import Deed, Moment
from supernoded.model import Action, Event, Incident, Level, Outcome, Reading, Result, Severity, State, Step, Value, Verdict
from supernoded.topology import Pdu, Supernode, Topology, Ups

SITE = Topology(nodes=(Supernode(name="n0", cards=1, feeds=("A",)),), ups=(Ups(name="A"),), pdus=(Pdu(name="A1", feed="A"),))


def read(subject: str, quantity: str, value: Value, at: float = 1.0, source: str = "") -> Reading:
    state = State.UNKNOWN if value is None else State.GOOD
    return Reading(subject=subject, quantity=quantity, value=value, unit="1", at=at, state=state, source=source)


def say(kind: str, subject: str, level: Level = Level.RAISED, severity: Severity = Severity.WARNING) -> Verdict:
    return Verdict(kind=kind, subject=subject, level=level, text=f"{kind} of {subject}", at=1.0, severity=severity)


def test_what_is_described_is_shown_though_nothing_is_read_of_it() -> None:
    told = list_power([], [], SITE, 5.0, "n0")
    (supply,), (strip,) = told.supplies, told.strips
    assert (supply.subject, supply.status, supply.text) == ("ups/A", None, "no rule has judged it")
    assert (strip.subject, strip.feed, strip.armed, strip.group) == ("pdu/A1", "A", None, None)
    assert (told.now, told.judged_by) == (5.0, "n0")


def test_readings_fill_the_rows_and_what_is_not_good_is_not_known() -> None:
    readings = [
        read("ups/A", "ups.status", frozenset({"ob", "lb"})),
        read("ups/A", "ups.charge", None),
        read("ups/Z", "ups.charge", 50.0),
        read("pdu/A1", "pdu.armed", 0.0),
        read("pdu/A1", "pdu.group", frozenset({"10", "9"})),
        read("pdu/A1/outlet10", "outlet.state", "off"),
        read("pdu/A1/outlet9", "outlet.state", "off"),
        read("pdu/A1/outlet1", "outlet.state", "on"),
    ]
    told = list_power(readings, [], SITE, 5.0, "")
    first, stranger = told.supplies
    assert (first.status, first.charge) == (("lb", "ob"), None)
    assert (stranger.subject, stranger.charge) == ("ups/Z", 50.0)
    (strip,) = told.strips
    assert (strip.armed, strip.group, strip.off) == (False, ("9", "10"), ("9", "10"))


def test_a_row_has_the_worst_word_on_it_or_on_its_feed() -> None:
    verdicts = [
        say("ups.battery", "ups/A"),
        say("power.feed_lost", "feed/A", severity=Severity.CRITICAL),
        say("power.outage", "power/site", Level.CLEAR),
        say("link.down", "n0/card0/port0"),
    ]
    told = list_power([], verdicts, SITE, 5.0, "")
    assert told.supplies[0].text == "power.feed_lost of feed/A"
    assert [verdict.kind for verdict in told.verdicts] == ["power.feed_lost", "ups.battery", "power.outage"]


def test_a_timeline_is_in_the_order_of_time_and_tells_turns_not_values() -> None:
    step = Step(name="shed", kind="power.shed", target="pdu/A1", reason="both feeds have sagged")
    action = Action(id="i/shed", step=step, incident="i", scope="power/site", epoch=0, issued=10.0, deadline=12.0)
    outcome = Outcome(action="i/shed", result=Result.DONE, text="8 outlets open", at=10.2)
    raised = Event(
        id="e", kind="power.outage", subject="power/site", scope="power/site", raised=True, text="lost", at=10.0, severity=Severity.CRITICAL
    )
    readings = [
        read("ups/A", "ups.status", frozenset({"chrg"}), at=0.5, source="nut"),
        read("ups/A", "ups.status", frozenset({"ol"}), at=1.0, source="nut"),  # from then on, and told before the story begins
        read("ups/A", "ups.status", frozenset({"ob"}), at=9.9, source="nut"),
        read("ups/A", "ups.status", frozenset({"ol"}), at=9.95, source="modbus"),  # another view, which has not turned
        read("ups/A", "ups.status", None, at=11.0, source="nut"),
    ]
    told = tell_timeline([raised], [Deed(action=action, outcome=outcome)], readings[::-1], since=5.0)
    assert told == (
        Moment(at=9.9, what="seen", subject="ups/A", text="ups.status: ol -> ob"),
        Moment(at=10.0, what="raised", subject="power/site", text="lost"),
        Moment(at=10.0, what="ordered", subject="pdu/A1", text="power.shed: both feeds have sagged"),
        Moment(at=10.2, what="done", subject="pdu/A1", text="power.shed: 8 outlets open"),
        Moment(at=11.0, what="seen", subject="ups/A", text="ups.status: ob -> unknown"),
    )


def test_a_rehearsal_is_told_as_one_and_has_no_outcome() -> None:
    step = Step(name="shed", kind="power.shed", target="pdu/A1", reason="because")
    action = Action(id="i/shed", step=step, incident="i", scope="power/site", epoch=0, issued=10.0, deadline=12.0)
    (moment,) = tell_timeline([], [Deed(action=action, rehearsed=True)], [], since=0.0)
    assert moment == Moment(at=10.0, what="rehearsed", subject="pdu/A1", text="power.shed: because")


def open_incident(kind: str, opened: float, closed: float | None = None) -> Incident:
    return Incident(
        id=kind, kind=kind, subject="x", scope="power/site", opened=opened, closed=closed, severity=Severity.WARNING, text="because"
    )


def test_an_outage_goes_before_what_it_brought_with_it_and_not_before_what_came_long_after() -> None:
    lost = open_incident("power.feed_lost", 105.0)
    for closed in (None, 110.0):
        outage = open_incident("power.outage", 100.0, closed)
        assert choose_incident([lost, outage]) == outage
    assert choose_incident([lost, open_incident("power.outage", 10.0, 20.0)]) == lost
    assert choose_incident([]) is None
