"""What is done about a node that is gone, and when it is given back."""

from __future__ import annotations

from pathlib import Path

import pytest

from supernoded.model import TAKE_OUTS, Hold, Incident, Mode, Result, Severity
from supernoded_fleet.settings import FleetSettings
from tests.plugins.fleet.site import Trouble, find_remedy, read

SETTINGS = FleetSettings(hold_after_s=30.0, probation_s=600.0, drain=True)
TELL, HOLD, DRAIN = ("notify", "n4"), ("card.hold", "n4"), ("node.drain", "n4")
RELEASE, UNHOLD = ("node.release", "n4"), ("card.unhold", "n4")


def begin(folder: Path, settings: FleetSettings = SETTINGS, **other: object) -> Trouble:
    trouble = Trouble(find_remedy(folder, "node.gone", settings), **other)  # type: ignore[arg-type] # fields of a test's own
    trouble.see(read("n4", "node.beat_age", 6.0, trouble.now))
    return trouble


def take_out(folder: Path, settings: FleetSettings = SETTINGS) -> Trouble:
    trouble = begin(folder, settings)
    trouble.ask()
    trouble.now += 30.0
    trouble.ask()
    trouble.ask()
    trouble.raised = False
    return trouble


def test_it_is_told_then_held_once_no_shared_cause_showed_then_drained(tmp_path: Path) -> None:
    trouble = begin(tmp_path)
    assert trouble.ask() == [TELL]
    assert trouble.ask() == []
    trouble.now += 30.0
    assert trouble.ask() == [HOLD]
    assert trouble.ask() == [DRAIN]
    assert trouble.ask() == []


def test_without_drain_it_is_only_held(tmp_path: Path) -> None:
    trouble = take_out(tmp_path, FleetSettings())
    assert [name for name in trouble.done if "drain" in name] == []
    trouble.beat_for(700.0)
    assert trouble.ask() == [UNHOLD]


def test_it_is_given_back_after_its_probation_and_the_incident_stays_open_till_then(tmp_path: Path) -> None:
    trouble = take_out(tmp_path)
    trouble.beat_for(590.0)
    assert (trouble.ask(), trouble.keeps_open()) == ([], True)
    trouble.beat_for(20.0)
    assert trouble.ask() == [RELEASE, UNHOLD]
    assert (trouble.ask(), trouble.keeps_open()) == ([], False)


def test_a_silence_in_its_probation_begins_it_anew(tmp_path: Path) -> None:
    trouble = take_out(tmp_path)
    trouble.beat_for(500.0)
    trouble.see(read("n4", "node.beat_age", 4.0, trouble.now))
    trouble.beat_for(200.0)
    assert trouble.ask() == []
    trouble.beat_for(420.0)
    assert trouble.ask() == [RELEASE, UNHOLD]


def test_gone_again_after_it_was_given_back_it_is_held_again(tmp_path: Path) -> None:
    trouble = take_out(tmp_path)
    trouble.beat_for(700.0)
    trouble.ask()
    trouble.raised = True
    assert trouble.ask() == [HOLD]


def test_a_hold_that_is_refused_is_tried_three_times(tmp_path: Path) -> None:
    trouble = begin(tmp_path, results={"card.hold": Result.REFUSED})
    trouble.ask()
    asked = []
    for _ in range(60):
        trouble.now += 10.0
        asked += trouble.ask()
    assert asked == [HOLD] * 3
    assert (trouble.keeps_open(), trouble.holds) == (False, [])


def test_what_could_not_be_given_back_is_tried_again(tmp_path: Path) -> None:
    trouble = take_out(tmp_path)
    trouble.results = {"card.unhold": Result.UNCONFIRMED}
    trouble.beat_for(700.0)
    assert trouble.ask() == [RELEASE, UNHOLD]
    assert trouble.ask() == []
    trouble.results = {}
    trouble.beat_for(70.0)
    assert trouble.ask() == [UNHOLD]
    assert trouble.keeps_open() is False


def test_several_at_once_are_told_as_one_and_none_is_taken_out(tmp_path: Path) -> None:
    trouble = begin(tmp_path, subject="feed/A", members=("n3", "n4"))
    assert trouble.ask() == [("notify", "feed/A")]
    for _ in range(20):
        trouble.now += 30.0
        assert not {kind for kind, _ in trouble.ask()} & TAKE_OUTS


def test_what_was_held_before_a_shared_cause_showed_is_given_back_by_its_incident(tmp_path: Path) -> None:
    trouble = begin(tmp_path, subject="feed/A", members=("n3", "n4"))
    held = Hold(id="h9", subject="n4", serial="", reason="r", owner="fleet", placed=1.0, cause="gone")
    trouble.holds = [held, Hold(id="h8", subject="n3", serial="", reason="r", owner="operator bob", placed=1.0)]
    trouble.ask()
    trouble.raised = False
    assert trouble.keeps_open()
    trouble.beat_for(700.0)
    assert trouble.ask() == [UNHOLD]
    assert [hold.owner for hold in trouble.holds] == ["operator bob"]


def test_a_policy_that_has_left_act_keeps_its_incident_for_what_it_has_out(tmp_path: Path) -> None:
    trouble = take_out(tmp_path)
    trouble.mode = Mode.OBSERVE
    assert UNHOLD in trouble.ask()


@pytest.mark.parametrize("kind", ["daemon.gone", "node.rival", "node.clock", "fleet.split", "breaker.tripped"])
def test_the_others_are_told_once(tmp_path: Path, kind: str) -> None:
    trouble = Trouble(find_remedy(tmp_path, kind), kind=kind)
    assert (trouble.ask(), trouble.ask()) == ([TELL], [])


def test_one_that_is_late_is_told_after_a_minute(tmp_path: Path) -> None:
    trouble = Trouble(find_remedy(tmp_path, "node.late"), kind="node.late")
    assert trouble.ask() == []
    trouble.now += 60.0
    assert trouble.ask() == [TELL]


@pytest.mark.parametrize(("kind", "subject", "told"), [("node.gone", "n4", []), ("daemon.gone", "n4", []), ("node.gone", "n3", [TELL])])
def test_one_that_was_told_to_be_gone_is_not_told_to_be_late(tmp_path: Path, kind: str, subject: str, told: list[object]) -> None:
    other = Incident(id="i2", kind=kind, subject=subject, scope="fleet", opened=1.0, severity=Severity.CRITICAL, text="gone")
    trouble = Trouble(find_remedy(tmp_path, "node.late"), kind="node.late", others=(other,))
    trouble.now += 60.0
    assert trouble.ask() == told
