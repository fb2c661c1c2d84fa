"""What may be taken out, whatever is asked in whatever order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supernoded.cluster.fleet.breakers import (
    BREAKERS,
    HOUR,
    LINGER,
    MOST_GIVEN,
    Granted,
    Refused,
    Taken,
    Want,
    add,
    count,
    decide,
    is_node,
    prune,
)
from supernoded.model import Hold
from supernoded.settings import Breakers

NOW = 1_000_000.0
LIMITS = Breakers(cards_out=3, nodes_out=2, per_cause=3, per_hour=5, window_s=1800.0, grant_s=30.0)


def want(subject: str, cause: str = "silent", incident: str = "") -> Want:
    return Want(subject=subject, cause=cause, incident=incident or f"i-{subject}", owner="isolation", kind="card.hold")


def hold(subject: str, owner: str = "isolation", cause: str = "silent", placed: float = NOW - 10.0, **other: Any) -> Hold:
    return Hold(id=f"h-{subject}-{owner}", subject=subject, serial="", reason="r", owner=owner, placed=placed, cause=cause, **other)


def ask(one: Want, holds: Sequence[Hold] = (), given: Sequence[Taken] = (), limits: Breakers = LIMITS) -> Granted | Refused:
    return decide(one, holds, given, {}, limits, NOW)


def test_the_first_is_granted_and_the_same_one_twice_is_one() -> None:
    first = ask(want("n0/card0"))
    assert isinstance(first, Granted)
    assert (first.taken.until, first.taken.cause) == (NOW + 30.0, "silent")
    again = decide(want("n0/card0", "another"), (), [first.taken], {}, LIMITS, NOW + 5.0)
    assert again == first
    assert add([first.taken], first.taken) == [first.taken]


@pytest.mark.parametrize(
    ("one", "holds", "breaker"),
    [
        (want("n9/card0", "x"), [hold(f"n{n}/card0", cause=f"c{n}", placed=NOW - 2 * HOUR) for n in range(3)], "cards_out"),
        (want("n9", "x"), [hold(f"n{n}", cause=f"c{n}") for n in range(2)], "nodes_out"),
        (want("n9/card0"), [hold("n0"), hold("n1"), hold("n2/card1")], "per_cause"),
        (want("n9/card0", "x"), [hold(name, cause=name) for name in ("n0", "n1", "n2/card0", "n2/card1", "n3")], "per_hour"),
    ],
)
def test_each_breaker_trips_at_its_limit_and_says_so(one: Want, holds: list[Hold], breaker: str) -> None:
    said = ask(one, holds)
    assert isinstance(said, Refused)
    assert said.trips == breaker
    assert f"the limit is {getattr(LIMITS, breaker)} (breakers.{breaker})" in said.text
    assert isinstance(ask(one, holds[1:]), Granted)


def test_what_people_hold_and_what_is_over_is_not_counted() -> None:
    people = [hold(f"n{n}/card0", owner="operator alice") for n in range(9)]
    over = [
        hold("n7/card0", cause="a", placed=NOW - 2 * HOUR, lifted=NOW - 1.0),
        hold("n8/card0", cause="b", placed=NOW - 2 * HOUR, expires=NOW),
    ]
    assert isinstance(ask(want("n9/card0"), [*people, *over, hold("n1/card0"), hold("n2/card0")]), Granted)


def test_a_grant_counts_until_its_hold_must_be_known() -> None:
    given = [Taken(subject=f"n{n}/card0", cause=f"c{n}", incident="i", at=NOW - 60.0, until=NOW - 30.0) for n in range(3)]
    assert isinstance(ask(want("n9/card0", "x"), given=given), Refused)
    later = decide(want("n9/card0", "x"), (), given, {}, LIMITS, NOW - 30.0 + LINGER)
    assert isinstance(later, Granted)


def test_after_one_has_tripped_nothing_is_granted_but_what_was() -> None:
    given = [Taken(subject="n0/card0", cause="silent", incident="i-n0/card0", at=NOW, until=NOW + 30.0)]
    said = decide(want("n5"), (), given, {"per_hour": "six within an hour"}, LIMITS, NOW)
    assert said == Refused(
        "breaker per_hour has tripped (six within an hour); when the cause is known: `supernodectl breakers reset per_hour --reason TEXT`"
    )
    assert isinstance(decide(want("n0/card0"), (), given, {"per_hour": "x"}, LIMITS, NOW), Granted)


def test_a_limit_of_none_refuses_and_trips_nothing() -> None:
    said = ask(want("n0"), limits=Breakers(nodes_out=0))
    assert isinstance(said, Refused)
    assert (said.trips, "the limit is 0" in said.text) == ("", True)


def test_what_counts_is_told_by_breaker() -> None:
    told = count([hold("n0"), hold("n1/card0", cause="fault"), hold("n2", owner="operator bob")], [], LIMITS, NOW)
    assert told == {"cards_out": ("n1/card0",), "nodes_out": ("n0",), "per_cause": ("n1/card0",), "per_hour": ("n0", "n1/card0")} | {
        "per_cause": told["per_cause"]
    }
    assert set(told) == set(BREAKERS)
    assert len(told["per_cause"]) == 1
    assert count([], [], LIMITS, NOW) == dict.fromkeys(BREAKERS, ())


SUBJECTS = [*(f"n{n}" for n in range(5)), *(f"n{n}/card{m}" for n in range(3) for m in range(3))]
Turn = tuple[float, int, str, str]
TURNS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.5, 20.0, 61.0, 400.0, 1500.0]),  # seconds that pass
        st.integers(0, len(SUBJECTS) - 1),
        st.sampled_from(["silent", "fault", "gone"]),
        st.sampled_from(["use", "waste", "lift", "restart"]),
    ),
    max_size=60,
)


@settings(max_examples=150, deadline=None)
@given(TURNS)
def test_never_more_is_out_than_the_settings_allow(turns: list[Turn]) -> None:
    """Whatever is asked, used, wasted, lifted, and forgotten by a restart of all that is not durable; breakers are reset at once."""
    now, given_out, holds = NOW, list[Taken](), list[Hold]()
    history: list[tuple[float, str, str]] = []
    for passed, number, cause, deed in turns:
        now += passed
        subject = SUBJECTS[number]
        said = decide(want(subject, cause), [one for one in holds if one.stands(now)], given_out, {}, LIMITS, now)
        if isinstance(said, Granted):
            history.append((said.taken.at, subject, said.taken.cause))
            given_out = prune(add(given_out, said.taken), LIMITS, now)
            if deed != "waste":
                holds.append(hold(subject, cause=said.taken.cause, placed=now))
        if deed == "lift" and holds:
            holds.pop(0)
        if deed == "restart":
            given_out = prune(list(given_out), LIMITS, now)
        out = {one.subject for one in holds if one.stands(now)} | {one.subject for one in given_out if one.until > now}
        assert sum(map(is_node, out)) <= LIMITS.nodes_out
        assert len(out) - sum(map(is_node, out)) <= LIMITS.cards_out
        assert len({one for at, one, _ in history if now - at < HOUR}) <= LIMITS.per_hour
        for known in ("silent", "fault", "gone"):
            assert len({one for at, one, why in history if why == known and now - at < LIMITS.window_s}) <= LIMITS.per_cause


def test_one_subject_that_is_wanted_for_ever_new_incidents_does_not_fill_the_book() -> None:
    given = list[Taken]()
    for number in range(MOST_GIVEN + 5):
        said = ask(want("n0/card0", incident=f"i{number}"), given=given)
        given = add(given, said.taken) if isinstance(said, Granted) else given
    assert len(given) == MOST_GIVEN
    assert isinstance(said, Refused)
    assert (said.trips, f"at most {MOST_GIVEN} are kept" in said.text) == ("", True)
