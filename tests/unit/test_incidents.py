from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.incidents import FORGET_AFTER, SITE, Edge, Ledger, Merged, Opened, Widened
from supernoded.model import Level, Severity, Step, Verdict

CABLE = "cable/n0/card0/port0--n0/card1/port1"
SHARED = {
    "n0/card0/port0": (CABLE, "n0/card0", "n0"),
    "n0/card1/port1": (CABLE, "n0/card1", "n0"),
    "n0/card2/port0": ("n0/card2", "n0"),
    "n0/card3/port0": ("n0/card3", "n0"),
    "n0": (),
    "ups/A": (),
    "ups/B": (),
    "ups/C": (),
}


def verdict(subject: str, level: Level, at: float, kind: str = "link.ber", severity: Severity = Severity.WARNING) -> Verdict:
    return Verdict(kind=kind, subject=subject, level=level, text=f"{subject} at {at}", at=at, severity=severity)


@pytest.fixture
def ledger() -> Ledger:
    return Ledger("node", lambda subject: SHARED.get(subject, ()), clear_after=60.0, common_window=30.0, common_count=3)


def test_clear_and_unsure_open_nothing(ledger: Ledger) -> None:
    assert ledger.take(verdict("n0/card0/port0", Level.CLEAR, 1)) == []
    assert ledger.take(verdict("n0/card0/port0", Level.UNSURE, 2)) == []
    assert ledger.open == []


def test_raised_opens_once_and_clears_after_a_while(ledger: Ledger) -> None:
    opened, edge = ledger.take(verdict("n0/card0/port0", Level.RAISED, 1))
    assert isinstance(opened, Opened)
    assert isinstance(edge, Edge)
    assert edge.event.incident == opened.incident.id
    assert ledger.take(verdict("n0/card0/port0", Level.RAISED, 2)) == []
    (back,) = ledger.take(verdict("n0/card0/port0", Level.CLEAR, 10))
    assert isinstance(back, Edge)
    assert not back.event.raised
    assert not ledger.is_over(opened.incident, 69.9)
    assert ledger.is_over(opened.incident, 70.0)
    assert ledger.close(opened.incident, 70.0).closed == 70.0
    assert ledger.open == []


def test_trouble_that_comes_back_within_the_time_is_one_incident(ledger: Ledger) -> None:
    opened, _ = ledger.take(verdict("n0/card0/port0", Level.RAISED, 1))
    ledger.take(verdict("n0/card0/port0", Level.CLEAR, 10))
    (edge,) = ledger.take(verdict("n0/card0/port0", Level.RAISED, 40))
    assert isinstance(opened, Opened)
    assert isinstance(edge, Edge)
    assert edge.event.incident == opened.incident.id
    assert not ledger.is_over(opened.incident, 1000)


def test_unsure_neither_raises_nor_clears(ledger: Ledger) -> None:
    opened, _ = ledger.take(verdict("n0/card0/port0", Level.RAISED, 1))
    assert isinstance(opened, Opened)
    assert ledger.take(verdict("n0/card0/port0", Level.UNSURE, 100)) == []
    assert ledger.is_raised(opened.incident)
    assert ledger.unsure(opened.incident) == "n0/card0/port0 at 100"


def test_two_ends_of_a_cable_are_one_incident_of_the_cable(ledger: Ledger) -> None:
    first = ledger.take(verdict("n0/card0/port0", Level.RAISED, 1))
    changes = ledger.take(verdict("n0/card1/port1", Level.RAISED, 5, severity=Severity.CRITICAL))
    own, shared, merged, edge = changes
    assert isinstance(shared, Opened)
    assert shared.incident.subject == CABLE
    assert shared.incident.severity is Severity.CRITICAL
    assert shared.incident.members == ("n0/card0/port0", "n0/card1/port1")
    assert isinstance(merged, Merged)
    assert isinstance(first[0], Opened)
    assert isinstance(own, Opened)
    assert {i.id for i in merged.incidents} == {first[0].incident.id, own.incident.id}
    assert isinstance(edge, Edge)
    assert edge.event.incident == shared.incident.id
    assert ledger.open == [shared.incident]


def test_a_third_subject_joins_the_shared_incident(ledger: Ledger) -> None:
    ledger.take(verdict("n0/card0/port0", Level.RAISED, 1))
    ledger.take(verdict("n0/card2/port0", Level.RAISED, 2))  # share the node only
    widened, _ = ledger.take(verdict("n0/card1/port1", Level.RAISED, 20))
    assert isinstance(widened, Widened)
    assert widened.incident.subject == "n0"
    assert len(widened.incident.members) == 3


def test_the_same_fault_far_apart_in_time_stays_apart(ledger: Ledger) -> None:
    ledger.take(verdict("n0/card0/port0", Level.RAISED, 1))
    ledger.take(verdict("n0/card1/port1", Level.RAISED, 40))
    assert [i.subject for i in ledger.open] == ["n0/card0/port0", "n0/card1/port1"]


def test_three_within_a_minute_that_share_nothing_are_one_of_the_site(ledger: Ledger) -> None:
    ledger.take(verdict("ups/A", Level.RAISED, 1))
    assert len(ledger.take(verdict("ups/B", Level.RAISED, 2))) == 2
    ledger.take(verdict("ups/C", Level.RAISED, 3))
    (only,) = ledger.open
    assert only.subject == SITE
    assert only.members == ("ups/A", "ups/B", "ups/C")


def test_a_shared_incident_is_over_when_all_members_are_clear(ledger: Ledger) -> None:
    ledger.take(verdict("n0/card0/port0", Level.RAISED, 1))
    ledger.take(verdict("n0/card1/port1", Level.RAISED, 5))
    (shared,) = ledger.open
    ledger.take(verdict("n0/card0/port0", Level.CLEAR, 10))
    assert not ledger.is_over(shared, 500)
    ledger.take(verdict("n0/card1/port1", Level.CLEAR, 20))
    assert ledger.is_over(shared, 80)


def test_an_incident_of_an_earlier_life_is_not_opened_twice(ledger: Ledger) -> None:
    opened, _ = ledger.take(verdict("n0/card0/port0", Level.RAISED, 1))
    assert isinstance(opened, Opened)
    again = Ledger("node", lambda _: ())
    again.restore([opened.incident], 40.0)
    assert again.take(verdict("n0/card0/port0", Level.RAISED, 50)) == []
    assert again.is_raised(opened.incident)


@given(st.lists(st.tuples(st.sampled_from(sorted(SHARED)), st.sampled_from(list(Level)), st.floats(0.1, 40.0)), max_size=60))
def test_every_raised_subject_is_in_exactly_one_open_incident(steps: list[tuple[str, Level, float]]) -> None:
    ledger = Ledger("node", lambda subject: SHARED.get(subject, ()))
    levels: dict[str, Level] = {}
    at = 0.0
    for subject, level, wait in steps:
        at += wait
        ledger.take(verdict(subject, level, at))
        if level is not Level.UNSURE:
            levels[subject] = level
    homes = [subject for incident in ledger.open for subject in (incident.members or (incident.subject,))]
    assert len(homes) == len(set(homes))
    assert len({incident.subject for incident in ledger.open}) == len(ledger.open)
    for subject, level in levels.items():
        if level is Level.RAISED:
            assert subject in homes
    assert all(msgspec.json.decode(msgspec.json.encode(i), type=type(i)) == i for i in ledger.open)


def test_a_second_wave_joins_the_incident_that_is_still_open(ledger: Ledger) -> None:
    ledger.take(verdict("n0/card0/port0", Level.RAISED, 1))
    ledger.take(verdict("n0/card2/port0", Level.RAISED, 2))
    (first,) = ledger.open
    ledger.take(verdict("n0/card1/port1", Level.RAISED, 100))
    _, widened, merged, _ = ledger.take(verdict("n0/card3/port0", Level.RAISED, 105))
    assert isinstance(widened, Widened)
    assert isinstance(merged, Merged)
    assert [(i.id, len(i.members)) for i in ledger.open] == [(first.id, 4)]
    for subject in ("n0/card0/port0", "n0/card2/port0"):
        ledger.take(verdict(subject, Level.CLEAR, 200))
    assert not ledger.is_over(first, 1000)  # the second wave is still there


def test_the_shared_thing_itself_joins_the_incident_of_what_shares_it(ledger: Ledger) -> None:
    ledger.take(verdict("n0/card0/port0", Level.RAISED, 1))
    ledger.take(verdict("n0/card2/port0", Level.RAISED, 2))
    ledger.take(verdict("n0", Level.RAISED, 500))
    (only,) = ledger.open
    assert only.members == ("n0", "n0/card0/port0", "n0/card2/port0")


def test_going_on_under_an_older_identity_loses_no_subject(ledger: Ledger) -> None:
    ledger.take(verdict("n0/card0/port0", Level.RAISED, 1000))
    ledger.take(verdict("n0/card2/port0", Level.RAISED, 1001))
    (new,) = ledger.open
    older = msgspec.structs.replace(new, id="older", opened=1.0, members=("n0/card1/port1", "n0/card2/port0"))
    wider = ledger.adopt(new, older, 1002)
    assert ledger.open == [wider]
    assert wider.id == "older"
    assert wider.members == ("n0/card0/port0", "n0/card1/port1", "n0/card2/port0")
    for subject in wider.members[1:]:
        ledger.take(verdict(subject, Level.CLEAR, 1003))
    assert not ledger.is_over(wider, 2000)
    ledger.take(verdict("n0/card0/port0", Level.CLEAR, 2000))
    ledger.close(wider, 3000)
    assert ledger.take(verdict("n0/card0/port0", Level.RAISED, 3001)) != []


def test_what_nobody_judges_any_more_is_over_after_a_week_and_what_is_unsure_is_not(ledger: Ledger) -> None:
    ledger.take(verdict("n0/card0/port0", Level.RAISED, 1))
    (incident,) = ledger.open
    ledger.take(verdict("n0/card0/port0", Level.UNSURE, FORGET_AFTER - 1))
    assert not ledger.is_over(incident, 2 * FORGET_AFTER - 2)
    assert ledger.is_over(incident, 2 * FORGET_AFTER)
    assert ledger.is_forgotten(incident, 2 * FORGET_AFTER)
    again = Ledger("node", lambda _: ())
    again.restore([incident], 3 * FORGET_AFTER)
    assert not again.is_over(incident, 4 * FORGET_AFTER - 1)
    assert again.is_over(incident, 4 * FORGET_AFTER)


def test_the_text_of_ten_thousand_members_is_short() -> None:
    ledger = Ledger("node", lambda _: ("n0",))
    for number in range(1_000):
        ledger.take(verdict(f"n0/p{number:04}", Level.RAISED, 1))
    (only,) = ledger.open
    assert len(only.members) == 1_000
    assert only.text.endswith("n0/p0007 and 992 more")


def test_edges_from_the_future_of_a_clock_that_was_set_back_are_not_near(ledger: Ledger) -> None:
    ledger.take(verdict("n0/card0/port0", Level.RAISED, 100_000))
    ledger.take(verdict("n0/card2/port0", Level.RAISED, 100))
    assert len(ledger.open) == 2


def test_what_gets_worse_is_told_again_and_what_gets_better_is_not(ledger: Ledger) -> None:
    port = "n0/card0/port0"
    ledger.take(verdict(port, Level.RAISED, 1, severity=Severity.WARNING))
    widened, edge = ledger.take(verdict(port, Level.RAISED, 5, severity=Severity.CRITICAL))
    (incident,) = ledger.open
    assert widened == Widened(incident)
    assert incident.severity is Severity.CRITICAL
    assert isinstance(edge, Edge)
    assert (edge.event.raised, edge.event.severity, edge.event.incident) == (True, Severity.CRITICAL, incident.id)
    assert ledger.take(verdict(port, Level.RAISED, 6, severity=Severity.WARNING)) == []
    assert ledger.take(verdict(port, Level.RAISED, 7, severity=Severity.CRITICAL)) == []
    (cleared,) = ledger.take(verdict(port, Level.CLEAR, 8))
    assert isinstance(cleared, Edge)
    assert cleared.event.raised is False


def test_a_restart_does_not_tell_again_what_was_as_bad_before(ledger: Ledger) -> None:
    port = "n0/card0/port0"
    ledger.take(verdict(port, Level.RAISED, 1, severity=Severity.CRITICAL))
    again = Ledger("node", lambda _: ())
    again.restore(ledger.open, 10)
    assert again.take(verdict(port, Level.RAISED, 11, severity=Severity.CRITICAL)) == []


def test_the_worst_member_of_a_shared_incident_is_its_severity(ledger: Ledger) -> None:
    ledger.take(verdict("n0/card0/port0", Level.RAISED, 1, severity=Severity.WARNING))
    ledger.take(verdict("n0/card1/port1", Level.RAISED, 5, severity=Severity.WARNING))
    (before,) = ledger.open
    ledger.take(verdict("n0/card1/port1", Level.RAISED, 6, severity=Severity.CRITICAL))
    (after,) = ledger.open
    assert (before.severity, after.severity) == (Severity.WARNING, Severity.CRITICAL)
    assert after.text == before.text


def test_what_an_earlier_life_left_open_and_is_seen_to_have_gone_strikes_nobody(ledger: Ledger) -> None:
    earlier = Ledger("node", lambda _: ())
    old = [
        change.incident
        for ups in ("ups/A", "ups/B")
        for change in earlier.take(verdict(ups, Level.RAISED, 1))
        if isinstance(change, Opened)
    ]
    ledger.restore(old, 1000.0)
    for ups in ("ups/A", "ups/B"):
        ledger.take(verdict(ups, Level.CLEAR, 1001.0))
    opened, _ = ledger.take(verdict("ups/C", Level.RAISED, 1002.0))
    assert isinstance(opened, Opened)
    assert [incident.subject for incident in ledger.open] == ["ups/A", "ups/B", "ups/C"]


def make_step(kind: str) -> Step:
    return Step(name=kind, kind=kind, target="n0/card0", reason="because")


def test_an_incident_that_has_taken_something_out_counts_and_is_not_taken_over(ledger: Ledger) -> None:
    (first, _), (second, _) = (ledger.take(verdict(ups, Level.RAISED, at)) for at, ups in enumerate(("ups/A", "ups/B")))
    assert isinstance(first, Opened)
    assert isinstance(second, Opened)
    ledger.begin(first.incident, [make_step("notify"), make_step("card.hold")])
    ledger.begin(second.incident, [make_step("notify")])
    ledger.take(verdict("ups/C", Level.RAISED, 3))
    mine, shared = ledger.open
    assert mine == first.incident
    assert (shared.subject, shared.members) == (SITE, ("ups/B", "ups/C"))
    assert "ups/A, ups/B, ups/C" in shared.text


def test_what_an_earlier_life_left_is_not_taken_over_by_a_newcomer(ledger: Ledger) -> None:
    opened, _ = ledger.take(verdict("n0/card0/port0", Level.RAISED, 1))
    assert isinstance(opened, Opened)
    again = Ledger("node", lambda subject: SHARED.get(subject, ()))
    again.restore(ledger.open, 10)
    again.take(verdict("n0/card1/port1", Level.RAISED, 11))
    assert [one.subject for one in again.open] == ["n0/card0/port0", CABLE]


def test_an_old_trouble_that_flickers_is_not_of_the_same_moment(ledger: Ledger) -> None:
    for at, level in ((1, Level.RAISED), (240, Level.CLEAR), (250, Level.RAISED)):
        ledger.take(verdict("n0/card0/port0", level, at))
    ledger.take(verdict("n0/card1/port1", Level.RAISED, 255))
    assert [one.subject for one in ledger.open] == ["n0/card0/port0", "n0/card1/port1"]
