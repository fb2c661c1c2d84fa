"""What a daemon that was started anew makes of cards, and of those whose node is not heard, or whose tool answers only in part."""

from __future__ import annotations

import pytest

from supernoded.history import History
from supernoded.plugin import Level, Reading, State, Value
from supernoded_isolation.evidence.card_views import CARD_WATCHES, is_heard, is_well
from tests.plugins.isolation.saga.theatre import Theatre
from tests.plugins.isolation.site import CARDS, EVERY, FRESH, TABLE, Court, Site

CARD = CARDS[1]
RESETS = frozenset({"8C03A000"})


def make(quantity: str, value: Value, at: float, source: str) -> Reading:
    return Reading(
        subject=CARD, quantity=quantity, value=value, unit="1", at=at, state=State.UNKNOWN if value is None else State.GOOD, source=source
    )


@pytest.mark.parametrize(("misses", "well"), [(0, True), (1, True), (2, False)])
def test_an_older_answer_to_a_rarer_question_says_nothing_of_a_card_that_is_silent_since(misses: int, well: bool) -> None:
    history = History({})
    history.add([make("card.present", 1.0, 100.0, "boards"), make("card.health", frozenset(), 100.0, "health")], 150.0)
    for look in range(misses):
        history.add([make("card.present", None, 102.0 + look, "cards")], 5.0)
    assert is_well(history.view(110.0, CARD_WATCHES), CARD, TABLE, 0.0) is well


def test_a_card_whose_codes_cannot_be_read_is_not_well() -> None:
    history = History({})
    history.add([make("card.present", 1.0, 100.0, "cards"), make("card.health", None, 100.0, "health")], 30.0)
    assert not is_well(history.view(101.0, CARD_WATCHES), CARD, TABLE, 0.0)


def test_a_new_life_takes_no_card_for_unused_before_its_node_was_heard_twice() -> None:
    play = Theatre("card.faulty", CARD)
    play.site.history = History({})
    assert play.ask() == ()
    spoke = [reading for reading in play.site.read() if reading.subject.startswith("n0/")]  # the ranks come with the next digest
    play.site.history.add(spoke, FRESH)
    assert not is_heard(play.site.see(CARD_WATCHES), CARD)
    assert play.ask() == ()
    play.site.pass_time()
    play.site.pass_time()
    assert [step.kind for step in play.ask()] == ["card.capture", "job.checkpoint"]


def blame() -> tuple[Site, Court]:
    site = Site()
    court = Court(site)
    court.run(4)
    site.hung.add(CARD)
    site.silence(1)
    court.run(8)
    assert court.raised == {("card.silent", CARD)}
    return site, court


def test_a_new_life_does_not_call_a_card_well_of_which_it_has_heard_nothing() -> None:
    site, court = blame()
    site.history = History({})
    court.ask()
    assert court.levels["card.silent", CARD].level is Level.UNSURE
    court.run(3)
    assert court.raised == {("card.silent", CARD)}


def test_a_card_whose_codes_are_not_read_any_more_is_not_cleared_for_that() -> None:
    site = Site()
    court = Court(site)
    court.run(4)
    site.codes = {CARD: RESETS}
    court.run(12)
    assert court.raised == {("card.faulty", CARD)}
    site.more[CARD, "card.health"] = None
    court.run(2)
    assert court.levels["card.faulty", CARD].level is Level.UNSURE


def test_a_silence_of_its_node_makes_no_second_trouble_of_a_card_that_is_out() -> None:
    site, court = blame()
    site.states, site.behind = {}, set()  # its rank goes on elsewhere
    site.places[1] = "n1/card3"
    court.run(2)
    assert court.raised == set()
    site.now += 10 * EVERY
    court.ask()
    court.run(12)
    assert court.raised == set()


def test_a_new_life_does_not_take_two_troubles_for_one_that_it_sees_at_its_first_look() -> None:
    site = Site(places={})
    court = Court(site)
    court.run(4)
    site.codes[CARD] = RESETS
    court.run(50)
    site.codes["n2/card0"] = RESETS
    court.run(12)
    both = {("card.faulty", CARD), ("card.faulty", "n2/card0")}
    assert court.raised == both
    site.history = History({})
    court.ask()
    court.run(12)
    assert court.raised == both
