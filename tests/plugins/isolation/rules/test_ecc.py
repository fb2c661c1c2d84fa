"""Corrected errors against a card's own past."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from supernoded.plugin import Level, Reading, Verdict
from supernoded.testing import judge
from supernoded_isolation.rules import EccRule
from tests.plugins.isolation.site import CARDS, SETTINGS, Court

CARD = "n0/card1"
RULE = EccRule(SETTINGS, lambda subject: subject == "n0/card7")
HOUR = 3600


def read(total: Callable[[int], float | None], hours: float, card: str = CARD) -> Iterator[Reading]:
    for at in range(0, int(hours * HOUR), 60):
        yield Reading(subject=card, quantity="card.errors_corrected", value=total(at), unit="1", at=float(at), source="tool")


def watch(total: Callable[[int], float | None], hours: float) -> list[Verdict]:
    return list(judge(RULE, read(total, hours)))


def raised(verdicts: list[Verdict]) -> list[Verdict]:
    return [one for one in verdicts if one.level is Level.RAISED]


def test_a_card_that_always_has_some_is_told_of_nothing() -> None:
    assert not raised(watch(lambda at: 5_000.0 + at * 80.0 / HOUR, 12))


def test_nor_one_whose_usual_hour_has_many() -> None:
    assert not raised(watch(lambda at: at * 400.0 / HOUR, 12))


def test_nor_what_stands_there_at_first_sight() -> None:
    assert not raised(watch(lambda at: 1e6, 3))


def test_ten_times_its_usual_hour_is_told_within_the_hour_and_stays_so() -> None:
    verdicts = watch(lambda at: at * 20.0 / HOUR + max(at - 4 * HOUR, 0) * 600.0 / HOUR, 30)
    first = raised(verdicts)[0]
    assert 4 * HOUR < first.at < 5 * HOUR
    assert "where 20 are usual with it" in first.text
    assert {one.level for one in verdicts if one.at > first.at} == {Level.RAISED}  # it does not get used to it


def test_it_is_over_after_a_quiet_hour() -> None:
    verdicts = watch(lambda at: min(max(at - 2 * HOUR, 0), HOUR) * 600.0 / HOUR, 8)
    assert raised(verdicts)
    assert verdicts[-1].level is Level.CLEAR


def test_a_reset_counter_is_a_new_baseline_and_a_hole_is_no_error() -> None:
    assert not raised(watch(lambda at: None if at % 7 == 0 else 90_000.0 if at < 2 * HOUR else float(at % 3 == 0), 6))


def test_without_a_past_many_are_unsure() -> None:
    assert watch(float, 0.5)[-1].level is Level.UNSURE


def test_a_storm_is_one_view_beside_a_silent_rank_and_none_alone(court: Court) -> None:
    card = CARDS[2]
    court.site.more[card, "card.errors_corrected"] = 10.0
    court.run(2)
    court.site.more[card, "card.errors_corrected"] = 500.0
    court.site.codes[card] = frozenset({"8C084E00"})
    court.run(12)
    assert court.raised == set()
    court.site.silence(2)
    court.run(2)
    assert court.raised == {("card.silent", card)}
    assert "490 corrected memory errors came" in court.text("card.silent", card)


def test_some_corrected_errors_speak_against_nobody(court: Court) -> None:
    card = CARDS[2]
    court.site.more[card, "card.errors_corrected"] = 10.0
    court.run(2)
    court.site.more[card, "card.errors_corrected"] = 60.0
    court.site.silence(2)
    court.run(4)
    assert ("card.silent", card) not in court.raised
