"""The newest durable checkpoint is too old (safety rule 14)."""

from __future__ import annotations

import pytest

from supernoded.model import Level
from tests.plugins.power.site import JOB, Bench, find_rule, job, level

RAISED, CLEAR, UNSURE = Level.RAISED, Level.CLEAR, Level.UNSURE


@pytest.mark.parametrize(
    ("state", "age", "expected"),
    [
        ("running", 100.0, CLEAR),
        ("running", 3601.0, RAISED),
        ("saving", 3601.0, RAISED),
        ("silent", 3601.0, RAISED),
        ("stopped", 9e6, CLEAR),
        ("absent", None, CLEAR),
        ("running", None, CLEAR),
    ],
)
def test_how_old(state: str, age: float | None, expected: Level) -> None:
    assert level(Bench(find_rule("checkpoint.old")), JOB, job(state=state, durable_age=age)) is expected


def test_one_that_never_saved_is_told_when_it_has_run_for_as_long() -> None:
    bench = Bench(find_rule("checkpoint.old"))
    assert level(bench, JOB, job()) is CLEAR
    assert level(bench, JOB, job(3600.0)) is CLEAR
    assert level(bench, JOB, job(3601.0)) is RAISED


def test_the_best_word_of_several_nodes_counts_and_ranks_are_no_jobs() -> None:
    bench = Bench(find_rule("checkpoint.old"))
    readings = [*job(durable_age=9000.0, source="n0"), *job(durable_age=5.0, source="n1")]
    assert level(bench, JOB, readings) is CLEAR
    assert set(bench.ask(1.0)) == {JOB}
