"""Scenarios played on a toy plant in virtual time: what each kind of course leads to."""

from __future__ import annotations

from typing import Any

import pytest

from supernoded.chaos.execute import Variant
from supernoded.chaos.report import Finding, Report, Ruling, Undo, find_exit_code
from tests.unit.chaos.toy import Toy
from tests.unit.chaos.writing import play

CALM: dict[str, Any] = {"timeline": [], "stubs": [], "remedy": None, "recovery": {}, "targets": {}, "lasts": "60s"}
ONE = {"at": 1, "fault": "pump.stop", "on": "cdu/0/pump0", "for": 20}
NEAR = {**ONE, "with": {"share": 0.5}}  # the other pump carries on


def expecting(*expectations: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The base with other expectations."""
    named = [{"name": f"e{place}", **one} for place, one in enumerate(expectations)]
    return {"expect": named, "recovery": {}, **changes}


def finding(report: Report, name: str = "e0") -> Finding:
    return next(one for one in report.expectations if one.name == name)


def test_fault_detection_effect_and_recovery_have_their_times() -> None:
    report = play()
    assert (report.verdict, report.undo, find_exit_code(report)) == (Ruling.PASS, Undo.VERIFIED, 0)
    assert report.start == pytest.approx(2.0, abs=0.01)  # the steady state was held first
    times = {name: round(at, 1) for name, at in report.times.items() if at is not None}
    assert times == {"inject": 5.0, "manifest": 5.0, "detect": 7.2, "effect": 8.2, "undo": 65.0, "converge": 70.0, "end": 70.0}
    assert report.targets == {"pumps": ("cdu/0/pump0", "cdu/0/pump1")}
    assert report.not_certified == ["pump.stop: made as model on toy, proves nothing of protocol, os, telemetry, physical"]
    assert report.faults[0].with_ == {"share": 0.5, "coast": 0.0}


@pytest.mark.parametrize(
    ("variant", "ruling", "why"),
    [
        (Variant(remedy=False), Ruling.FAIL, "detect: wanted told cooling.lost of cdu/0 within 3 s of pump.stop, found it did not come"),
        (Variant(physics=False), Ruling.INCONCLUSIVE, "pump.stop@cdu/0/pump0 did not show within 10 s: register 7 is 0"),
        (Variant(stand_in="do-nothing"), Ruling.FAIL, "job.lost of job/train: 90."),
        (Variant(stand_in="panic"), Ruling.FAIL, "the policy stopped it"),
    ],
)
def test_the_verdict_changes_with_what_is_taken_away(variant: Variant, ruling: Ruling, why: str) -> None:
    report = play(variant=variant)
    assert report.verdict is ruling
    assert why in report.why
    assert report.variant == str(variant)


def test_the_same_seed_gives_the_same_report() -> None:
    assert play(seed=3) == play(seed=3)


def test_healthy_for_a_while_and_nobody_acts() -> None:
    steady = {"before": {"all": ["no_open_incident"]}, "always": ["nothing_told_yet"]}
    expect = [{"name": "quiet", "told": "*", "never": True}, {"name": "still", "happened": "pump.*", "never": True}]
    report = play({**CALM, "steady_state": steady, "expect": expect})
    assert (report.verdict, report.undo) == (Ruling.PASS, Undo.NOTHING)
    assert report.times["end"] == pytest.approx(60.0)
    assert report.times["inject"] is None


def test_a_near_miss_is_seen_and_nothing_is_done() -> None:
    quiet = {"told": "*", "never": True}
    report = play(expecting(quiet, timeline=[NEAR], remedy={"stand_in": "cool", "needed": False}))
    assert report.verdict is Ruling.PASS
    assert play(expecting(quiet, timeline=[NEAR]), Variant(physics=False)).verdict is Ruling.INCONCLUSIVE


def test_a_fault_whose_manifest_does_not_show_tests_nothing() -> None:
    report = play(expecting({"told": "*", "never": True}, timeline=[{**ONE, "fault": "pump.unseen", "manifest": {"within": "4s"}}]))
    assert (report.verdict, find_exit_code(report)) == (Ruling.INCONCLUSIVE, 7)
    assert report.why == "pump.unseen did not show within 4 s: register 7 is 0"
    assert report.times["end"] == pytest.approx(5.0, abs=0.01)  # the rest is not played


def test_an_untested_expectation_has_not_failed() -> None:
    report = play(variant=Variant(physics=False))
    assert [one.passed for one in report.expectations] == [None, None, True]


def test_a_fault_that_shows_before_it_is_there_cannot_be_told_from_none() -> None:
    toy = Toy()
    report = play(expecting({"told": "*", "never": True}, timeline=[{**ONE, "fault": "pump.haunted"}]), toy=toy)
    assert report.verdict is Ruling.INCONCLUSIVE
    assert report.why == "pump.haunted shows before it is there, so its probe cannot tell: register 7 is 1"
    assert toy.stages[0].log == []  # it was not even put in place


def test_the_scenario_may_say_where_a_fault_shows() -> None:
    low = {"within": "2s", "see": {"truth": "coolant.flow", "on": "cdu/0", "below": 80}}
    quiet = {"told": "*", "never": True}
    report = play(expecting(quiet, timeline=[{**NEAR, "manifest": low}]))
    assert (report.verdict, report.undo) == (Ruling.PASS, Undo.VERIFIED)
    seen = {"see": {"truth": "coolant.flow", "on": "cdu/0", "below": 180}}
    assert "shows before it is there" in play(expecting(quiet, timeline=[{**NEAR, "manifest": seen}])).why


def test_a_blind_probe_is_no_pass_and_no_failure() -> None:
    blind = {"truth": "air.temperature", "on": "n1", "below": 99}
    for more in ({}, {"always": True}, {"never": True}, {"at_end": True}, {"count": {"max": 1}}):
        report = play(expecting({**blind, **more}, timeline=[ONE]))
        assert report.verdict is Ruling.INCONCLUSIVE, more
        assert finding(report).passed is None
    surely = play(expecting(blind, {"happened": "job.lost"}, timeline=[ONE]))
    assert surely.verdict is Ruling.FAIL  # one that surely failed counts more than one that could not be seen


def test_steady_state_that_is_not_reached_begins_nothing() -> None:
    toy = Toy()
    steady = {"before": {"all": [{"truth": "air.temperature", "on": "n0", "above": 70}], "within": "30s"}}
    report = play({"steady_state": steady}, toy=toy)
    assert (report.verdict, report.start, report.undo) == (Ruling.INCONCLUSIVE, None, Undo.NOTHING)
    assert report.why.endswith("air.temperature of n0 above 70: air.temperature of n0 is 60")
    assert toy.stages[0].log == []
    assert toy.stages[0].happened() == []


def test_abort_lifts_everything_at_once() -> None:
    hot = {"truth": "air.temperature", "on": "n?", "above": 70, "for": "3s", "match": "any"}
    toy = Toy()
    report = play({"abort_if": [hot]}, Variant(remedy=False), toy=toy)
    assert (report.verdict, report.undo, find_exit_code(report)) == (Ruling.ABORTED, Undo.VERIFIED, 6)
    assert "air.temperature of any of n0, n1 above 70 for 3 s" in report.why
    assert report.times["undo"] == pytest.approx(18.5, abs=0.6)
    assert [line.split()[0] for line in toy.stages[0].log] == ["inject", "inject", "lift", "lift"]


def test_an_undo_that_does_not_come_back_is_the_loudest() -> None:
    report = play(expecting({"happened": "pump.stopped"}, timeline=[{**ONE, "fault": "pump.sticky"}]))
    assert (report.verdict, report.undo, find_exit_code(report)) == (Ruling.PASS, Undo.NOT_VERIFIED, 5)
    assert report.faults[0].lift == pytest.approx(21.0, abs=0.01)
    assert report.faults[0].undo is None
    assert report.times["end"] == pytest.approx(51.0, abs=0.1)  # it was waited for


def test_what_cannot_be_undone_is_not_lifted() -> None:
    toy = Toy()
    report = play(expecting({"happened": "pump.stopped"}, timeline=[{**ONE, "fault": "pump.broken", "undo": "none"}]), toy=toy)
    assert (report.verdict, report.undo) == (Ruling.PASS, Undo.NOTHING)
    assert len(toy.stages[0].log) == 1


def test_a_fault_that_the_drive_refuses() -> None:
    report = play(expecting({"told": "*", "never": True}, timeline=[{**ONE, "fault": "pump.refused"}]))
    assert (report.verdict, find_exit_code(report)) == (Ruling.REFUSED, 4)
    assert report.why == "pump.refused: no such pump can be refused; choose another fault"


def test_what_nobody_heard_fails_the_run_whatever_else_there_is() -> None:
    toy = Toy(failures=["n0: KeyError: 'x'"])
    for variant in (Variant(), Variant(physics=False)):
        report = play(variant=variant, toy=toy)
        assert (report.verdict, report.why) == (Ruling.FAIL, "1 failures that nobody heard, the first: n0: KeyError: 'x'")


SECOND = {"after": "detect", "within": "30s", "fault": "pump.stop", "on": "cdu/0/pump0", "name": "again", "for": 5}


def test_a_fault_can_start_when_something_has_come() -> None:
    base = play().faults[0]
    first = {"at": 5, "fault": "pump.stop", "on": "cdu/0/pump*", "with": {"share": 0.5}, "for": 60}
    report = play({"timeline": [first, SECOND]})
    assert report.faults[2].inject == pytest.approx(7.2)
    assert report.faults[0].inject == base.inject
    state = {**SECOND, "after": {"truth": "air.temperature", "on": "n0", "above": 62}}
    assert play({"timeline": [first, state]}).faults[2].inject == pytest.approx(7.2, abs=0.5)


def test_a_fault_whose_cue_never_comes_tests_nothing() -> None:
    late = {**SECOND, "after": {"happened": "job.lost"}, "within": "10s"}
    report = play({"timeline": [{**ONE, "for": 60}, late], "expect": [{"name": "e0", "told": "*", "never": True}]})
    assert report.verdict is Ruling.INCONCLUSIVE
    assert report.why == "again never started: happened job.lost did not come within 10 s"


def test_order_count_and_windows() -> None:
    report = play(
        expecting(
            {"told": "cooling.lost", "before": "e1", "of": "pump.stop"},
            {"happened": "pump.started"},
            {"happened": "pump.*", "count": {"min": 3, "max": 3}},
            {"happened": "pump.stopped", "count": {"max": 1}},
            {"told": "cooling.lost", "raised": False, "after": "e0", "within": "2s"},
            {"happened": "pump.started", "before": "e0"},
            {"truth": "coolant.flow", "on": "cdu/0", "below": 80, "of": "pump.stop", "within": "1s", "for": "500ms"},
            {"truth": "coolant.flow", "on": "cdu/0", "above": 80, "at_end": True},
            {"truth": "cdu.status", "on": "cdu/0", "has": "ALARM", "count": {"min": 1, "max": 1}},
            {"truth": "cdu.status", "on": "cdu/0", "equals": "ALARM LOW", "of": "pump.stop", "within": "2s"},
            {"truth": "pump.state", "on": "pumps", "one_of": ["off", "running"], "always": True},
            {"truth": "coolant.flow", "on": "cdu/0", "above": 80, "always": True, "of": "pump.stop"},
            {"told": "cooling.lost", "never": True},
            {"told": "cooling.lost", "after": "e14"},
            {"happened": "job.lost", "within": "5s"},
        )
    )
    assert [one.passed for one in report.expectations[:15]] == [
        *(True, True, True, False, True),
        *(False, True, True, True, True),
        *(True, False, False, False, False),
    ]
    assert report.verdict is Ruling.FAIL
    assert finding(report, "e3").found == "2 times"
    assert finding(report, "e5").found == "e0 came 1 s earlier"
    assert finding(report, "e13").found == "e14 never came"


def test_a_condition_must_hold_as_long_as_it_says() -> None:
    state = {"truth": "pump.state", "on": "cdu/0/pump0", "equals": "off"}
    for seconds, passed in ((15, True), (25, False)):
        report = play(expecting({**state, "for": seconds}, timeline=[{**ONE, "with": {"share": 0.1}}], lasts="2m"))
        assert finding(report).passed is passed


def test_sometimes_is_judged_over_seeds() -> None:
    report = play(expecting({"happened": "job.lost", "sometimes": True}, {"happened": "pump.stopped", "sometimes": True}))
    assert report.verdict is Ruling.PASS
    assert [one.passed for one in report.expectations[:2]] == [None, True]


def test_shapes() -> None:
    toy = Toy()
    quiet = {"happened": "job.lost", "never": True}
    pulse = {**ONE, "shape": {"pulse": {"on": 2, "off": 6}}}
    report = play(expecting(quiet, {"happened": "pump.stopped", "count": {"min": 3, "max": 3}}, timeline=[pulse]), toy=toy)
    assert report.verdict is Ruling.PASS
    assert [line.split()[0] for line in toy.stages[0].log] == ["inject", "lift"] * 3
    ramp = {**ONE, "shape": {"ramp": {"parameter": "share", "from": 0, "to": 1, "steps": 3}}}
    report = play(expecting(quiet, timeline=[ramp]), toy=toy)
    assert report.verdict is Ruling.PASS
    assert [line.split("share=")[1].split(",")[0] for line in toy.stages[1].log[:-1]] == ["0.0", "0.5", "1.0"]
    assert report.faults[0].inject == pytest.approx(1.0)
    assert report.faults[0].lift == pytest.approx(21.0)


def test_the_remedy_decides_what_runs() -> None:
    toy = Toy()
    remedy = {"plugins": ["link_ber"], "settings": {"plugins": {"link_ber": {"most": 3}}}}
    for variant in (Variant(), Variant(remedy=False), Variant(stand_in="panic"), Variant(physics=False)):
        play({"remedy": remedy}, variant, toy)
    assert [setup.stand_in for setup in toy.setups] == ["", "", "panic", ""]
    assert [setup.plugins is None or "link_ber" not in setup.plugins for setup in toy.setups] == [True] * 4
    assert [setup.plugins is None for setup in toy.setups] == [True, False, False, True]
    assert "fabric" in (toy.setups[1].plugins or ())
    assert toy.setups[0].settings == "[plugins.link_ber]\nmost = 3\n"
    assert [setup.physics for setup in toy.setups] == [True, True, True, False]
