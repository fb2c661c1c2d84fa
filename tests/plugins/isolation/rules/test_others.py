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


def look_for_hogs(court: Court, looks: int, named: str | None, seconds: float = 5.0) -> None:
    """Rounds in which a look at the processes of the node is told, None = which cannot be made."""
    for _ in range(looks):
        court.site.more["n0", "host.hog"] = named
        court.run(1, seconds)
        del court.site.more["n0", "host.hog"]


def test_a_hog_that_began_with_the_hang_is_named_before_any_card_is_blamed(court: Court) -> None:
    """H3: the look before the hang said that nobody takes the node, and is no answer."""
    look_for_hogs(court, 1, "")
    court.site.hung.add(CARD)
    court.site.silence(2)
    court.run(3)
    assert court.raised == set()
    assert "has not been looked at since" in court.text("card.silent", CARD)
    look_for_hogs(court, 3, "backup (pid 4711) takes 90 % of memory")
    assert court.raised == {("rank.silent", f"{JOB}/rank2")}
    assert "pid 4711" in court.text("card.silent", CARD)


def test_with_nobody_in_sight_the_card_is_to_blame_at_once(court: Court) -> None:
    look_for_hogs(court, 1, "")
    court.site.hung.add(CARD)
    court.site.silence(2)
    look_for_hogs(court, 2, "")
    assert court.raised == {("card.silent", CARD)}


def test_a_look_that_does_not_come_is_not_waited_for_for_ever(court: Court) -> None:
    look_for_hogs(court, 1, "")
    court.site.hung.add(CARD)
    court.site.silence(2)
    look_for_hogs(court, 5, None)
    assert court.raised == set()
    look_for_hogs(court, 2, None)
    assert court.raised == {("card.silent", CARD)}


def test_where_nobody_may_look_at_processes_nothing_is_waited_for(court: Court) -> None:
    look_for_hogs(court, 8, None)
    court.site.hung.add(CARD)
    court.site.silence(2)
    look_for_hogs(court, 2, None)
    assert court.raised == {("card.silent", CARD)}


def test_a_process_is_not_started_anew_either_before_somebody_has_looked(court: Court) -> None:
    look_for_hogs(court, 1, "")
    court.site.silence(2)
    court.run(3)
    assert court.raised == set()
    look_for_hogs(court, 1, "")
    assert court.raised == {("rank.silent", f"{JOB}/rank2")}


def test_what_the_machine_alone_says_does_not_wait_for_it(court: Court) -> None:
    look_for_hogs(court, 1, "")
    court.site.codes[CARD] = frozenset({"XID48"})
    court.run(8)
    assert court.raised == {("card.faulty", CARD)}


def test_two_cards_that_are_plainly_ill_are_blamed_when_their_job_stands_still_for_long(court: Court) -> None:
    court.site.hung.update((CARDS[1], CARDS[5]))
    court.site.states = dict.fromkeys(court.site.places, "waiting") | {1: "silent", 5: "silent"}
    court.site.behind = {1, 5}
    court.run(20)
    assert court.raised == {("card.software", JOB)}
    assert "supernodectl diagnose" not in court.text("card.software", JOB)
    court.run(6)
    assert court.raised == {("card.silent", CARDS[1]), ("card.silent", CARDS[5])}


def test_one_code_on_both_stays_softwares_and_people_are_told_what_to_do(court: Court) -> None:
    court.site.codes.update(dict.fromkeys((CARDS[1], CARDS[5]), frozenset({"8C03A000"})))
    court.site.states = dict.fromkeys(court.site.places, "waiting")
    court.run(40)
    assert court.raised == {("card.software", JOB)}
    assert "has not stepped for" in court.text("card.software", JOB)
    assert "supernodectl card isolate" in court.text("card.software", JOB)


def test_while_the_job_steps_nobody_is_blamed_for_time_alone(court: Court) -> None:
    court.site.hung.update((CARDS[1], CARDS[5]))
    court.run(60)
    assert court.raised == {("card.software", JOB)}
    assert "has not stepped" not in court.text("card.software", JOB)


def test_the_second_of_two_stays_to_blame_while_the_first_is_replaced_and_not_when_its_rank_comes(court: Court) -> None:
    """An abort for the first ends what the job says of the second; both share a node, so they are raised one after the other."""
    court.site.hung.update((CARDS[1], CARDS[2]))
    court.site.states = dict.fromkeys(court.site.places, "waiting") | {1: "silent", 2: "silent"}
    court.site.behind = {1, 2}
    while ("card.silent", CARDS[1]) not in court.raised:
        assert court.site.now < 10_300.0
        court.run(1)
    assert ("card.silent", CARDS[2]) not in court.raised
    court.site.more[JOB, "job.state"] = "aborted"
    court.site.states, court.site.behind = dict.fromkeys(court.site.places, "gone"), set()
    court.site.places[1] = "n2/card0"
    court.run(7)
    assert ("card.silent", CARDS[2]) in court.raised
    del court.site.more[JOB, "job.state"]
    court.site.states = {}
    court.run(2)
    assert court.raised == set()
