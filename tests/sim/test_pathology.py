"""What sick sensors show."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.pathology import Absent, Drift, Freeze, Late, NotANumber, Pathology, SickSensor, Swap, UnitSlip
from sim_hardware.plant.words import Value

ALL: tuple[Pathology, ...] = (
    Freeze(),
    Freeze(7.0),
    NotANumber(),
    Absent(),
    Drift(3.6),
    UnitSlip(),
    UnitSlip("milli"),
    Late(5.0),
    Swap("n0"),
)
VALUES: st.SearchStrategy[Value] = st.one_of(
    st.none(), st.floats(), st.integers(-(10**9), 10**9), st.text(max_size=5), st.frozensets(st.sampled_from(["OL", "OB"]))
)


@pytest.mark.parametrize(
    ("pathology", "shown"),
    [
        (Freeze(), 20.0),
        (Freeze(0.0), 0.0),
        (Absent(), None),
        (Drift(3.6), 30.1),
        (Drift(-36.0), 29.0),
        (UnitSlip(), 86.0),
        (UnitSlip("milli"), 30000.0),
    ],
)
def test_what_a_number_becomes(pathology: Pathology, shown: Value) -> None:
    assert SickSensor(pathology, 1000.0, 20.0).show(1100.0, 30.0) == pytest.approx(shown)


def test_not_a_number_is_none() -> None:
    shown = SickSensor(NotANumber(), 0.0, 20.0).show(1.0, 30.0)
    assert isinstance(shown, float)
    assert math.isnan(shown)


@pytest.mark.parametrize("pathology", [Drift(3.6), UnitSlip(), UnitSlip("milli")])
@pytest.mark.parametrize("truth", ["OL", None, frozenset({"OL"})])
def test_what_is_no_number_neither_drifts_nor_slips(pathology: Pathology, truth: Value) -> None:
    assert SickSensor(pathology, 0.0, truth).show(100.0, truth) == truth


@given(st.sampled_from(ALL), VALUES, VALUES, st.floats(0.0, 1e6))
def test_any_sickness_of_any_sensor_shows_something(pathology: Pathology, first: Value, truth: Value, passed: float) -> None:
    sick = SickSensor(pathology, 10.0, first)
    sick.note(10.0 + passed, truth)
    shown = sick.show(10.0 + passed, truth)
    assert shown is None or isinstance(shown, float | int | str | frozenset)


@given(st.lists(st.floats(0.01, 3.0), min_size=1, max_size=40), st.floats(0.5, 20.0), st.floats(0.0, 30.0))
def test_a_late_sensor_shows_what_was(gaps: list[float], late: float, after: float) -> None:
    sick, at = SickSensor(Late(late), 0.0, 0.0), 0.0
    history = [(0.0, 0.0)]
    for number, gap in enumerate(gaps, start=1):
        at += gap
        history.append((at, float(number)))
        sick.note(at, float(number))
    now = at + after
    known = [value for when, value in history if when <= now - late]
    assert sick.show(now, -1.0) == (known[-1] if known else 0.0)


def test_a_late_sensor_that_nobody_reads_does_not_grow() -> None:
    sick = SickSensor(Late(5.0), 0.0, 0.0)
    for number in range(10_000):
        sick.note(number * 0.5, float(number))
    assert len(sick._past) <= 12
