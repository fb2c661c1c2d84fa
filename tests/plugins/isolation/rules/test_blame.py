"""Who is blamed, and who is not: fleet.md section 5, rows 9, 11 to 13, 17, 19 and 20, and near misses."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest

from supernoded.plugin import Level, Reading
from tests.plugins.isolation.site import CARDS, JOB, SETTINGS, Court, Site

CARD = CARDS[2]


def test_a_card_that_hangs_with_its_rank_is_blamed(court: Court) -> None:
    court.site.hung.add(CARD)
    court.site.silence(2)
    court.run(1)
    assert court.raised == set()  # one look of the tool may be a hiccup
    court.run(1)
    assert court.raised == {("card.silent", CARD)}
    text = court.text("card.silent", CARD)
    assert "job/llm/rank2 is silent, and 6 others wait for it (ranks)" in text
    assert "has no answer from it while its siblings answer: timed out (tool)" in text


def test_a_job_that_hangs_for_nobody_in_particular_and_one_card_that_does_not_answer(court: Court) -> None:
    court.site.states = dict.fromkeys(court.site.places, "waiting")
    court.site.hung.add(CARD)
    court.run(2)
    assert court.raised == {("card.silent", CARD)}


def test_a_silent_rank_on_a_card_that_looks_well_blames_the_process(court: Court) -> None:
    court.site.silence(2)
    court.run(8)
    assert court.raised == {("rank.silent", f"{JOB}/rank2")}
    assert "its process is to blame, and not its card" in court.text("rank.silent", f"{JOB}/rank2")


def test_a_second_time_on_the_same_card_speaks_against_it(court: Court) -> None:
    court.site.silence(2)
    court.run(2)
    court.site.states, court.site.behind = {}, set()
    court.run(4)
    assert court.raised == set()
    court.site.silence(2)
    court.run(2)
    assert court.raised == {("card.silent", CARD)}
    assert "a process on it was blamed and started anew" in court.text("card.silent", CARD)


def test_an_echo_of_the_first_time_is_no_second_one(court: Court) -> None:
    """The job is ended, which its launcher's node says first; what another node then still tells of the rank was before that."""
    court.site.silence(2)
    court.run(2)
    states, behind = court.site.states, court.site.behind
    court.site.states, court.site.behind = {}, set()
    court.run(1, 1.0)
    court.site.states, court.site.behind = states, behind
    court.run(1, 1.0)
    assert not any(kind == "card.silent" for kind, _ in court.raised)


def test_not_when_that_is_long_ago(court: Court) -> None:
    court.site.silence(2)
    court.run(2)
    court.site.states, court.site.behind = {}, set()
    court.run(4)
    court.site.now += SETTINGS.again_s
    court.site.silence(2)
    court.run(2)
    assert court.raised == {("rank.silent", f"{JOB}/rank2")}


def test_a_card_that_one_source_does_not_see_and_another_has_answers_from_needs_a_second_view(court: Court) -> None:
    def see(value: float) -> None:
        court.site.pass_time()
        reading = Reading(subject=CARD, quantity="card.present", value=value, unit="1", at=court.site.now, source="bus")
        court.site.history.add([reading], 13.0)
        court.ask()

    for _ in range(12):
        see(0.0)
    assert court.raised == set()
    assert "another view has to say so" in court.text("card.faulty", CARD)
    court.site.silence(2)
    for _ in range(2):
        see(0.0)
    assert court.raised == {("card.silent", CARD)}


def stumble(court: Court, rank: int) -> None:
    """Its process hangs, is started anew, and steps."""
    court.site.silence(rank)
    court.run(2)
    court.site.states, court.site.behind = {}, set()
    court.run(8)


def test_the_past_of_a_card_is_not_that_of_the_next_one_in_its_slot(court: Court) -> None:
    stumble(court, 2)
    court.site.more[CARD, "card.serial"] = "S-new"
    court.run(2)
    court.site.silence(2)
    court.run(4)
    assert court.raised == {("rank.silent", f"{JOB}/rank2")}


def test_a_trouble_that_goes_with_its_rank_from_card_to_card_is_not_the_second_cards(court: Court) -> None:
    stumble(court, 2)
    court.site.places[2] = CARDS[7]
    stumble(court, 2)
    court.site.silence(2)
    court.run(4)
    assert court.raised == {("rank.silent", f"{JOB}/rank2")}


def test_a_process_is_not_blamed_before_its_card_was_seen_well_since(court: Court) -> None:
    court.site.hung.add(CARD)
    court.run(1)
    court.site.silence(2)
    court.site.history.add([one for one in court.site.read() if one.subject.startswith("job/")], 13.0)
    court.ask()
    assert ("rank.silent", f"{JOB}/rank2") not in court.raised


def test_one_hiccup_of_a_tool_blames_nobody(court: Court) -> None:
    court.site.hung.add(CARD)
    court.run(1)
    court.site.hung.clear()
    court.run(4)
    assert court.raised == set()


def test_a_tool_that_hangs_for_all_blames_no_card(court: Court) -> None:
    """Row 19: never because the checker is slow."""
    court.site.hung.update(CARDS[:4])
    court.run(8)
    court.site.silence(2)
    court.run(8)
    assert court.raised == set()


@pytest.mark.parametrize("code", ["8C03A000", "XID48", "remap-failed", "XID79"])
def test_a_code_that_takes_a_card_out_needs_a_second_look_and_time(court: Court, code: str) -> None:
    court.site.codes[CARD] = frozenset({code})
    court.run(3)
    assert court.raised == set()
    court.run(4)
    assert court.raised == {("card.faulty", CARD)}


@pytest.mark.parametrize("code", ["A4025021", "8C084E00", "XID94", "XID13", "DEAD0001", "warning", "alarm"])
def test_codes_that_do_not_take_it_out(court: Court, code: str) -> None:
    """Row 12: a level below reset is told as card.fault, and no card is replaced for it alone."""
    court.site.codes[CARD] = frozenset({code})
    court.run(20)
    assert court.raised == set()


def test_a_weaker_code_and_another_view_do(court: Court) -> None:
    court.site.codes[CARD] = frozenset({"DEAD0001"})
    court.site.silence(2)
    court.run(2)
    assert court.raised == {("card.silent", CARD)}


def test_a_card_that_is_gone_while_its_rank_died(court: Court) -> None:
    court.site.gone.add(CARD)
    court.site.silence(2)
    court.site.states[2] = "gone"
    court.run(3)
    assert court.raised == {("card.silent", CARD)}


def test_it_is_one_incident_of_one_kind(court: Court) -> None:
    court.site.gone.add(CARD)
    court.site.silence(2)
    court.run(20)
    assert court.raised == {("card.silent", CARD)}
    court.site.states, court.site.behind = {}, set()
    court.site.places[2] = "n2/card0"
    court.run(20)
    assert court.raised == set()
    assert court.levels["card.silent", CARD].level is Level.CLEAR


def test_faulty_first_stays_faulty_when_the_job_waits_later(court: Court) -> None:
    court.site.codes[CARD] = frozenset({"8C03A000"})
    court.run(8)
    court.site.silence(2)
    court.run(4)
    assert court.raised == {("card.faulty", CARD)}


def test_after_an_abort_nobody_is_silent(court: Court) -> None:
    court.site.states = dict.fromkeys(court.site.places, "gone")
    court.run(8)
    assert court.raised == set()


def test_a_job_that_died_with_its_card_is_not_kept_waiting(court: Court) -> None:
    court.site.gone.add(CARD)
    court.site.states = dict.fromkeys(court.site.places, "gone")
    court.run(3)
    assert court.raised == {("card.faulty", CARD)}


@pytest.mark.parametrize("state", ["saving", "phase"])
def test_a_save_or_an_evaluation_is_no_hang(court: Court, state: str) -> None:
    court.site.states = {**dict.fromkeys(court.site.places, "waiting"), 2: state}
    court.run(20)
    assert court.raised == set()


def test_ranks_that_are_alone_on_their_nodes_hold_nobody_up(court: Court) -> None:
    """Each daemon calls its only rank silent; those that have all done the same step are a job that hangs."""
    court.site.states = dict.fromkeys(court.site.places, "silent")
    court.run(3)
    assert court.raised == set()


def test_a_restart_without_memory_clears_what_is_over(site: Site) -> None:
    court = Court(site)
    court.run(1)
    assert court.levels["card.faulty", CARD].level is Level.CLEAR
    assert court.levels["rank.silent", f"{JOB}/rank2"].level is Level.CLEAR
    assert court.levels["card.software", JOB].level is Level.CLEAR


def test_memories_survive_json(court: Court) -> None:
    court.site.hung.add(CARD)
    court.site.silence(2)
    court.run(3)
    for rule in court.rules:
        memory = court.memories[rule.kind]
        assert msgspec.json.decode(msgspec.json.encode(memory), type=type(memory)) == memory


def test_uncorrected_memory_errors_that_come_and_a_silent_rank(court: Court) -> None:
    court.site.more[CARD, "card.errors_uncorrected"] = 3.0
    court.run(2)
    court.site.more[CARD, "card.errors_uncorrected"] = 5.0
    court.run(1)
    assert court.raised == set()
    court.site.silence(2)
    court.run(2)
    assert court.raised == {("card.silent", CARD)}
    assert "2 uncorrected memory errors came" in court.text("card.silent", CARD)


def test_errors_at_first_sight_are_a_baseline(court: Court) -> None:
    court.site.more[CARD, "card.errors_uncorrected"] = 500.0
    court.site.silence(2)
    court.run(3)
    assert court.raised == {("rank.silent", f"{JOB}/rank2")}


def set_ports(court: Court, cards: Iterable[str], *values: float) -> None:
    court.site.more |= {(f"{card}/port{port}", "link.state"): value for card in cards for port, value in enumerate(values)}


def test_all_ports_down_is_a_view_of_its_own_and_one_port_is_not(court: Court) -> None:
    set_ports(court, [CARD], 1.0, 1.0)
    court.run(1)
    set_ports(court, [CARD], 0.0, 1.0)
    court.site.silence(2)
    court.run(3)
    assert court.raised == {("rank.silent", f"{JOB}/rank2")}
    set_ports(court, [CARD], 0.0, 0.0)
    court.run(2)
    assert ("card.silent", CARD) in court.raised


def test_ports_that_were_never_up_speak_against_nobody(court: Court) -> None:
    """A rack without cables: the one silent card is replaced, and its siblings are no suspects."""
    set_ports(court, CARDS, 0.0, 0.0)
    court.run(2)
    court.site.states = dict.fromkeys(court.site.places, "waiting")
    court.site.hung.add(CARD)
    court.run(4)
    assert court.raised == {("card.silent", CARD)}


def test_that_a_port_was_up_is_remembered_for_longer_than_windows_are(court: Court) -> None:
    set_ports(court, [CARD], 1.0, 1.0)
    court.run(1)
    set_ports(court, [CARD], 0.0, 0.0)
    court.run(12)
    court.site.silence(2)
    court.run(2)
    assert ("card.silent", CARD) in court.raised
    assert "are down, and so is what is seen of their other ends (network)" in court.text("card.silent", CARD)
