"""Roles that are leased: nobody ever has one beside another, whatever comes between the nodes, and in the end somebody has it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from supernoded.cluster import topics
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.roles.views import MOST_EPOCH
from supernoded.cluster.topics import RoleView
from tests.unit.cluster.rivals import NAMES, ROLES, TERMS, Direct, Site, play

CDU, FLEET = ROLES
TERM = TERMS.term_s
CALM = 5 * TERM  # s after which all is as it was

MOVES: dict[str, Callable[[Site, str], None]] = {
    "cut": lambda site, name: site.net.partition(name, "database"),
    "heal": lambda site, name: site.net.heal(name, "database"),
    "isolate": lambda site, name: site.net.isolate(name),
    "rejoin": lambda site, name: site.net.rejoin(name),
    "pause": lambda site, name: site.pause(name),
    "resume": lambda site, name: site.resume(name),
    "kill": lambda site, name: site.kill(name),
    "start": lambda site, name: site.start(name),
    "stop": lambda site, _: site.database.stop(),
    "serve": lambda site, _: serve(site),
    "stall": lambda site, _: setattr(site.database, "stalled", True),
    "answer": lambda site, _: setattr(site.database, "stalled", False),
    "lag": lambda site, _: setattr(site.database, "lag", 4.0),
    "hurry": lambda site, _: setattr(site.database, "lag", 0.0),
    "set back": lambda site, name: set_clock(site, name, -3600.0),
    "set forth": lambda site, name: set_clock(site, name, 3600.0),
}


def serve(site: Site) -> None:
    if site.database.process is not None and site.database.process.dead:
        site.database.start()


def set_clock(site: Site, name: str, seconds: float) -> None:
    if name in site.rivals:
        site.rivals[name].clock.jump += seconds


def make_well(site: Site) -> None:
    for name in NAMES:
        for move in ("heal", "rejoin", "resume", "start"):
            MOVES[move](site, name)
    MOVES["serve"](site, "")
    MOVES["answer"](site, "")
    MOVES["hurry"](site, "")


moves = st.lists(st.tuples(st.floats(0.0, 12.0), st.sampled_from(sorted(MOVES)), st.sampled_from(NAMES)), max_size=10)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(moves=moves, seed=st.integers(0, 1000), skew=st.sampled_from([0.0, 0.4, 37.0, -900.0]))
def test_nobody_has_a_role_beside_another_and_in_the_end_somebody_has_it(
    moves: list[tuple[float, str, str]], seed: int, skew: float
) -> None:
    ends = 10.0 + sum(pause for pause, _, _ in moves)

    def direct(site: Site) -> None:
        at = 10.0
        for pause, move, name in moves:
            at += pause
            site.loop.at(at, MOVES[move], site, name)
        site.loop.at(ends + 0.1, make_well, site)

    with tempfile.TemporaryDirectory() as folder:
        site = play(Path(folder), direct, ends + CALM, seed=seed, skew=skew)
    assert site.clashes == []
    assert {role: site.holder(role, ends + CALM) in NAMES for role in ROLES} == dict.fromkeys(ROLES, True)


def at(seconds: float, move: str, name: str = "") -> Direct:
    return lambda site: site.loop.at(seconds, MOVES[move], site, name)


def direct(*moves: Direct) -> Direct:
    def together(site: Site) -> None:
        for move in moves:
            move(site)

    return together


def test_the_first_candidate_has_what_nobody_had_and_the_others_know(tmp_path: Path) -> None:
    site = play(tmp_path, direct(), 10.0)
    assert {role: site.holder(role, 9.0) for role in ROLES} == {CDU: "n0", FLEET: "n0"}
    for rival in site.rivals.values():
        assert dict(rival.seats.roles) == {CDU: "n0", FLEET: "n0"}
        assert rival.seats.epoch(CDU) == 1
        assert rival.seats.age < 6.0
    assert site.rivals["n1"].seats.find_refusal(CDU) == "n0 has the role cdu/0"
    assert site.rivals["n1"].seats.find_refusal("cdu/9") == "this node does not have the role cdu/9"


def test_of_several_the_next_takes_over_and_the_last_waits(tmp_path: Path) -> None:
    site = play(tmp_path, direct(at(10.0, "kill", "n0")), 20.0)
    assert site.holder(CDU, 17.5) == "n1"


def test_a_database_that_hangs_is_no_lease(tmp_path: Path) -> None:
    """The answer that never comes does not keep a holder from stepping down in time."""
    site = play(tmp_path, direct(at(10.0, "stall"), at(30.0, "answer")), 40.0)
    assert site.holder(FLEET, 16.5) == ""
    assert site.holder(FLEET, 39.0) in NAMES


def test_a_lease_is_counted_from_before_it_was_asked_for(tmp_path: Path) -> None:
    """The answer comes 4 s late: of its 5.4 s only 1.4 are left, and the next question is answered too late."""
    site = play(tmp_path, direct(at(10.0, "lag")), 40.0)
    assert {found[FLEET] for when, found in site.holders if 18.0 < when < 20.0} != {("n0",)}
    assert site.clashes == []


def test_without_the_database_the_loop_is_kept_and_the_rest_is_not_until_it_is_back(tmp_path: Path) -> None:
    site = play(tmp_path, direct(at(10.0, "stop"), at(60.0, "serve")), 70.0)
    assert {site.holder(CDU, second) for second in range(5, 70)} == {"n0"}
    assert site.holder(FLEET, 16.5) == ""
    assert site.holder(FLEET, 69.0) in NAMES
    assert site.rivals["n0"].seats.epoch(CDU) == 1
    assert [tenure.bridging for tenure in site.rivals["n0"].seats.tenures if tenure.role == CDU] == [False]


def test_while_it_is_kept_it_is_told_as_a_trouble(tmp_path: Path) -> None:
    site = play(tmp_path, direct(at(10.0, "stop")), 40.0)
    (trouble,) = (one for one in site.rivals["n0"].health.troubles() if one.name == "role cdu/0")
    assert "kept past its lease" in trouble.text
    assert [tenure.bridging for tenure in site.rivals["n0"].seats.tenures] == [True]


def test_a_standby_that_starts_anew_keeps_the_promise_of_its_earlier_life(tmp_path: Path) -> None:
    """It does not know what it has promised, and may reach the database before the holder does."""
    site = play(
        tmp_path, direct(at(21.7, "stall"), at(27.78, "kill", "n1"), at(27.88, "start", "n1"), at(27.88, "answer")), 45.0, seed=42, skew=0.0
    )
    assert site.clashes == []
    assert {site.holder(CDU, second) for second in range(20, 45)} == {"n0"}


@pytest.mark.parametrize("seconds", [-3600.0, 3600.0])
def test_a_clock_that_is_set_keeps_nobody_from_his_role_for_long(tmp_path: Path, seconds: float) -> None:
    site = play(tmp_path, direct(at(10.0, "set forth" if seconds > 0 else "set back", "n0")), 30.0)
    without = [when for when, found in site.holders if when > 5.0 and found[CDU] != ("n0",)]
    assert len(without) <= 4  # looks of 0.05 s: it asks anew at once
    assert {site.holder(CDU, second) for second in range(12, 30)} == {"n0"}
    assert site.rivals["n0"].seats.tenures[0].since < site.loop.wall() - 20.0  # it was never given up


def test_a_holder_that_wakes_up_after_its_lease_refuses_at_once(tmp_path: Path) -> None:
    site = play(tmp_path, direct(at(10.0, "pause", "n0"), at(30.0, "resume", "n0")), 30.0)
    refusal = site.rivals["n0"].seats.find_refusal(CDU)
    assert refusal is not None
    assert "is good for 5.4 s" in refusal
    assert site.holder(CDU, 29.0) == "n1"


def test_a_node_that_can_reach_the_database_promises_nothing(tmp_path: Path) -> None:
    site = play(tmp_path, direct(), 10.0)
    assert not site.rivals["n1"].seats.is_vacant(CDU)
    assert site.rivals["n1"].seats.is_vacant("cdu/9")


def test_a_database_that_knows_less_than_was_heard_goes_on_from_there(tmp_path: Path) -> None:
    """Such as one that was restored from an old copy: epochs never go back."""

    def tell(site: Site) -> None:
        view = RoleView(node="n2", life="9", at=site.loop.wall(), role=FLEET, epoch=40, until=site.loop.wall(), held=False)
        for rival in site.rivals.values():
            rival.views.hear(Message(topic=topics.role_view("c0", FLEET), payload=topics.encode(view)))

    site = play(tmp_path, direct(lambda site: site.loop.at(10.0, tell, site)), 20.0)
    assert site.rivals["n0"].seats.epoch(FLEET) == 41
    assert site.holder(FLEET, 19.0) == "n0"


@pytest.mark.parametrize(("epoch", "goes_on"), [(MOST_EPOCH, 1), (MOST_EPOCH // 2, MOST_EPOCH // 2 + 1)])
def test_an_epoch_that_was_made_up_does_not_lead_out_of_bounds(tmp_path: Path, epoch: int, goes_on: int) -> None:
    """One false word on the broker would cost the site the role for good: no epoch above it could be told or commanded with."""

    def tell(site: Site) -> None:
        now = site.loop.wall()
        view = RoleView(node="n2", life="9", at=now, role=FLEET, epoch=epoch, until=now + 3.0)
        for rival in site.rivals.values():
            rival.views.hear(Message(topic=topics.role_view("c0", FLEET), payload=topics.encode(view)))

    site = play(tmp_path, direct(lambda site: site.loop.at(10.0, tell, site)), 40.0)
    assert site.holder(FLEET, 39.0) in NAMES
    held = [tenure.epoch for rival in site.rivals.values() for tenure in rival.seats.tenures if tenure.role == FLEET]
    assert held == [goes_on]


def test_of_two_daemons_of_one_name_one_has_the_role_and_both_know(tmp_path: Path) -> None:
    """They would take it from each other with every question otherwise."""

    def double(site: Site) -> None:
        first = site.rivals["n0"]
        site.loop.spawn("n0 again", lambda: site.live("n0"), host="n0")
        site.rivals["first"] = first

    site = play(tmp_path, direct(lambda site: site.loop.at(10.0, double, site)), 30.0)
    troubles = [one.text for one in site.rivals["first"].health.troubles() if one.name == "role cdu/0"]
    assert len(troubles) == 1
    assert "another daemon that calls itself n0 has taken it" in troubles[0]
    assert site.rivals["n0"].seats.epoch(CDU) == 2
