"""A supply that is there and gives nothing while another carries the node."""

from __future__ import annotations

import pytest

from supernoded.model import Level, Reading, Severity, Verdict
from tests.plugins.power.site import Bench, Trouble, find_remedy, find_rule, job, kinds, read

RAISED, CLEAR, UNSURE = Level.RAISED, Level.CLEAR, Level.UNSURE
LOOK = 30.0  # seconds between two looks


def psu(slot: int, watts: float | None, state: str | None = "ok", present: float | None = 1.0, at: float = 0.0) -> list[Reading]:
    subject = f"n0/psu{slot}"
    return [
        read(subject, "psu.power", watts, at),
        read(subject, "psu.present", present, at),
        read(subject, "psu.state", state, at),
    ]


def redundancy(word: str | None, at: float = 0.0) -> list[Reading]:
    return [read("n0", "psu.redundancy", word, at, note="" if word else "its sensor tells nothing")]


def begin(maintenance: tuple[str, ...] = ()) -> Bench:
    return Bench(find_rule("psu.lost", maintenance=maintenance), fresh_for=60.0)


def look(bench: Bench, *readings: list[Reading]) -> Verdict:
    verdicts = bench.tell(*readings)
    assert list(verdicts) == ["n0"]  # one incident, of the node
    return verdicts["n0"]


def look_twice(bench: Bench, first: list[Reading], second: list[Reading], word: str | None = None) -> Verdict:
    """Two looks that show the same; the second verdict."""
    both = [*first, *second, *(redundancy(word) if word else [])]
    look(bench, both)
    return look(bench, [read(one.subject, one.quantity, one.value, LOOK, note=one.note) for one in both])


def test_two_supplies_that_share_the_load_are_well() -> None:
    verdict = look_twice(begin(), psu(0, 390.0), psu(1, 400.0), "full")
    assert (verdict.level, verdict.text) == (CLEAR, "n0 runs on psu0 and psu1 (790 W)")


def test_nothing_is_said_of_a_node_without_such_readings() -> None:
    assert begin().ask(0.0) == {}


@pytest.mark.parametrize("word", [None, "lost", "degraded"])
def test_one_that_is_there_and_gives_nothing_is_raised_at_the_second_look(word: str | None) -> None:
    bench = begin()
    first = look(bench, psu(0, 0.0, "low"), psu(1, 780.0), redundancy(word))
    assert (first.level, "as read once" in first.text) == (UNSURE, True)
    assert look(bench, redundancy(word, 10.0)).level is (RAISED if word == "lost" else UNSURE)  # of the supply nothing newer was read
    verdict = look(bench, psu(0, 0.0, "low", at=LOOK), psu(1, 780.0, at=LOOK), redundancy(word, LOOK))
    assert (verdict.level, verdict.severity) == (RAISED, Severity.WARNING)
    assert verdict.text.startswith(
        "n0/psu0: present and gives 0 W, at or below its lower critical threshold: its feed may be lost; n0 runs on psu1 alone (780 W)"
    )


@pytest.mark.parametrize(("watts", "state"), [(0.0, "ok"), (0.0, "critical"), (12.0, "low"), (9.0, "input-lost"), (None, "input-lost")])
def test_what_counts_as_nothing(watts: float | None, state: str) -> None:
    assert look_twice(begin(), psu(0, watts, state), psu(1, 780.0)).level is RAISED


def test_one_low_sample_is_no_trouble() -> None:
    bench = begin()
    levels = [look(bench, psu(0, watts, at=at), psu(1, 500.0, at=at)).level for at, watts in ((0.0, 300.0), (30.0, 0.0), (60.0, 300.0))]
    assert levels == [CLEAR, UNSURE, CLEAR]
    assert look(bench, psu(0, 0.0, at=90.0), psu(1, 500.0, at=90.0)).level is UNSURE  # the one before counts no more


@pytest.mark.parametrize("watts", [None, 0.0])
@pytest.mark.parametrize("word", ["full", "degraded", "lost"])
def test_a_supply_that_is_absent_on_purpose_is_no_trouble(watts: float | None, word: str) -> None:
    verdict = look_twice(begin(), psu(0, watts, "input-lost", present=0.0), psu(1, 500.0), word)
    assert (verdict.level, verdict.text) == (CLEAR, "n0 runs on psu1 alone (500 W); psu0 is not there")


def test_nor_is_one_in_standby() -> None:
    verdict = look_twice(begin(), psu(0, 0.0, "standby"), psu(1, 500.0), "full")
    assert (verdict.level, verdict.text) == (CLEAR, "n0 runs on psu1 alone (500 W); psu0 stands by")
    assert look_twice(begin(), psu(0, 0.0, "standby"), psu(1, 500.0), "lost").level is RAISED  # it should be redundant


def test_it_is_over_when_good_readings_say_so_and_not_before() -> None:
    bench = begin()
    assert look_twice(bench, psu(0, 0.0, "low"), psu(1, 780.0), "lost").level is RAISED
    assert look(bench, psu(0, None, None, None, at=60.0), psu(1, 780.0, at=60.0), redundancy(None, 60.0)).level is UNSURE
    assert look(bench, psu(0, 0.0, "low", at=90.0), psu(1, 780.0, at=90.0), redundancy(None, 90.0)).level is RAISED  # a gap is no recovery
    assert look(bench, psu(0, 390.0, at=120.0), psu(1, 390.0, at=120.0), redundancy(None, 120.0)).level is UNSURE
    assert look(bench, psu(0, 390.0, at=150.0), psu(1, 390.0, at=150.0), redundancy("degraded", 150.0)).level is UNSURE
    assert look(bench, psu(0, 390.0, at=180.0), psu(1, 390.0, at=180.0), redundancy("full", 180.0)).level is CLEAR


def test_readings_that_have_become_old_tell_nothing() -> None:
    bench = begin()
    look_twice(bench, psu(0, 390.0), psu(1, 390.0))
    verdict = bench.ask(LOOK + 61.0)["n0"]
    assert (verdict.level, len(verdict.unseen)) == (UNSURE, 2)


def test_sensors_that_say_that_nothing_carries_a_node_that_runs_are_not_believed() -> None:
    verdict = look_twice(begin(), psu(0, 0.0, "low"), psu(1, 0.0, "low"), "lost")
    assert verdict.level is UNSURE
    assert (
        verdict.text == "every supply of n0 that is there gives nothing, and n0 runs: its sensors contradict that, so nothing is believed"
    )
    assert len(verdict.unseen) == 2


def test_nothing_is_known_while_the_others_are_not_read_or_its_presence_is_not_told() -> None:
    assert look_twice(begin(), psu(0, 0.0, "low"), psu(1, None, None)).level is UNSURE
    assert look_twice(begin(), psu(0, 0.0, "ok", present=None), psu(1, 500.0)).level is UNSURE


def test_redundancy_alone_is_the_same_trouble() -> None:
    verdict = look_twice(begin(), psu(0, 390.0), psu(1, 390.0), "lost")
    assert (verdict.level, verdict.severity) == (RAISED, Severity.WARNING)
    assert verdict.text == "n0 runs on psu0 and psu1 (780 W), redundancy is lost, and which supply it is cannot be told"


def test_what_does_not_suffice_is_critical() -> None:
    assert look_twice(begin(), psu(0, 0.0, "low"), psu(1, 780.0), "insufficient").severity is Severity.CRITICAL


def test_supplies_that_no_meter_watches_are_judged_by_their_words() -> None:
    def words(first: str, at: float) -> list[Reading]:
        return [one for some in (psu(0, None, first, at=at), psu(1, None, at=at)) for one in some if one.quantity != "psu.power"]

    bench = begin()
    assert [look(bench, words("input-lost", at)).level for at in (0.0, LOOK)] == [UNSURE, RAISED]
    assert look(bench, words("ok", 60.0)).level is CLEAR


def test_the_log_of_the_bmc_is_evidence_and_no_reason() -> None:
    said = [read("n0", "sel.standing", {"Power Supply #0x21: Power Supply AC lost", "Fan #0x30: low"})]
    assert look(begin(), psu(0, 390.0), psu(1, 390.0), said).level is CLEAR
    bench = begin()
    look(bench, psu(0, 0.0, "low"), psu(1, 780.0), said)
    assert look(bench, psu(0, 0.0, "low", at=LOOK), psu(1, 780.0, at=LOOK)).text.endswith(
        "; its event log says 'Power Supply #0x21: Power Supply AC lost'"
    )


def test_a_node_that_people_work_on_is_theirs() -> None:
    assert look_twice(begin(("n0",)), psu(0, 0.0, "low"), psu(1, 780.0)).level is UNSURE


def test_its_jobs_are_saved_once_and_people_are_told_and_no_more() -> None:
    trouble = Trouble(find_remedy("psu.lost"), subject="n0", severity=Severity.WARNING)
    trouble.see(job(step_time=10.0, save_time=30.0, durable_age=500.0))
    assert [kinds(steps) for steps in trouble.play()] == [[("job.checkpoint", "job/train")], [("notify", "n0")]]
    trouble.see(job(3600.0, step_time=10.0, save_time=30.0, durable_age=4000.0))
    assert trouble.ask() == ()
