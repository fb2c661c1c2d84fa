"""YAML as taken here: places, plain words, and what is refused."""

from __future__ import annotations

from typing import Annotated

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.chaos.condition import Condition
from supernoded.chaos.document import Document
from supernoded.chaos.durations import parse_duration
from supernoded.chaos.grammar import Target
from supernoded.chaos.reading import parse_scenario
from supernoded.tables import about
from tests.unit.chaos.writing import BASE


class Oven(msgspec.Struct, frozen=True):
    heat: float
    door: str = "shut"
    bake: float = 0.0


def test_words_are_those_of_yaml_1_2() -> None:
    document = Document("f", "on: off\nyes: 0x10\na: 1e-8\nb: '1'\nc: ~\nd: true\ne: 12:30\nf: .inf\ng: -3\nh: 2026-11-30\n")
    assert document.problems == []
    assert document.table == {
        "on": "off",
        "yes": "0x10",
        "a": 1e-8,
        "b": "1",
        "c": None,
        "d": True,
        "e": "12:30",
        "f": ".inf",
        "g": -3,
        "h": "2026-11-30",
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [1, 2", "f:1:9: this is not YAML"),
        ("a: &x [1]\nb: *x\n", "f:2:4: this is not YAML as taken here: aliases are not taken"),
        ("a: &x [*x]\n", "aliases are not taken"),
        ("a: 1\nb:\n  c: 1\n  c: 2\n", "f:4:3: b.c: this key stands here twice"),
        ("a: !!python/name:os.system x\n", 'f:1:1: a: "tag:yaml.org,2002:python/name:os.system": tags are not taken'),
        ("a: !mine 1\n", "tags are not taken"),
        ("? [1]\n: 2\n", "f:1:3: a key must be a word"),
        ("- 1\n", "a mapping is due here"),
        ("", "a mapping is due here"),
        ("a: 1\n---\nb: 2\n", "f:2:1: this is not YAML"),
        ("a: \x00\n", "cannot be read as YAML"),
        ("[" * 2000, "nested too deeply"),
    ],
)
def test_what_is_refused_says_where(text: str, says: str) -> None:
    document = Document("f", text)
    assert any(says in str(problem) for problem in document.problems), [str(problem) for problem in document.problems]


def test_all_that_is_wrong_comes_at_once_with_line_and_column() -> None:
    document = Document("f", "heat: warm\ndor: open\n  \nbake: 3\n")
    assert document.read(Oven, document.table) is None
    assert [str(problem) for problem in document.problems] == [
        'f:2:1: dor: "open": no such key; did you mean door?',
        'f:1:1: heat: "warm": must be a number; correct it',
    ]


def test_what_is_missing_is_named_as_yaml_writes_it() -> None:
    document = Document("f", "door: open\n")
    document.read(Oven, document.table)
    assert [str(problem) for problem in document.problems] == ["f:1:1: heat: is missing; add heat: a number"]


def test_a_text_stands_for_what_has_a_shorthand() -> None:
    document = Document("f", "a: n0\nb: [1]\n")
    assert document.read(Target, document.table["a"], ("a",)) == Target(subject="n0")
    assert document.read(Condition, "ring_closed", ("a",)) == Condition(known="ring_closed")
    assert document.read(Target, document.table["b"], ("b",)) is None
    assert str(document.problems[0]) == "f:2:1: b: [...]: a mapping is due here; write `key: value` lines below it, or {} for all defaults"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("250ms", 0.25), ("90s", 90.0), ("5m", 300.0), ("1h30m", 5400.0), ("1.5h", 5400.0), ("2 m", 120.0), ("1d", 86400.0)],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "90", "90x", "m", "-5s", "5 s s", "1e3s", "5sm"])
def test_what_is_no_duration(text: str) -> None:
    assert parse_duration(text) is None


class Timed(msgspec.Struct, frozen=True):
    long: Annotated[float, about("it lasts", unit="s", gt=0, le=60)]


@pytest.mark.parametrize(
    ("text", "says"), [("5 weeks", "is no duration; write seconds"), ("2m", "must be a number above 0"), ("0s", "above 0 s")]
)
def test_a_duration_must_be_one_and_within_its_bounds(text: str, says: str) -> None:
    document = Document("f", f"long: {text}\n")
    assert document.read(Timed, document.table) is None
    assert says in str(document.problems[0])


@given(st.text())
def test_no_text_breaks_the_reader(text: str) -> None:
    document, scenario = parse_scenario("f", text)
    assert scenario is None
    assert document.problems


@given(st.data())
def test_no_damaged_scenario_breaks_the_reader(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(BASE)))
    end = data.draw(st.integers(start, min(len(BASE), start + 40)))
    text = BASE[:start] + data.draw(st.text("-{}[]:,#&*!|>'\"%@`\n\t 0aZé", max_size=12)) + BASE[end:]
    document, scenario = parse_scenario("f", text)
    assert (scenario is None) == bool(document.problems)
    assert all("\n" not in str(problem) for problem in document.problems)
