"""All feeds are gone, or one of them: rules 5, 10, 11 and 13, and the near misses."""

from __future__ import annotations

import pytest

from supernoded.model import Level, Severity
from supernoded_power.settings import PowerSettings
from tests.plugins.power.site import POWER, Bench, find_rule, level, make_site, read, ups

RAISED, CLEAR, UNSURE = Level.RAISED, Level.CLEAR, Level.UNSURE
MAINS = ("ol", 230.0)
SAG = ("ol", 0.0)
BATTERY = ("ob", 0.0)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (MAINS, MAINS, CLEAR),
        (SAG, SAG, RAISED),
        (BATTERY, BATTERY, RAISED),
        (BATTERY, SAG, RAISED),
        (BATTERY, MAINS, CLEAR),  # one feed never
        (BATTERY, ("ol ob", 0.0), UNSURE),  # a conflict is no evidence
        (BATTERY, (None, None), UNSURE),  # the other feed unknown
        (("ol", 212.0), ("ol", 212.0), CLEAR),  # a dip of 8 %
        (("ob test", 230.0), ("ol", 230.0), CLEAR),
        (("ob test", 230.0), ("ob test", 230.0), CLEAR),  # self-tests at the same time
        (("ob cal", 0.0), BATTERY, RAISED),  # a sag during calibration
        (("ol chrg lb", 230.0), ("ol chrg", 230.0), CLEAR),  # recharging after an outage
        (("ol chrg", 0.0), ("ol chrg", 0.0), RAISED),  # a sag during it
        (("ol eco", 0.0), ("ol eco", 0.0), RAISED),  # in economy mode the load feels it
        (("ol fsd", 230.0), ("ol fsd", 230.0), CLEAR),  # FSD on mains needs a second source (facility 7.6)
        (("ol lb rb", 230.0), MAINS, CLEAR),  # nut#2347
    ],
)
def test_an_outage_is_when_no_feed_has_mains(
    a: tuple[str | None, float | None], b: tuple[str | None, float | None], expected: Level
) -> None:
    assert level(Bench(find_rule("power.outage")), POWER, ups("A", *a), ups("B", *b)) is expected


def test_it_lasts_till_the_mains_are_back_to_stay() -> None:
    bench = Bench(find_rule("power.outage"))
    level(bench, POWER, ups("A", *BATTERY), ups("B", *BATTERY))
    assert level(bench, POWER, ups("A", *MAINS, 10.0), ups("B", *MAINS, 10.0)) is RAISED
    assert level(bench, POWER, ups("A", *MAINS, 39.0), ups("B", *MAINS, 39.0)) is RAISED
    assert level(bench, POWER, ups("A", *MAINS, 40.0), ups("B", *MAINS, 40.0)) is CLEAR


def test_three_sags_in_30_s_are_one_outage() -> None:
    bench, seen = Bench(find_rule("power.outage")), []
    for second in range(60):
        state = SAG if second in {0, 10, 20} else MAINS
        seen.append(level(bench, POWER, ups("A", *state, float(second)), ups("B", *state, float(second))))
    assert seen == [RAISED] * 51 + [CLEAR] * 9


def test_a_generator_is_not_the_mains() -> None:
    bench = Bench(find_rule("power.outage", PowerSettings(generator=True)))
    level(bench, POWER, ups("A", *BATTERY), ups("B", *BATTERY))
    for at in (12.0, 50.0, 3000.0):
        verdict = bench.tell(ups("A", *MAINS, at), ups("B", *MAINS, at))[POWER]
        assert verdict.level is RAISED
    assert "a second break is to be expected" in verdict.text
    level(bench, POWER, ups("A", *SAG, 3001.0), ups("B", *SAG, 3001.0))
    assert level(bench, POWER, ups("A", *MAINS, 3003.0), ups("B", *MAINS, 3003.0)) is RAISED
    assert level(bench, POWER, ups("A", *MAINS, 3033.0), ups("B", *MAINS, 3033.0)) is CLEAR


def test_a_generator_that_fails_is_an_outage_that_goes_on() -> None:
    bench = Bench(find_rule("power.outage", PowerSettings(generator=True)))
    for at, state in ((0.0, BATTERY), (12.0, MAINS), (20.0, BATTERY), (60.0, BATTERY)):
        verdict = bench.tell(ups("A", *state, at), ups("B", *state, at))[POWER]
        assert verdict.level is RAISED
    assert verdict.text.startswith("no feed has mains")


def test_one_ups_that_dies_on_battery_leaves_the_outage_an_outage() -> None:
    bench = Bench(find_rule("power.outage"))
    level(bench, POWER, ups("A", *BATTERY), ups("B", *BATTERY))
    assert level(bench, POWER, ups("A", "ob", 0.0, 5.0, pdu=0.0), ups("B", *BATTERY, 5.0)) is RAISED
    assert level(bench, POWER, ups("A", None, None, 9.0), ups("B", *BATTERY, 9.0)) is RAISED


def test_it_says_what_each_view_shows() -> None:
    verdict = Bench(find_rule("power.outage")).tell(ups("A", "ob", 0.0, pdu=229.0), ups("B", "ol", 180.0))[POWER]
    assert verdict.severity is Severity.CRITICAL
    assert verdict.text == (
        "no feed has mains: feed/A is on battery (its input is at 0 V, 100 % below 230 V, the limit is 10 %; "
        "pdu/A1 reads 229 V); "
        "feed/B has sagged (on line; its input is at 180 V, 22 % below 230 V, the limit is 10 %)"
    )


def test_a_sag_between_two_looks_is_seen_by_the_shed_that_it_set_off() -> None:
    bench = Bench(find_rule("power.outage"))

    def look(at: float, age: float | None) -> Level:
        return level(bench, POWER, ups("A", *MAINS, at), ups("B", *MAINS, at), [read("pdu/A1", "pdu.event_age", age, at)])

    assert [look(0.0, None), look(1.0, 86_400.0), look(2.0, 0.4), look(31.0, 29.4)] == [CLEAR, CLEAR, RAISED, RAISED]
    assert look(32.0, 30.4) is CLEAR


def test_a_shed_that_nobody_saw_the_cause_of_is_told_in_one_sentence_with_the_pdus_own_times() -> None:
    bench = Bench(find_rule("power.outage"))
    bench.tell(ups("A", *MAINS), ups("B", *MAINS))
    fired = [read(pdu, "pdu.event_age", 0.4, 1.0) for pdu in ("pdu/A1", "pdu/B1")] + [read("pdu/A1", "pdu.shed_delay", 2.96, 1.0)]
    assert bench.tell(fired)[POWER].text == (
        "pdu/A1 and pdu/B1 shed 0.4 s ago by their own clocks, 3.0 ms after the trigger, so that no feed had mains, if only for a moment; "
        "no UPS has been read since"
    )
    assert bench.tell(ups("A", *MAINS, 2.0), [read("pdu/A1", "pdu.event_age", 1.4, 2.0)])[POWER].text.endswith(
        "if only for a moment; now feed/A has mains (on line; its input is at 230 V); feed/B has mains (on line; its input is at 230 V)"
    )
    gone = bench.tell(ups("A", *BATTERY, 3.0), ups("B", *BATTERY, 3.0))[POWER]
    assert gone.text.startswith("no feed has mains: ")
    assert gone.text.endswith(" shed 2.4 s ago by their own clocks, 3.0 ms after the trigger")


def test_one_feed_that_is_read_a_moment_before_the_other_when_both_come_back_is_not_lost() -> None:
    bench = Bench(find_rule("power.feed_lost"))
    bench.tell(ups("A", *BATTERY), ups("B", *BATTERY))
    bench.tell(ups("A", *BATTERY, 60.0), ups("B", *BATTERY, 60.0))
    assert level(bench, "feed/A", ups("B", *MAINS, 61.0)) is UNSURE
    assert level(bench, "feed/A", ups("A", *MAINS, 62.0)) is CLEAR


def test_a_restart_in_the_middle_forgets_neither_the_outage_nor_the_time_since() -> None:
    bench = Bench(find_rule("power.outage", PowerSettings(generator=True)))
    bench.tell(ups("A", *BATTERY), ups("B", *BATTERY))
    later = Bench(find_rule("power.outage", PowerSettings(generator=True)))  # whose history is empty
    later.memory = bench.memory
    assert level(later, POWER, ups("A", *MAINS, 20.0), ups("B", *MAINS, 20.0)) is RAISED
    assert "generator" in later.tell(ups("A", *MAINS, 90.0), ups("B", *MAINS, 90.0))[POWER].text


def test_a_site_without_feeds_has_no_outage() -> None:
    site = make_site(ups=[], pdus=[], nodes=[{"name": "n0", "cards": 1}])
    assert Bench(find_rule("power.outage", site=site)).ask(0.0) == {}


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (BATTERY, MAINS, {"feed/A": RAISED, "feed/B": CLEAR}),
        (MAINS, MAINS, {"feed/A": CLEAR, "feed/B": CLEAR}),
        (BATTERY, BATTERY, {"feed/A": UNSURE, "feed/B": UNSURE}),  # that is the outage
        (("ol ob", 0.0), MAINS, {"feed/A": UNSURE, "feed/B": CLEAR}),
        (("ob cal", 230.0), MAINS, {"feed/A": CLEAR, "feed/B": CLEAR}),
        (("off", 0.0), MAINS, {"feed/A": RAISED, "feed/B": CLEAR}),
    ],
)
def test_one_feed_lost(a: tuple[str, float], b: tuple[str, float], expected: dict[str, Level]) -> None:
    bench = Bench(find_rule("power.feed_lost"))
    first = bench.tell(ups("A", *a), ups("B", *b))
    assert all(verdict.level is not RAISED for verdict in first.values())  # the other may be gone, too, and not have been read since
    verdicts = bench.tell(ups("A", *a, 3.0), ups("B", *b, 3.0))
    assert {subject: verdict.level for subject, verdict in verdicts.items()} == expected


def test_a_blink_of_one_feed_is_no_lost_feed() -> None:
    bench = Bench(find_rule("power.feed_lost"))
    assert level(bench, "feed/A", ups("A", *SAG), ups("B", *MAINS)) is UNSURE
    assert level(bench, "feed/A", ups("A", *MAINS, 1.0), ups("B", *MAINS, 1.0)) is CLEAR
    assert level(bench, "feed/A", ups("A", *SAG, 2.0), ups("B", *MAINS, 2.0)) is UNSURE
    assert level(bench, "feed/A", ups("A", *SAG, 5.0), ups("B", *MAINS, 5.0)) is RAISED
