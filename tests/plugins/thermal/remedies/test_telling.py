"""What people are told, and the little that is done before."""

from __future__ import annotations

import pytest

from supernoded.model import Result
from supernoded_thermal.coolant import KINDS
from supernoded_thermal.remedies import make_remedies
from supernoded_thermal.settings import ThermalSettings
from tests.plugins.thermal.coolant.bench import CDU, Change, make_node
from tests.plugins.thermal.remedies.trouble import JOB, Trouble, dies, job, orders

NODE_KINDS = ("heat", "heat.uneven", "card.throttled", "fan.failed", "fan.control", "air.hot")
QUIET = [
    kind
    for kind in (*KINDS, *NODE_KINDS)
    if kind
    not in {
        "heat",
        "coolant.flow",
        "coolant.pump",
        "coolant.primary",
        "coolant.capacity",
        "coolant.leak",
        "coolant.level",
        "air.hot",
        "fan.failed",
    }
]
DRY: dict[tuple[str, str], Change] = {(CDU, "air.dew_point"): 12.0}


def test_each_kind_has_one_remedy() -> None:
    answered = [remedy.answers for remedy in make_remedies(ThermalSettings(), make_node())]
    assert len(set(answered)) == len(answered)
    assert set(answered) == {*KINDS, *NODE_KINDS}


@pytest.mark.parametrize("kind", QUIET)
def test_most_are_told_once_and_that_is_all(kind: str) -> None:
    subject = CDU if kind.startswith("coolant.") else "n1"
    trouble = Trouble(kind, subject)
    steps = [step for _, step in trouble.play(60, {**dies(55.0), **job(), **DRY})]
    assert [(step.kind, step.target) for step in steps] == [("notify", subject)]
    assert steps[0].reason.startswith(f"{kind} at 22.4")
    trouble.raised = False
    assert trouble.ask() == ()


@pytest.mark.parametrize(
    ("kind", "subject", "expected"),
    [
        ("coolant.level", CDU, ["job.checkpoint"]),
        ("fan.failed", "n1/fan2", ["fan.full"]),
        ("air.hot", "n1/card0/port0", ["fan.full", "cap 350"]),
    ],
)
def test_some_are_helped_first(kind: str, subject: str, expected: list[str]) -> None:
    trouble = Trouble(kind, subject)
    steps = list(trouble.play(100, {**dies(55.0), **job()}))
    assert orders(steps) == expected
    assert {step.target for _, step in steps if step.kind in {"fan.full", "power.cap"}} <= {"n1"}
    assert steps[-1][1].kind == "notify"


def test_fans_are_given_back() -> None:
    trouble = Trouble("fan.failed", "n1/fan2")
    list(trouble.play(10, dies(55.0)))
    trouble.raised = False
    steps = [step for _, step in trouble.play(5, dies(55.0))]
    assert [(step.kind, step.target) for step in steps] == [("fan.auto", "n1"), ("notify", "n1/fan2")]


def test_humidity_that_is_lost_for_too_long_is_answered_by_a_cap() -> None:
    """Ten minutes by the last floor till it is told, ten by the commissioned one, then a cap (safety rule 18)."""
    blind: dict[tuple[str, str], Change] = {**dies(55.0), (CDU, "air.dew_point"): None}
    trouble = Trouble("coolant.dew")
    assert orders(trouble.play(595, blind)) == []
    assert orders(trouble.play(20, blind)) == ["cap 350"]
    trouble.raised = False
    assert orders(trouble.play(5, {**dies(55.0), **DRY})) == ["lift"]


def test_a_hall_that_never_had_a_sensor_is_capped_as_well() -> None:
    assert orders(Trouble("coolant.dew").play(650, dies(55.0), every=50.0)) == ["cap 350"]


@pytest.mark.parametrize(("readings", "settings"), [(DRY, ThermalSettings()), ({}, ThermalSettings(no_dew_sensor=True))])
def test_a_cold_supply_or_a_hall_without_a_sensor_on_purpose_is_told_and_not_capped(
    readings: dict[tuple[str, str], Change], settings: ThermalSettings
) -> None:
    trouble = Trouble("coolant.dew", settings=settings)
    assert orders(trouble.play(1300, {**dies(55.0), **readings}, every=50.0)) == []


def test_a_checkpoint_that_came_to_nothing_is_told() -> None:
    steps = [step for _, step in Trouble("coolant.level").play(10, {**job(), **dies(55.0)}, {"job.checkpoint": Result.UNCONFIRMED})]
    assert [step.target for step in steps] == [JOB, CDU]
    assert "Jobs saved: 0 of 1 seen" in steps[-1].reason


def test_humidity_that_is_lost_in_a_dew_trouble_of_another_reason_has_its_time() -> None:
    """The supply was below the floor for an hour; then the sensor is lost: the last floor has its ten minutes first."""
    trouble = Trouble("coolant.dew")
    assert orders(trouble.play(3600, {**dies(55.0), **DRY}, every=100.0)) == []
    blind: dict[tuple[str, str], Change] = {**dies(55.0), (CDU, "air.dew_point"): None}
    assert orders(trouble.play(480, blind, every=20.0)) == []
    assert orders(trouble.play(200, blind, every=20.0)) == ["cap 350"]


def test_a_life_that_has_just_begun_has_lost_no_humidity() -> None:
    trouble = Trouble("coolant.dew")
    trouble.now = 5000.0
    assert orders(trouble.play(4, {(CDU, "coolant.flow"): 30.0}, every=1.0)) == []
