"""The way back: a test, probation, and only then the hold is lifted; and the undoing of what was nobody's fault."""

from __future__ import annotations

import msgspec
import pytest

from supernoded.plugin import Hold, Incident, Result, Severity
from tests.plugins.isolation.saga.theatre import Theatre, but
from tests.plugins.isolation.site import CARDS, JOB, SETTINGS, Site

CARD = CARDS[2]
LONG = 200  # turns: more than a probation


def out(plan: object = None) -> Theatre:
    """A card that was replaced, and is still in trouble."""
    site = Site()
    site.pass_time()
    site.hung.add(CARD)
    site.silence(2)
    play = Theatre("card.silent", CARD, site=site)
    play.run(10)
    assert play.kinds[-1] == "job.resume"
    play.still_raised = False
    play.log.clear()
    return play


def shared(play: Theatre, subject: str = "cdu/0") -> Incident:
    return Incident(
        id="i-thing",
        kind="card.faulty",
        subject=subject,
        scope="spares",
        opened=play.incident.opened + 30.0,
        severity=Severity.CRITICAL,
        text="two cards",
    )


def test_a_card_that_stays_in_trouble_stays_out_and_its_incident_open() -> None:
    play = out()
    play.run(LONG)
    assert play.log == []
    assert play.remedy.keeps_open(play.case(), play.world)


def test_repaired_it_is_tested_watched_and_let_go() -> None:
    play = out()
    play.site.hung.clear()
    play.site.pass_time()
    began = play.site.now
    play.run(LONG)
    assert play.kinds == ["card.test", "card.unhold", "card.release"]
    lifted = next(hold.lifted for hold in play.holds if hold.subject == CARD)
    assert lifted is not None
    assert lifted - began >= SETTINGS.probation_s
    assert not play.remedy.keeps_open(play.case(), play.world)


def test_another_card_in_the_slot_is_tested_too() -> None:
    play = out()
    play.site.hung.clear()
    play.site.more[CARD, "card.serial"] = "S-new"
    play.run(LONG)
    tests = [step for step in play.log if step.kind == "card.test"]
    assert [step.details["serial"] for step in tests] == ["S-new"]
    assert play.kinds[-2:] == ["card.unhold", "card.release"]


def test_a_serial_that_changes_on_probation_forces_another_test() -> None:
    play = out()
    play.site.hung.clear()
    for _ in range(20):
        play.turn()
    assert play.kinds == ["card.test"]
    play.site.more[CARD, "card.serial"] = "S-new"
    play.run(LONG)
    assert play.kinds == ["card.test", "card.test", "card.unhold", "card.release"]


@pytest.mark.parametrize("trouble", ["hung", "gone"])
def test_trouble_on_probation_keeps_it_out(trouble: str) -> None:
    play = out()
    play.site.hung.clear()
    for _ in range(20):
        play.turn()
    getattr(play.site, trouble).add(CARD)
    play.run(LONG)
    assert "card.unhold" not in play.kinds
    assert play.remedy.keeps_open(play.case(), play.world)
    getattr(play.site, trouble).clear()
    play.run(LONG)
    assert play.kinds == ["card.test", "card.test", "card.unhold", "card.release"]


def test_a_code_on_probation_is_told_and_asks_for_another_test() -> None:
    play = out()
    play.site.hung.clear()
    for _ in range(20):
        play.turn()
    play.site.codes[CARD] = frozenset({"XID48"})
    play.run(40)
    assert "came into trouble again on probation" in play.told[-1]
    play.site.codes.clear()
    play.run(LONG)
    assert play.kinds == ["card.test", "card.test", "card.unhold", "card.release"]


def test_what_was_seen_before_its_test_is_no_lapse() -> None:
    play = out()
    play.site.hung.clear()
    play.site.more[CARD, "card.errors_uncorrected"] = 1.0
    play.site.pass_time()
    play.site.more[CARD, "card.errors_uncorrected"] = 2.0
    play.site.pass_time()
    del play.site.more[CARD, "card.errors_uncorrected"]
    play.run(LONG)
    assert play.kinds == ["card.test", "card.unhold", "card.release"]


def test_a_card_that_fails_its_tests_is_a_persons() -> None:
    play = out()
    play.plan = but(card_test=Result.UNCONFIRMED)
    play.site.hung.clear()
    play.run(LONG)
    assert play.kinds == ["card.test"]
    play.site.now += SETTINGS.retest_s
    play.run(LONG)
    play.site.now += SETTINGS.retest_s
    play.run(LONG)
    assert play.kinds == ["card.test", "card.test"]
    assert "has not passed 2 tests: it stays out" in play.told[-1]


@pytest.mark.parametrize(("kind", "tried"), [("card.unhold", 2), ("card.release", 2)])
def test_what_cannot_be_undone_is_told(kind: str, tried: int) -> None:
    play = out()
    play.plan = but(**{kind.replace(".", "_"): Result.UNCONFIRMED})
    play.site.hung.clear()
    play.run(LONG)
    assert play.kinds.count(kind) == tried
    assert "Do it by hand" in play.told[-1]


def test_a_person_who_holds_it_too_is_waited_for() -> None:
    play = out()
    play.holds.append(Hold(id="h1", subject=CARD, serial="", reason="mine", owner="operator alice", placed=play.site.now))
    play.site.hung.clear()
    play.run(LONG)
    assert play.kinds == []


def test_a_hold_that_a_person_lifts_ends_it() -> None:
    play = out()
    play.holds.clear()
    play.site.hung.clear()
    play.run(LONG)
    assert play.kinds == []
    assert not play.remedy.keeps_open(play.case(), play.world)


def test_a_card_with_a_rank_on_it_is_not_tested() -> None:
    play = out()
    play.site.hung.clear()
    play.site.places[99] = CARD
    play.run(LONG)
    assert play.kinds == []


def test_people_are_reminded_of_a_card_that_is_out_for_long() -> None:
    play = out()
    play.site.now += SETTINGS.remind_s
    play.run(20)
    play.run(20)
    assert len(play.told) == 1
    assert "has been out of service for 7 days and is absent" in play.told[0]


def test_a_shared_cause_that_is_named_later_undoes_it_without_probation() -> None:
    play = out()
    play.site.hung.clear()
    play.others = (shared(play),)
    play.run(20)
    assert play.kinds == ["card.test", "card.unhold", "card.release"]


def test_a_cause_of_another_place_undoes_nothing() -> None:
    play = out()
    play.site.hung.clear()
    play.others = (shared(play, "cdu/1"),)
    play.run(20)
    assert play.kinds == ["card.test"]


def test_software_that_was_named_long_before_undoes_nothing_and_at_the_same_time_it_does() -> None:
    """Its job stood still all the same, and the card was blamed though that was known."""
    for before, kinds in ((SETTINGS.software_s, ["card.test"]), (0.0, ["card.test", "card.unhold", "card.release"])):
        play = out()
        play.site.hung.clear()
        cause = shared(play, JOB)
        play.others = (msgspec.structs.replace(cause, kind="card.software", opened=play.incident.opened - before),)
        play.run(20)
        assert play.kinds == kinds


def test_before_anything_but_the_hold_it_is_withdrawn() -> None:
    site = Site()
    site.codes[CARD] = frozenset({"8C03A000"})
    play = Theatre("card.faulty", CARD, site=site)
    while play.kinds[-1:] != ["card.hold"]:
        play.turn()
    play.others = (shared(play),)
    play.run(20)
    assert play.kinds == ["card.capture", "job.checkpoint", "card.hold", "card.unhold"]
    assert "its hold is withdrawn: cdu/0 is named as the cause" in play.told[0]


def test_trouble_again_after_it_was_let_go_begins_another_round() -> None:
    play = out()
    play.site.hung.clear()
    play.run(LONG)
    play.site.places[2] = CARD
    play.site.hung.add(CARD)
    play.site.silence(2)
    play.site.pass_time()
    play.still_raised = True
    play.log.clear()
    play.run(20)
    assert play.kinds[:2] == ["card.capture", "card.hold"]
    assert play.log[0].name.startswith("2-")
    assert play.kinds[-1] == "job.resume"
