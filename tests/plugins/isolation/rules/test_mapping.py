"""One rank to a card (H9): two on one are told, and nobody is blamed by the job's word meanwhile."""

from __future__ import annotations

from supernoded.plugin import Level, Verdict
from supernoded_isolation.rules.mapping import MapRule
from tests.plugins.isolation.site import CARDS, JOB, SITE, Court, Site

CARD = CARDS[2]


def judge(site: Site, looks: int = 6) -> Verdict:
    """The last word on the job."""
    rule = MapRule(SITE)
    memory, said = rule.start(), list[Verdict]()
    for _ in range(looks):
        site.pass_time()
        memory, verdicts = rule.judge(site.see(rule.watches), memory)
        said += verdicts
    assert {one.subject for one in said} == {JOB}
    return said[-1]


def test_a_map_that_is_right() -> None:
    assert judge(Site()).level is Level.CLEAR


def test_two_ranks_on_one_card() -> None:
    site = Site()
    site.places[3] = CARD
    assert judge(site, 2).level is Level.UNSURE  # they may be moving
    said = judge(site)
    assert said.level is Level.RAISED
    assert said.severity.value == "warning"
    assert f"{JOB}/rank2 and {JOB}/rank3 are on one card, {CARD}" in said.text
    site.states[3] = "gone"
    assert judge(site).level is Level.CLEAR


def test_a_card_that_is_not_there_and_one_that_is_not_told() -> None:
    site = Site()
    site.places[3] = "n0/card9"
    site.places[4] = ""
    said = judge(site)
    assert said.level is Level.RAISED
    assert f"{JOB}/rank3 is on n0/card9, which is no card of the topology" in said.text
    assert f"on which card {JOB}/rank4 is, is not told" in said.text


def test_no_card_is_blamed_by_ranks_of_a_job_whose_map_is_wrong(court: Court) -> None:
    court.site.places[3] = CARD
    court.site.hung.add(CARD)
    court.site.silence(2)
    court.run(10)
    assert court.raised == set()
    assert "rank.map" in court.text("rank.silent", f"{JOB}/rank2")
    court.site.places[3] = CARDS[3]
    court.run(2)
    assert court.raised == {("card.silent", CARD)}


def test_nor_is_it_started_anew(court: Court) -> None:
    court.site.places[3] = CARD
    court.site.states = dict.fromkeys(court.site.places, "waiting")
    court.run(80)
    assert court.raised == set()
    assert "rank.map" in court.text("rank.silent", JOB)


def test_the_machines_own_word_counts_all_the_same(court: Court) -> None:
    court.site.places[3] = CARD
    court.site.codes[CARD] = frozenset({"8C03A000"})
    court.run(8)
    assert court.raised == {("card.faulty", CARD)}
