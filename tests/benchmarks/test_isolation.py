from __future__ import annotations

import pytest

from benchmarks.isolation import FIRST_STEP, STAGES, read_course
from supernoded.chaos.drive import Happened, Told

BEGIN = 600.0


def tell(at: float, kind: str, *, raised: bool = True) -> Told:
    return Told(at, "n0", kind, "n1/card4", raised, "")


def happen(at: float, kind: str) -> Happened:
    return Happened(at, kind, "job/train", "")


STEPS = [(590.0 + 2.0 * number, 295.0 + number) for number in range(5)]


def test_every_stage_of_a_whole_course() -> None:
    told = [tell(600.0 + 2.0 * number, kind) for number, (_, kind) in enumerate(STAGES, 1)]
    happened = [happen(611.0, "job.restoring"), happen(618.0, "job.resumed")]
    course = read_course(BEGIN, told, happened, [*STEPS, (611.0, 300.0), (620.0, 301.0)])
    assert course.ends == {name: 2.0 * number for number, (name, _) in enumerate(STAGES, 1)} | {FIRST_STEP: 20.0}
    assert (course.restoring, course.step, course.budget) == (7.0, 2.0, 60.0)


def test_what_came_before_or_cleared_ends_no_stage() -> None:
    early, late = [tell(599.0, kind) for _, kind in STAGES], [tell(601.0, kind, raised=False) for _, kind in STAGES]
    course = read_course(BEGIN, early + late, [happen(500.0, "job.resumed")], STEPS)
    assert course.ends == {}
    assert course.restoring == 0.0


def test_slow_steps_are_given_their_time() -> None:
    steps = [(100.0 * number, float(number)) for number in range(6)]
    assert read_course(BEGIN, [], [], steps).budget == pytest.approx(345.0)
