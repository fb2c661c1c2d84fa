"""What is named in a card's place: heat, who takes the node, software, what suspects share, work on it, its boot."""

from __future__ import annotations

from supernoded.plugin import Level
from tests.plugins.isolation.site import CARDS, JOB, Court, Site

CARD = CARDS[2]


def test_while_a_job_ends_its_ranks_go_one_by_one_and_none_is_to_blame(court: Court) -> None:
    court.site.silence(2)
    court.site.more[JOB, "job.state"] = "aborted"
    court.site.states |= dict.fromkeys(range(5), "gone")
    court.run(6)
    assert court.raised == set()


def test_not_even_for_a_moment_where_nobody_says_that_it_was_ended(court: Court) -> None:
    court.site.states = {**dict.fromkeys(court.site.places, "waiting"), **dict.fromkeys(range(5), "gone")}
    court.run(1, seconds=1.0)
    assert court.raised == set()
    court.site.states = dict.fromkeys(court.site.places, "gone")
    court.run(6)
    assert court.raised == set()


def test_a_hot_card_is_not_blamed(court: Court) -> None:
    court.site.hung.add(CARD)
    court.site.more[CARD, "card.throttled"] = 1.0
    court.site.silence(2)
    court.run(6)
    assert court.raised == set()
    assert "heat is judged before any card is blamed" in court.text("card.silent", CARD)


def test_a_process_that_takes_too_much_is_named_and_no_card(court: Court) -> None:
    court.site.more["n0", "host.hog"] = "backup (pid 4711): 96 % of memory"
    court.site.hung.add(CARD)
    court.site.silence(2)
    court.run(6)
    assert court.raised == {("rank.silent", f"{JOB}/rank2")}
    assert "pid 4711" in court.text("card.silent", CARD)
    assert "pid 4711" in court.text("rank.silent", f"{JOB}/rank2")


def test_a_hog_is_told_where_the_card_looks_well(court: Court) -> None:
    court.site.more["n0", "host.hog"] = "backup (pid 4711): 96 % of memory"
    court.site.silence(2)
    court.run(6)
    assert court.raised == {("rank.silent", f"{JOB}/rank2")}
    assert "end it before any card is blamed" in court.text("rank.silent", f"{JOB}/rank2")


def test_a_grave_code_is_no_hogs_doing(court: Court) -> None:
    court.site.more["n0", "host.hog"] = "backup (pid 4711): 96 % of memory"
    court.site.codes[CARD] = frozenset({"XID48"})
    court.run(10)
    assert court.raised == {("card.faulty", CARD)}


def test_the_same_on_two_cards_of_one_job_is_software(court: Court) -> None:
    """Row 20: fleet.md."""
    court.site.codes.update(dict.fromkeys((CARDS[1], CARDS[5]), frozenset({"8C03A000"})))
    court.run(20)
    assert court.raised == {("card.software", JOB)}
    assert court.levels["card.faulty", CARDS[1]].level is Level.UNSURE


def test_two_cards_without_a_job_share_their_loop(court: Court) -> None:
    court.site.places = {}
    court.site.codes.update(dict.fromkeys((CARDS[1], "n2/card0"), frozenset({"8C03A000"})))
    court.run(20)
    assert court.raised == {("card.faulty", "cdu/0")}


def test_two_cards_far_apart_in_time_are_two(court: Court) -> None:
    court.site.codes[CARDS[1]] = frozenset({"8C03A000"})
    court.run(10)
    court.site.codes[CARDS[3]] = frozenset({"8C03A000"})
    court.run(20)
    assert court.raised == {("card.faulty", CARDS[1]), ("card.faulty", CARDS[3])}


def test_the_peers_that_die_with_a_card_are_its_victims(court: Court) -> None:
    court.site.gone.add(CARD)
    court.site.states = {**dict.fromkeys(court.site.places, "waiting"), 2: "gone", 3: "gone", 4: "gone"}
    court.run(3)
    assert court.raised == {("card.silent", CARD)}


def test_what_is_under_maintenance_is_nobodys(site: Site) -> None:
    court = Court(site, maintenance=[CARD])
    site.codes[CARD] = frozenset({"8C03A000"})
    court.run(20)
    assert court.raised == set()


def test_just_after_a_boot_only_codes_count(court: Court) -> None:
    """Row 9: what is not there yet is not gone."""
    court.site.more["n0", "host.uptime"] = 30.0
    court.site.gone.add(CARD)
    court.run(12)
    assert court.raised == set()
