"""On a large site the well ones are spoken of in turns, the others always: nobody's level is another for that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import supernoded_fleet
from supernoded.history import History
from supernoded.model import Level, Reading, State, Value, Verdict
from supernoded.quantities import VOCABULARY
from supernoded_fleet import turns
from supernoded_fleet.settings import FleetSettings
from supernoded_fleet.turns import Turn, choose, pass_turn
from tests.plugins.fleet.site import NODES, make_node

NAMES = tuple(f"n{number}" for number in range(3 * turns.MOST + 10))
AGES = st.sampled_from([0.0, 0.3, 2.25, 2.5, 6.0, None])
TOLD: dict[str, st.SearchStrategy[Value]] = {
    "node.beat_age": AGES,
    "node.life": st.sampled_from(["a", "b", ""]),
    "node.rival": st.sampled_from(["", "", "b"]),
    "node.clock_offset": st.sampled_from([0.0, 0.1, 1.7, 2.5, 9.0, None]),
    "node.reachable": st.sampled_from([0.0, 1.0, None]),
}
Course = list[list[tuple[str, str, Value]]]
READ = st.sampled_from(sorted(TOLD)).flatmap(lambda name: st.tuples(st.just(name), st.sampled_from(NODES), TOLD[name]))


def verdict(subject: str, level: Level) -> Verdict:
    return Verdict(kind="k", subject=subject, level=level, text="t", at=1.0)


def speak(turn: Turn, odd: set[str], unknown: set[str]) -> tuple[list[str], Turn]:
    """One question: who is odd is raised."""
    names = choose(NAMES, odd, unknown, turn)
    said = [verdict(name, Level.RAISED if name in odd else Level.UNSURE if name in unknown else Level.CLEAR) for name in names]
    return names, pass_turn(NAMES, said, turn)


def test_everybody_is_spoken_of_within_a_round_and_who_is_in_trouble_each_time() -> None:
    turn, odd, said = Turn(), {NAMES[5], NAMES[-1]}, list[str]()
    for _ in range(-(-len(NAMES) // turns.MOST)):
        now, turn = speak(turn, odd, set())
        assert odd <= set(now)
        assert len(now) <= turns.MOST + len(odd)
        said += now
    assert set(said) == set(NAMES)


def test_of_whom_nothing_is_known_is_spoken_once_and_again_when_that_is_over() -> None:
    now, turn = speak(Turn(), set(), set(NAMES))
    assert now == list(NAMES)
    now, turn = speak(turn, set(), set(NAMES))
    assert len(now) == turns.MOST
    now, turn = speak(turn, {NAMES[-1]}, set())
    assert now == list(NAMES)
    now, turn = speak(turn, {NAMES[-1]}, set())
    assert len(now) <= turns.MOST + 1


def test_who_is_well_again_is_spoken_of_at_once_and_then_in_turns() -> None:
    turn = pass_turn(NAMES, [verdict(NAMES[-1], Level.RAISED), verdict(NAMES[-2], Level.UNSURE)], Turn())
    now, turn = speak(turn, set(), set())
    assert now[-2:] == list(NAMES[-2:])
    assert NAMES[-1] not in choose(NAMES, set(), set(), Turn())


def test_of_a_small_site_everybody_is_spoken_of() -> None:
    assert choose(NODES, set(), set(NODES), Turn(unsure=frozenset(NODES), place=3)) == list(NODES)
    assert choose((), set(), set(), Turn(place=3)) == []


@pytest.fixture
def in_turns() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(READ, max_size=6), max_size=12))
def test_the_levels_are_those_of_a_rule_that_speaks_of_all(in_turns: pytest.MonkeyPatch, course: Course) -> None:
    levels = []
    for most in (turns.MOST, 1):
        in_turns.setattr(turns, "MOST", most)
        levels.append(list(judge_all(course)))
    in_turns.undo()
    for whole, some in zip(*levels, strict=True):
        assert {key: level for key, level in whole.items() if key in some or level is not Level.CLEAR} == some


def judge_all(course: Course) -> Iterator[dict[tuple[str, str], Level]]:
    """After each look, what each rule has last said of each node."""
    rules = supernoded_fleet.supernoded_rules(FleetSettings(), make_node(Path("/nowhere")))
    history, memories = History({}), {rule.kind: rule.start() for rule in rules}
    last: dict[tuple[str, str], Level] = {}
    for number, looks in enumerate(course):
        now = 100.0 + number
        history.add([make(name, subject, value, now) for name, subject, value in looks], 60.0)
        for rule in rules:
            memories[rule.kind], said = rule.judge(history.view(now, rule.watches), memories[rule.kind])
            last |= {(one.kind, one.subject): one.level for one in said}
        yield dict(last)


def make(name: str, subject: str, value: Value, at: float) -> Reading:
    state = State.UNKNOWN if value is None else State.GOOD
    return Reading(subject=subject, quantity=name, value=value, unit=VOCABULARY[name].unit, at=at, state=state, source="s")
