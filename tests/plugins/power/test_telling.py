"""Troubles that people are told of, and those for which work is saved first."""

from __future__ import annotations

from typing import Any

import pytest

from supernoded.model import Result, Severity
from supernoded_power.remedies import ADVICE
from supernoded_power.settings import PowerSettings
from tests.plugins.power.site import JOB, Trouble, find_remedy, job, kinds

TIMES: dict[str, Any] = {"step_time": 10.0, "save_time": 30.0, "durable_age": 500.0}
SAVING = ["power.feed_lost", "power.conflict", "power.silent", "power.no_ride_through", "psu.lost"]


def begin(kind: str, subject: str = "feed/A", severity: Severity = Severity.CRITICAL, settings: PowerSettings | None = None) -> Trouble:
    trouble = Trouble(find_remedy(kind, settings), subject=subject, severity=severity)
    trouble.see(job(**TIMES))
    return trouble


@pytest.mark.parametrize("kind", SAVING)
def test_work_is_saved_then_people_are_told_and_nothing_is_shed_or_stopped(kind: str) -> None:
    trouble = begin(kind)
    save, tell = trouble.play()
    assert kinds(save) == [("job.checkpoint", JOB)]
    assert save[0].amount == 140.0  # twice what a step and a save take
    assert kinds(tell) == [("notify", "feed/A")]
    assert tell[0].reason == f"what was seen; jobs saved: 1 of 1 seen. {ADVICE[kind]}"


@pytest.mark.parametrize("kind", sorted(set(ADVICE) - {*SAVING, "checkpoint.old"}))
def test_the_others_are_told_alone(kind: str) -> None:
    assert [kinds(steps) for steps in begin(kind).play()] == [[("notify", "feed/A")]]


def test_silence_on_mains_is_told_alone() -> None:
    assert [kinds(steps) for steps in begin("power.silent", severity=Severity.WARNING).play()] == [[("notify", "feed/A")]]


def test_only_the_job_that_is_old_is_saved() -> None:
    assert kinds(begin("checkpoint.old", JOB).ask()) == [("job.checkpoint", JOB)]
    assert kinds(begin("checkpoint.old", "job/other").ask()) == [("notify", "job/other")]


def test_what_is_over_needs_no_word() -> None:
    trouble = begin("power.feed_lost")
    trouble.raised = False
    assert trouble.ask() == ()


def test_without_a_battery_that_rides_work_is_saved_oftener() -> None:
    trouble = begin("power.no_ride_through", "ups/A", settings=PowerSettings(oftener_s=300.0))
    assert len(list(trouble.play())) == 2
    saves = []
    for second in range(1, 1000):
        trouble.see(job(float(second), **TIMES))
        steps = trouble.ask()
        trouble.end(steps, Result.UNCONFIRMED)
        saves += [second for step in steps if step.kind == "job.checkpoint"]
    assert saves == [300, 600, 900]


def test_that_goes_on_for_as_long_as_it_lasts_and_costs_less_after_a_day() -> None:
    trouble = begin("power.no_ride_through", "ups/A")
    saves = []
    for at in range(0, 3 * 86_400, 300):
        trouble.see(job(float(at), **{**TIMES, "durable_age": 9999.0}))
        steps = trouble.ask()
        trouble.end(steps)
        saves += [at for step in steps if step.kind == "job.checkpoint"]
    days = [sum(day * 86_400 <= at < (day + 1) * 86_400 for at in saves) for day in range(3)]
    assert days == [96, 24, 24]  # 900 s apart, then an hour


def test_a_job_that_saves_so_often_by_itself_is_not_asked() -> None:
    trouble = begin("power.no_ride_through", "ups/A")
    assert len(list(trouble.play())) == 2
    for at in range(300, 7200, 300):
        trouble.see(job(float(at), step_time=10.0, save_time=30.0, durable_age=float(at % 600)))
        assert trouble.ask() == ()
