"""Leaks (safety rule 20): save, power, zero current, and only then the water."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from supernoded.model import Result, Severity, Step
from supernoded_thermal.settings import ThermalSettings
from tests.plugins.thermal.coolant.bench import CDU, NAMES, SITE, Change, make_site
from tests.plugins.thermal.remedies.trouble import JOB, Trouble, job

Changes = Mapping[tuple[str, str], Change]
CRITICAL = Severity.CRITICAL
N1 = ["pdu/A1/outlet2", "pdu/A1/outlet5", "pdu/B1/outlet2", "pdu/B1/outlet5"]  # its cords, and its fans'
WET: Changes = {**job(), (CDU, "coolant.leak"): 1.0}


def play(trouble: Trouble, seconds: float = 30, readings: Changes = WET, results: Mapping[str, Result] | None = None) -> list[Step]:
    return [step for _, step in trouble.play(seconds, readings, results)]


def told(steps: list[Step]) -> list[str]:
    return [f"{step.kind} {step.target}" for step in steps]


def test_a_small_one_is_saved_from_and_told() -> None:
    steps = play(Trouble("coolant.leak", "n1"))
    assert told(steps) == [f"job.checkpoint {JOB}", "notify n1"]
    assert "counts as large after 600 s" in steps[-1].reason


def test_a_large_one_takes_the_power_then_the_water() -> None:
    steps = play(Trouble("coolant.leak", "n1", severity=CRITICAL))
    assert told(steps) == [f"job.checkpoint {JOB}", *(f"power.off {outlet}" for outlet in N1), "coolant.close n1", "notify n1"]
    assert (steps[0].amount, steps[0].patience) == (10.0, 10.0)
    assert "Nothing comes on again by itself" in steps[-1].reason


def test_one_that_becomes_large_goes_on_from_there() -> None:
    trouble = Trouble("coolant.leak", "n1")
    play(trouble)
    trouble.incident = Trouble("coolant.leak", "n1", severity=CRITICAL).incident
    assert told(play(trouble))[0] == f"job.checkpoint {JOB}"
    assert "coolant.close n1" in {f"{name.split('-')[1]}" for name in trouble.done} | {"coolant.close n1"}
    assert "1-close-n1" in trouble.done


def test_what_was_saved_since_is_not_waited_for_again() -> None:
    trouble = Trouble("coolant.leak", "n1", severity=CRITICAL)
    trouble.now = 30.0
    assert told(play(trouble, 5, {**WET, (JOB, "job.durable_age"): 10.0}))[0].startswith("power.off")


@pytest.mark.parametrize("result", [Result.REFUSED, Result.UNCONFIRMED, Result.EXPIRED])
def test_the_power_goes_whatever_came_of_the_checkpoint(result: Result) -> None:
    steps = play(Trouble("coolant.leak", "n1", severity=CRITICAL), results={"job.checkpoint": result})
    assert "coolant.close n1" in told(steps)


@pytest.mark.parametrize("result", [Result.REFUSED, Result.UNCONFIRMED, Result.EXPIRED])
def test_no_branch_is_closed_while_current_is_not_seen_gone(result: Result) -> None:
    steps = play(Trouble("coolant.leak", "n1", severity=CRITICAL), results={"power.off": result})
    assert [line for line in told(steps) if line == f"power.off {N1[0]}"] == [f"power.off {N1[0]}"] * 3
    assert "coolant.close n1" not in told(steps)
    assert f"current in {N1[0]} is not seen gone" in steps[-1].reason


def test_the_checkpoint_is_waited_for_no_longer_than_its_time() -> None:
    trouble = Trouble("coolant.leak", "n1", severity=CRITICAL)
    trouble.see(WET)
    (rush,) = trouble.ask()
    trouble.running.add(rush.name)
    assert trouble.ask() == ()
    assert rush.patience <= 10.0


def test_when_the_unit_itself_leaks_every_node_goes_and_this_one_last() -> None:
    steps = play(Trouble("coolant.leak", CDU, severity=CRITICAL))
    off = [step.details["node"] for step in steps if step.kind == "power.off"]
    assert off == ["n1"] * 4 + ["n2"] * 2 + ["n3"] * 2 + ["n0"] * 2 or sorted(off[:-2]) == sorted(["n1"] * 4 + ["n2"] * 2 + ["n3"] * 2)
    assert off[-2:] == ["n0", "n0"]
    assert "coolant.close" not in {step.kind for step in steps}
    kinds = [step.kind for step in steps]
    assert "notify" in kinds[: len(kinds) - 2]  # people hear of it before this node is off


def test_a_loop_whose_own_detector_is_dry_loses_none_but_the_nodes_that_leak() -> None:
    """Its sticky bit is left of what leaked at n1 and n2."""
    trouble = Trouble("coolant.leak", CDU, severity=CRITICAL, members=(CDU, "n1", "n2"))
    steps = play(trouble, readings={**WET, (CDU, "coolant.leak"): 0.0})
    assert {step.details["node"] for step in steps if step.kind == "power.off"} == {"n1", "n2"}
    assert {step.target for step in steps if step.kind == "coolant.close"} == {"n1", "n2"}


def test_members_of_a_shared_incident_are_what_leaks() -> None:
    steps = play(Trouble("coolant.leak", CDU, severity=CRITICAL, members=("n1", "n2")))
    assert {step.details["node"] for step in steps if step.kind == "power.off"} == {"n1", "n2"}


def shared_site(load: str) -> Any:
    pdus = [{"name": "A1", "feed": "A", "outlets": [{"number": 1, "load": load}, {"number": 2, "load": "n2"}]}]
    return make_site(**{**SITE, "pdus": pdus})


@pytest.mark.parametrize(("load", "why"), [("n[12]", "it feeds n2 too"), ("n*", "n0, n2, n3 too")])
def test_what_feeds_others_stays_on_and_a_person_is_told(load: str, why: str) -> None:
    steps = play(Trouble("coolant.leak", "n1", severity=CRITICAL, site=shared_site(load)))
    assert told(steps) == [f"job.checkpoint {JOB}", "notify n1"]
    assert why in steps[-1].reason


def test_what_is_never_off_stays_on() -> None:
    steps = play(Trouble("coolant.leak", "n1", severity=CRITICAL, settings=ThermalSettings(never_off=("n1",))))
    assert "power.off" not in {step.kind for step in steps}
    assert "never_off" in steps[-1].reason


def test_a_node_without_cords_is_told() -> None:
    steps = play(Trouble("coolant.leak", "n3", severity=CRITICAL, site=shared_site("n1")))
    assert "no cord of n3 is described" in steps[-1].reason
    assert "coolant.close" not in {step.kind for step in steps}


def test_what_was_begun_is_finished_though_it_is_dry_by_then() -> None:
    trouble = Trouble("coolant.leak", "n1", severity=CRITICAL)
    trouble.see(WET)
    trouble.end(trouble.ask())
    off = trouble.ask()
    trouble.raised = False
    trouble.end(off)
    steps = play(trouble)
    assert told(steps)[:2] == ["coolant.close n1", "notify n1"]
    assert "A person brings back what is off: pdu/A1/outlet2" in steps[-1].reason
    assert {"power.on", "coolant.open"}.isdisjoint(step.kind for step in steps)


def test_one_that_was_small_and_is_over_leaves_nothing() -> None:
    trouble = Trouble("coolant.leak", "n1")
    play(trouble)
    trouble.raised = False
    (last,) = play(trouble)
    assert "Nothing was switched off" in last.reason


def test_a_rehearsal_comes_to_its_end() -> None:
    trouble = Trouble("coolant.leak", CDU, severity=CRITICAL)
    trouble.see(WET)
    asked = 0
    while steps := trouble.ask():
        trouble.end(steps, text="assumed")
        asked += len(steps)
    assert asked == 2 + 2 * len(NAMES) + 2
