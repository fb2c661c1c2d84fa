"""When a condition held, against looking at every moment one by one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.chaos.condition import Condition
from supernoded.chaos.drive import Happened, Told
from supernoded.chaos.execute import plan_run
from supernoded.chaos.moments import held_since, list_levels, list_moments, list_window
from supernoded.chaos.probes import Check, Probe, measure
from supernoded.chaos.record import Record
from supernoded.model import Value
from tests.unit.chaos.toy import Toy
from tests.unit.chaos.writing import parse

PLAN = plan_run(parse(), Toy(), 1)
LOOKS = st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=12)


def probe(**fields: Any) -> Probe:
    return Probe(condition=Condition(**fields), subjects=(), every=True)


def looked(*tracks: list[bool | None]) -> tuple[Record, Check]:
    """A record of looks at whole seconds, and the check of all of them together."""
    record, probes = Record(PLAN), tuple(probe(truth=f"q{number}") for number in range(len(tracks)))
    for one, track in zip(probes, tracks, strict=True):
        for second, held in enumerate(track):
            record.look(one, float(second), held, f"{held} at {second}")
        record.ended = float(len(track) - 1)
    return record, Check(probes=probes)


@given(LOOKS, st.integers(0, 11), st.integers(0, 4))
def test_moments_are_those_found_by_looking_second_by_second(track: list[bool | None], since: int, hold: int) -> None:
    record, check = looked(track)
    check = Check(probes=check.probes, hold=float(hold))
    until = len(track) - 1
    expected, run = [], 0
    for second in range(since, len(track)):
        run = run + 1 if track[second] else 0
        if run == hold + 1:
            expected.append(float(second))
    assert [at for at, _ in list_moments(check, record, since, until)] == expected


@given(LOOKS, LOOKS)
def test_together_false_beats_unseen_and_unseen_beats_true(one: list[bool | None], other: list[bool | None]) -> None:
    length = min(len(one), len(other))
    record, check = looked(one[:length], other[:length])
    levels = list_levels(check, record)
    for second in range(length):
        pair = {one[second], other[second]}
        expected = False if False in pair else None if None in pair else True
        assert [edge.held for edge in levels if edge.at <= second][-1] is expected
    last = held_since(check, record)
    assert (last is None) is (levels[-1].held is not True)


@given(LOOKS, st.integers(0, 5))
def test_a_window_begins_with_what_holds_then(track: list[bool | None], since: int) -> None:
    record, check = looked(track)
    window = list_window(check, record, float(since), 99.0)
    assert window[0].at == since
    assert window[0].held is track[min(since, len(track) - 1)]


def test_what_was_told_is_a_state_and_what_happened_stays() -> None:
    record = Record(PLAN, ended=9.0)
    record.told = [Told(1.0, "n0", "k", "s", True, ""), Told(2.0, "n1", "k", "s", True, ""), Told(3.0, "n0", "k", "s", False, "")]
    record.happened = [Happened(4.0, "h", "s", "")]
    told = Check(probes=(probe(told="k", not_=True),))
    assert [(edge.at, edge.held) for edge in list_levels(told, record)][1:] == [(1.0, False)]  # n1 still says so
    record.told = [*record.told, Told(5.0, "n1", "k", "s", False, "")]
    assert held_since(told, record) == 5.0
    assert held_since(Check(probes=(probe(told="k", raised=False),)), record) == 5.0
    assert held_since(Check(probes=(probe(happened="h"),)), record) == 4.0
    assert held_since(Check(probes=(probe(happened="h", not_=True),)), record) is None
    assert [at for at, _ in list_moments(Check(probes=(probe(told="k"),)), record, 0.0, 9.0)] == [1.0, 2.0]
    assert [at for at, _ in list_moments(Check(probes=(probe(told="k", raised=False),)), record, 0.0, 9.0)] == [3.0, 5.0]


def test_subjects_and_kinds_are_patterns() -> None:
    one = Probe(condition=Condition(told="link.*"), subjects=("n0/card?",), every=True)
    assert one.matches(Told(1.0, "n0", "link.ber", "n0/card1", True, ""))
    assert not one.matches(Told(1.0, "n0", "card.hot", "n0/card1", True, ""))
    assert not one.matches(Told(1.0, "n0", "link.ber", "n1/card1", True, ""))


@pytest.mark.parametrize(
    ("value", "test", "held"),
    [
        (3.0, {"above": 2}, True),
        (2.0, {"above": 2}, False),
        (2.0, {"below": 2}, False),
        (2.0, {"between": (2, 3)}, True),
        (3.1, {"between": (2, 3)}, False),
        (2.0, {"equals": 2.0}, True),
        (2.0, {"one_of": (1.0, 2.0)}, True),
        ("on", {"equals": "on"}, True),
        ("on", {"one_of": ("off", "on")}, True),
        (frozenset({"OB", "LB"}), {"has": "OB"}, True),
        (frozenset({"OB", "LB"}), {"equals": "LB OB"}, True),
        (frozenset({"OB"}), {"equals": "LB OB"}, False),
        (float("inf"), {"above": 2}, True),
        (float("nan"), {"above": 2}, None),
        (None, {"above": 2}, None),
    ],
)
def test_values_say_yes_no_or_nothing(value: Value, test: dict[str, Any], held: bool | None) -> None:
    assert measure(value, Condition(truth="q", **test)) is held


def told(at: float, kind: str, text: str) -> Told:
    return Told(at, "n0", kind, "n0/card3/port0", raised=True, text=text)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"told": "link.*"}, [1.0, 2.0]),
        ({"told": "link.*", "says": "9e-12"}, [2.0]),
        ({"told": "*"}, [1.0, 2.0]),  # any trouble; what is done about it is none
        ({"told": "action.notify"}, [3.0, 4.0]),
        ({"told": "action.*", "says": "reseat"}, [4.0]),
    ],
)
def test_what_was_told_is_chosen_by_kind_and_words(asked: dict[str, str], found: list[float]) -> None:
    record = Record(PLAN)
    record.told = [
        told(1.0, "link.ber", "a BER of 2e-12"),
        told(2.0, "link.ber", "a BER of 9e-12"),
        told(3.0, "action.notify", "look at it"),
        told(4.0, "action.notify", "reseat it"),
    ]
    check = Check(probes=(probe(**asked),))
    assert [at for at, _ in list_moments(check, record, 0.0, 9.0)] == found
