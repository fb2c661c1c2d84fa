"""Late, gone, daemon gone, rivals, clocks, split, breakers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import supernoded_fleet
from supernoded.model import Level, Reading, State, Value
from supernoded.quantities import VOCABULARY
from supernoded.testing import judge
from supernoded_fleet.settings import FleetSettings
from tests.plugins.fleet.site import NODES, beats, find_rule, make_node, read, say

RAISED, CLEAR, UNSURE = Level.RAISED, Level.CLEAR, Level.UNSURE
ANSWERS, SILENT = [read("n4", "node.reachable", 1.0, 99.0)], [read("n4", "node.reachable", 0.0, 99.0)]
OFF, ON = [read("n4", "node.powered", 0.0, 99.0)], [read("n4", "node.powered", 1.0, 99.0)]
OLD = [read("n4", "node.reachable", 1.0, 80.0)]  # before its last beat


@pytest.mark.parametrize(
    ("age", "views", "late", "gone", "daemon"),
    [
        (0.3, SILENT, CLEAR, CLEAR, CLEAR),
        (2.25, SILENT, CLEAR, CLEAR, CLEAR),
        (2.5, SILENT, RAISED, UNSURE, UNSURE),
        (6.0, [], RAISED, UNSURE, UNSURE),
        (6.0, OLD, RAISED, UNSURE, UNSURE),
        (6.0, SILENT, CLEAR, RAISED, CLEAR),
        (6.0, OFF, CLEAR, RAISED, CLEAR),
        (6.0, [*SILENT, *OFF], CLEAR, RAISED, CLEAR),
        (6.0, [*SILENT, *ON], RAISED, UNSURE, UNSURE),
        (6.0, ANSWERS, CLEAR, UNSURE, RAISED),
        (6.0, [*ANSWERS, *OFF], CLEAR, UNSURE, RAISED),
    ],
)
def test_silence_is_judged_with_a_second_view(
    tmp_path: Path, age: float, views: list[Reading], late: Level, gone: Level, daemon: Level
) -> None:
    readings = [*views, *beats(100.0, age=age)]
    for kind, level in (("node.late", late), ("node.gone", gone), ("daemon.gone", daemon)):
        said = judge(find_rule(tmp_path, kind), readings)
        assert say(said)[-1] is level, kind
        assert set(say(said, "n1")) <= {CLEAR, UNSURE}


def test_a_sentence_has_number_limit_and_what_to_do(tmp_path: Path) -> None:
    seen = (("node.late", 3.0), ("node.late", 6.0), ("node.gone", 6.0))
    texts = [judge(find_rule(tmp_path, kind), [*SILENT, *beats(100.0, age=age)])[-1].text for kind, age in seen]
    assert texts == [
        "n4: no beat for 3.0 s, the limit is 2.25 s; the machine answers no probe",
        "n4: it is told as node.gone",
        "n4: no beat for 6.0 s, and the machine answers no probe: the node is gone; look at its power, its console and its network",
    ]


@pytest.mark.parametrize("kind", ["node.late", "node.gone", "daemon.gone"])
def test_while_our_own_link_is_in_doubt_nobody_is_judged(tmp_path: Path, kind: str) -> None:
    readings = [*SILENT, *(read(name, "node.beat_age", None, 100.0, "our own link is in doubt") for name in NODES)]
    said = judge(find_rule(tmp_path, kind), readings)
    assert {verdict.level for verdict in said if verdict.at == 100.0} == {UNSURE}
    assert said[-1].text == "n4: our own link is in doubt"


def test_on_the_lesser_side_nobody_is_gone(tmp_path: Path) -> None:
    said = judge(find_rule(tmp_path, "node.gone"), [*SILENT, *beats(100.0, age=60.0, heard=2.0)])
    assert say(said)[-1] is UNSURE
    assert "2 of 5 nodes are heard, so it may be this side that is cut off" in said[-1].text


def test_who_was_not_heard_yet_has_his_time(tmp_path: Path) -> None:
    rule = find_rule(tmp_path, "node.late", FleetSettings(settle_s=30.0))
    for age, level in ((20.0, UNSURE), (31.0, RAISED)):
        readings = [read("n4", "node.life", "", 100.0), read("n4", "node.beat_age", age, 100.0)]
        assert say(judge(rule, readings)) == [level]


def test_a_daemon_has_time_to_start_after_its_machine(tmp_path: Path) -> None:
    rule = find_rule(tmp_path, "daemon.gone", FleetSettings(start_s=60.0))
    booted = [read("n4", "node.reachable", 0.0, 90.0), read("n4", "node.reachable", 1.0, 149.0)]
    assert say(judge(rule, [*booted, *beats(149.0, age=80.0)]))[-1] is UNSURE
    later = read("n4", "node.reachable", 1.0, 151.0)
    assert say(judge(rule, [*booted, later, *beats(151.0, age=82.0)]))[-1] is RAISED
    late = find_rule(tmp_path, "node.late", FleetSettings(start_s=60.0))
    assert say(judge(late, [*booted, *beats(149.0, age=80.0)]))[-1] is UNSURE
    assert say(judge(late, [*booted, later, *beats(151.0, age=82.0)]))[-1] is CLEAR


def test_under_maintenance_nobody_is_judged(tmp_path: Path) -> None:
    said = judge(find_rule(tmp_path, "node.late", maintenance=("n4",)), beats(100.0, age=60.0))
    assert (say(said), say(said, "n1")) == ([UNSURE], [CLEAR])


def test_two_of_one_name(tmp_path: Path) -> None:
    rule = find_rule(tmp_path, "node.rival")
    readings = [read("n1", "node.life", "a", 1.0), read("n1", "node.rival", "b", 1.0), read("n2", "node.rival", "", 1.0)]
    said = judge(rule, readings)
    assert [(one.subject, one.level) for one in said] == [("n1", RAISED), ("n2", CLEAR)]
    assert "lives a and b, the limit is one" in said[0].text


def clocks(*offsets: float | None, at: float = 1.0) -> list[Reading]:
    return [read(f"n{number}", "node.clock_offset", offset, at) for number, offset in enumerate(offsets)]


@pytest.mark.parametrize(
    ("offsets", "wrong"),
    [
        ((0.0, 0.1, -0.1, 1.9, 0.0), []),
        ((0.0, 0.1, -0.1, 2.5, 0.0), ["n3"]),
        ((0.0, 0.1, -3600.0, 2.5, 0.0), ["n2", "n3"]),
        ((0.0, 9.0, 9.1, 9.0, 9.2), ["n0"]),  # ours is wrong
        ((0.0, 3.0), ["n1"]),
        ((0.0, None, 0.0, None, 7.0), ["n4"]),
    ],
)
def test_a_clock_is_held_against_the_sites(tmp_path: Path, offsets: tuple[float | None, ...], wrong: list[str]) -> None:
    said = judge(find_rule(tmp_path, "node.clock"), clocks(*offsets))
    assert [one.subject for one in said if one.level is RAISED] == wrong
    assert all("the limit is 2 s" in one.text for one in said if one.level is not UNSURE)


def test_a_clock_at_the_limit_does_not_flap(tmp_path: Path) -> None:
    readings = [one for at, off in enumerate((2.1, 1.9, 1.7, 1.5, 1.7, 1.9)) for one in clocks(0.0, 0.0, off, at=float(at))]
    said = judge(find_rule(tmp_path, "node.clock"), readings)
    assert say(said, "n2") == [RAISED, RAISED, RAISED, CLEAR, CLEAR, CLEAR]


def test_a_site_is_split_when_half_of_it_is_not_heard_for_a_while(tmp_path: Path) -> None:
    heard = [(0.0, 5.0), (10.0, 2.0), (14.0, 2.0), (16.0, 2.0), (17.0, None), (18.0, 3.0)]
    said = judge(find_rule(tmp_path, "fleet.split"), [read("fleet", "fleet.heard", count, at) for at, count in heard])
    assert say(said, "fleet") == [CLEAR, UNSURE, UNSURE, RAISED, UNSURE, CLEAR]
    assert "n0 hears 2 of 5 nodes, where more than half are needed" in said[3].text


def test_a_tripped_breaker_is_told(tmp_path: Path) -> None:
    tripped = [read("fleet", "fleet.breakers", frozenset(names), at) for at, names in ((0.0, ()), (1.0, ("per_hour",)))]
    said = judge(find_rule(tmp_path, "breaker.tripped"), tripped)
    assert [one.level for one in said] == [CLEAR, RAISED]
    assert said[1].text.startswith("breakers tripped: per_hour; nothing is taken out of service until")


NAMES = ("node.beat_age", "node.life", "node.rival", "node.clock_offset", "node.reachable", "node.powered", "fleet.heard", "fleet.breakers")
VALUES = st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5) | st.frozensets(st.text(max_size=3), max_size=2)
READ = st.tuples(st.sampled_from(NAMES), st.sampled_from([*NODES, "fleet", "stranger"]), VALUES, st.floats(0.0, 200.0))


@given(st.lists(READ, max_size=40))
def test_whatever_is_read_every_rule_answers_with_a_sentence(told: list[tuple[str, str, Value, float]]) -> None:
    """A plugin may read what it likes: what the vocabulary rules out is UNKNOWN by then, the rest is anything."""
    readings = [
        Reading(
            subject=subject,
            quantity=name,
            value=value,
            unit=VOCABULARY[name].unit,
            at=at,
            state=State.UNKNOWN if value is None else State.GOOD,
        )
        for name, subject, value, at in told
    ]
    for rule in supernoded_fleet.supernoded_rules(FleetSettings(), make_node(Path("/nowhere"))):
        assert all(verdict.text and verdict.kind == rule.kind for verdict in judge(rule, readings))
