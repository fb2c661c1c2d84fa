"""The bit error rate: what raises, what never does, what cannot be judged, and which counter decides."""

from __future__ import annotations

from random import Random

import msgspec
import pytest

from supernoded.plugin import Level, Severity
from supernoded_link_ber.ber.counting import Track
from supernoded_link_ber.ber.following import BerMemory
from supernoded_link_ber.ber.rules import BerRule, OverruledRule
from tests.plugins.link_ber.ber.lives import BITS, LINK, POLL, SATURATED, Life, draw, make_gallery, make_judge, reading


def make_life(quantity: str = "link.symbol_errors", poll: float = POLL) -> Life[BerMemory]:
    return Life(BerRule(make_judge(), make_gallery()), quantity, poll)


def find_track(life: Life[BerMemory]) -> Track:
    return life.memory.tracks[LINK][f"{life.quantity} "]


def test_many_errors_in_two_polls_raise_with_the_numbers() -> None:
    life = make_life()
    assert life.poll(12.0).level is Level.UNSURE  # a baseline is no news
    assert life.poll(252.0).level is Level.CLEAR  # one poll alone is a blip
    verdict = life.poll(492.0)
    assert verdict.level is Level.RAISED
    assert verdict.text == (
        f"{LINK}: 480 symbol errors in 2.0e12 bits in the last 10 s, a BER of 2.4e-10 (2.2e-10 to 2.6e-10), above 1e-12; "
        "that is 10 times the limit or more"
    )


def test_it_is_critical_from_ten_times_the_limit() -> None:
    """At 5 times it is a warning; what gets worse is told again."""
    life = make_life()
    mild = [life.poll(5.0 * n) for n in range(20)][-1]
    assert (mild.level, mild.severity) == (Level.RAISED, Severity.WARNING)
    grave = [life.poll(95.0 + 40.0 * n) for n in range(1, 6)][-1]
    assert (grave.level, grave.severity) == (Level.RAISED, Severity.CRITICAL)


def test_it_is_critical_when_code_words_are_lost() -> None:
    """In two polls; in one of them it may have been a hand at the cable."""
    life = make_life()
    said = [life.poll(5.0 * n, fec__uncorrected=0.0 if n < 15 else 1.0).severity for n in range(18)]
    assert set(said) == {Severity.WARNING}
    verdict = life.poll(90.0, fec__uncorrected=2.0)
    assert (verdict.level, verdict.severity) == (Level.RAISED, Severity.CRITICAL)
    assert "code words were lost in 2 polls of the last 300 s" in verdict.text


def test_a_single_bad_sample_raises_nothing_however_bad() -> None:
    """A burst of one poll is not a dying link (Q5)."""
    life = make_life()
    assert Level.RAISED not in life.run([0.0, *[5e5] * 200])


def test_a_blip_of_ten_seconds_is_told_and_clears() -> None:
    life = make_life()
    levels = life.run([0.0, 0.0, 1000.0, 2000.0, *[2000.0] * 40])
    assert levels.index(Level.RAISED) == 3
    assert levels[-1] is Level.CLEAR
    assert 12 <= levels.count(Level.RAISED) <= 20  # 60 s, and what the bad spans were joined with


def test_near_misses_raise_nothing() -> None:
    """One error in 5 s at 200 Gb/s is what the limit itself expects (Q5); two are no alarm either."""
    assert set(make_life().run(map(float, range(200)))) == {Level.UNSURE, Level.CLEAR}
    assert make_life().run([0.0, 2.0, 2.0]) == [Level.UNSURE, Level.CLEAR, Level.CLEAR]


@pytest.mark.parametrize("bits", [1.0, 1e3, 1e6])
def test_two_errors_on_an_idle_link_raise_nothing(bits: float) -> None:
    life = make_life("link.receive_errors")
    for errors in (0.0, 1.0, 2.0, 2.0):
        assert life.poll(errors, bits).level is not Level.RAISED


def test_a_slow_rot_is_found_over_a_longer_window() -> None:
    """Four errors a poll are each within chance, together they are not."""
    levels = make_life().run(4.0 * n for n in range(40))
    assert levels[1:6] == [Level.CLEAR] * 5
    assert Level.RAISED in levels[6:13]
    assert levels[-1] is Level.RAISED


@pytest.mark.parametrize("poll", [1.0, 5.0, 60.0])
def test_a_link_at_the_limit_raises_no_false_alarm(poll: float) -> None:
    chance, total, life = Random(11), 0, make_life(poll=poll)
    for _ in range(10_000):
        total += draw(chance, poll / POLL)
        assert life.poll(float(total)).level is not Level.RAISED


@pytest.mark.parametrize(
    ("quantity", "share", "mean", "most"),  # seconds; packets with a fifth of the traffic have a fifth of the evidence
    [
        ("link.symbol_errors", 0.2, 62.0, 75.0),
        ("link.effective_errors", 1.0, 62.0, 75.0),
        ("link.receive_errors", 1.0, 62.0, 75.0),
        ("link.receive_errors", 0.2, 105.0, 140.0),
    ],
)
def test_a_creeping_link_is_told_a_minute_after_crossing(quantity: str, share: float, mean: float, most: float) -> None:
    """From 1e-12 to 1e-11 in 60 s, and on at 1e-11; the line errs at its full rate, packets with the traffic."""
    delays = []
    for seed in range(30):
        chance, life, total, polls = Random(seed), make_life(quantity), 0, 0
        life.run([0.0] * 10)
        while life.poll(float(total), share * BITS).level is not Level.RAISED:
            polls += 1
            rate = 10.0 ** min(1.0, (polls - 0.5) * POLL / 60.0)
            total += draw(chance, rate * (share if quantity == "link.receive_errors" else 1.0))
        delays.append(polls * POLL)
    assert sum(delays) / len(delays) <= mean
    assert max(delays) <= most


def test_it_clears_when_enough_bits_were_clean_and_not_before() -> None:
    life = make_life()
    life.run([0.0, 250.0, 500.0])
    levels = life.run([500.0] * 20)
    assert levels[:11] == [Level.RAISED] * 11
    assert levels[-1] is Level.CLEAR
    assert levels.index(Level.CLEAR) == levels.count(Level.RAISED)  # and does not flap
    assert life.run([700.0, 980.0])[-1] is Level.RAISED  # a new burst is a new alarm


def test_a_link_that_still_errs_stays_raised() -> None:
    life = make_life()
    life.run([0.0, 250.0, 500.0])
    assert set(life.run(500.0 + 5.0 * n for n in range(200))) == {Level.RAISED}


@pytest.mark.parametrize("step", [10.0, 50.0, 3000.0])
def test_a_clean_past_clears_no_link_that_errs_now(step: float) -> None:
    life = make_life()
    life.run([0.0] * 600)
    levels = life.run(step * n for n in range(1, 200))
    first = levels.index(Level.RAISED)
    assert first <= 3
    assert set(levels[first:]) == {Level.RAISED}


def test_a_reset_is_a_new_baseline() -> None:
    life = make_life()
    life.run([500.0, 500.0])
    assert life.run([0.0, 0.0, 1.0]) == [Level.CLEAR] * 3


def test_bits_that_fall_are_a_reset_too() -> None:
    life = make_life()
    life.run([10.0, 10.0])
    assert life.poll(500.0, bits=-6e15).level is Level.CLEAR
    assert find_track(life).errors == 500.0
    assert sum(span.errors for span in find_track(life).spans) == 0.0


def test_a_restart_keeps_baseline_and_sums() -> None:
    life, whole = make_life(), make_life()
    totals = [4.0 * n for n in range(60)]
    expected = whole.run(totals)
    levels = []
    for total in totals:
        levels.append(life.poll(total).level)
        life.restart()
    assert levels == expected
    assert Level.RAISED in levels


def test_asking_again_without_news_changes_nothing() -> None:
    life = make_life()
    life.run([0.0, 3.0])
    memory = life.memory
    assert [life.judge().level for _ in range(3)] == [Level.CLEAR] * 3
    assert life.memory == memory


def test_without_speed_the_bits_received_stand_in_and_that_is_said() -> None:
    life = make_life()
    for total in (0.0, 240.0, 480.0):
        verdict = life.poll(total, speed=None)
    assert verdict.level is Level.RAISED
    assert "480 symbol errors in 2.0e12 bits received (the speed is not known)" in verdict.text


def test_packets_without_bits_are_held_against_what_the_link_can_have_carried() -> None:
    life = make_life("link.receive_errors")
    for total in (0.0, 240.0, 480.0):
        verdict = life.poll(total, bits=None)
    assert verdict.level is Level.RAISED
    assert "480 receive errors in 2.0e12 bits at most (speed x time, as no bits were counted)" in verdict.text


def test_without_bits_and_speed_nothing_can_be_said() -> None:
    life = make_life()
    life.poll(0.0, bits=None, speed=None)
    verdict = life.poll(480.0, bits=None, speed=None)
    assert verdict.level is Level.UNSURE
    assert "no bits have been seen" in verdict.text


def test_a_counter_that_cannot_be_read_is_unsure_and_counts_on_later() -> None:
    life = make_life()
    life.run([0.0, 0.0])
    verdict = life.poll(None, note="no number: 'N/A (no PMA)'")
    assert verdict.level is Level.UNSURE
    assert verdict.unseen == ("symbol errors cannot be judged, they are unknown: no number: 'N/A (no PMA)'",)
    assert life.run([300.0, 600.0])[-1] is Level.RAISED


def test_a_stale_counter_is_unsure() -> None:
    life = make_life()
    life.run([0.0, 0.0])
    life.at += 60.0
    assert life.judge().level is Level.UNSURE


def test_a_saturated_counter_is_unsure_and_its_reset_a_baseline() -> None:
    life = make_life()
    life.run([60_000.0, 60_000.0])
    assert life.poll(None, note=SATURATED).level is Level.UNSURE
    assert life.poll(65_000.0).level is Level.CLEAR  # not 5,000 errors: what happened at the ceiling is not known
    assert sum(span.errors for span in find_track(life).spans) == 0.0


def test_packets_do_not_vouch_for_a_line_that_cannot_be_seen() -> None:
    life = make_life()
    life.run([0.0, 0.0])
    verdicts = [life.poll(None, note=SATURATED, receive_errors=0.0) for _ in range(3)]
    assert verdicts[-1].level is Level.UNSURE
    assert verdicts[-1].unseen


def test_a_raised_counter_that_goes_blind_is_not_cleared_by_another() -> None:
    life = make_life()
    for total in (0.0, 400.0, 800.0):
        verdict = life.poll(total, receive_errors=0.0)
    assert verdict.level is Level.RAISED
    assert {life.poll(None, note=SATURATED, receive_errors=0.0).level for _ in range(40)} == {Level.UNSURE}


def test_a_long_gap_is_a_new_baseline_and_a_shorter_one_counts() -> None:
    for gap, errors in ((7200.0, 0.0), (600.0, 5000.0)):
        life = make_life()
        life.run([0.0, 0.0])
        life.at += gap
        life.poll(5000.0)
        assert sum(span.errors for span in find_track(life).spans) == errors
        assert life.poll(5000.0).level is Level.CLEAR


def test_errors_while_the_link_is_down_are_not_the_lines() -> None:
    life = make_life()
    life.poll(0.0, state=1.0)
    levels = [life.poll(float(total), state=0.0).level for total in (5000, 9000, 9500)]
    assert levels == [Level.UNSURE] * 3
    assert life.poll(9500.0, state=1.0).level is Level.CLEAR


def test_a_link_that_goes_down_is_not_cleared_by_that() -> None:
    life = make_life()
    life.run([0.0, 400.0, 800.0])
    assert {life.poll(800.0, state=0.0).level for _ in range(40)} == {Level.UNSURE}


def test_a_link_not_read_for_a_week_is_forgotten() -> None:
    life = make_life()
    life.run([0.0, 0.0])
    life.restart()
    life.at += 8 * 86400.0
    assert (life.judge_all(), life.memory.tracks) == ([], {})


def test_a_clock_that_was_set_back_blinds_it_for_no_longer_than_a_baseline() -> None:
    life = make_life()
    life.run([0.0, 0.0])
    life.at -= 86_400.0
    life.restart()  # the next life of the daemon
    assert life.poll(0.0).level is Level.UNSURE  # not clear: what was seen was seen at another time
    assert life.run([500.0, 1_000.0])[-1] is Level.RAISED


def test_a_lane_is_no_port() -> None:
    life = make_life()
    life.history.add([reading("link.symbol_errors", 1.0, life.at, subject=f"{LINK}/lane2")], 15.0)
    assert life.judge_all() == []


def test_uncorrectable_blocks_weigh_sixteen_bits() -> None:
    """One block in 80 s is the limit: five in 60 s are not yet ten times that; twenty are told."""
    life = make_life("link.fec.uncorrected")
    assert Level.RAISED not in life.run([0.0, *(float(n // 6) for n in range(30))])
    levels = life.run(5.0 + 2.0 * n for n in range(1, 12))
    assert Level.RAISED in levels
    assert "uncorrectable blocks of 16 wrong bits or more" in life.poll(30.0).text


def test_before_correction_counts_only_where_there_is_none() -> None:
    for code, level in (("none", Level.RAISED), ("rs-fec (544,514)", None)):
        life = Life(BerRule(make_judge(), make_gallery()), "link.ber.pre_fec")
        for rate in (1e-9, 2e-9, 3e-9, 4e-9):
            life.at += POLL
            life.read({"link.ber.pre_fec": rate, "link.fec": code, "link.speed": 200.0})
            verdicts = life.judge_all()
        assert (verdicts[0].level if verdicts else None) is level


def test_two_sources_of_one_counter_are_two_counters() -> None:
    life = make_life()
    for total in (0.0, 1.0, 2.0):
        life.at += POLL
        life.read({"link.symbol_errors": total, "link.speed": 200.0}, source="fabric.sysfs")
        life.read({"link.symbol_errors": 9e6 + total}, source="fabric.ethtool")
        verdict = life.judge()
    assert verdict.level is Level.CLEAR
    assert list(life.memory.tracks[LINK]) == ["link.symbol_errors fabric.ethtool", "link.symbol_errors fabric.sysfs"]


def test_bits_of_two_sources_are_never_mixed() -> None:
    """The first of them goes blind; the other one's total, a thousand times greater, is no traffic."""
    life = make_life("link.receive_errors")
    for poll in range(4):
        life.at += POLL
        life.read({"link.receive_errors": 100.0 * poll, "link.speed": 200.0}, source="tool")
        life.read({"link.bits": 1e12 * poll if poll < 2 else None}, source="a")
        life.read({"link.bits": 1e18 + 1e12 * poll}, source="b")
        life.judge()
    (track,) = life.memory.tracks[LINK].values()
    assert max(span.bits for span in track.spans) <= 2e12


def test_a_source_that_measures_its_last_interval_is_believed_in_full() -> None:
    life = Life(BerRule(make_judge(), make_gallery()), "link.ber.post_fec")
    levels = []
    for _ in range(8):
        life.at += POLL
        life.read({"link.ber.post_fec": 1e-11, "link.speed": 200.0}, source="redfish.links")
        levels.append(life.judge().level)
    assert levels[-1] is Level.RAISED


def test_healthy_rates_are_zero_not_numbers_to_alarm_at() -> None:
    """What a tool prints as 15E-255 comes as 0.0; the rate before correction does not matter here."""
    life = Life(BerRule(make_judge(), make_gallery()), "link.ber.post_fec")
    levels = [life.poll(0.0, ber__pre_fec=1e-7, fec="rs-fec (544,514)").level for _ in range(30)]
    assert set(levels[1:]) == {Level.CLEAR}


# --- rank -------------------------------------------------------------------------------------------------------------------------


def disagree(rule: BerRule | OverruledRule, effective_too: bool) -> tuple[Level, str]:
    life = Life(rule)
    for poll in range(10):
        verdict = life.poll(300.0 * poll, effective_errors=300.0 * poll if effective_too else 0.0)
    return verdict.level, verdict.text


def test_a_clean_better_counter_overrules_a_worse_one_and_that_is_a_warning() -> None:
    level, text = disagree(BerRule(make_judge(), make_gallery()), effective_too=False)
    assert level is Level.CLEAR
    assert "symbol errors in" in text
    assert text.endswith("overruled, as effective errors are none of them")
    level, text = disagree(OverruledRule(make_judge(), make_gallery()), effective_too=False)
    assert level is Level.RAISED
    assert "but no effective errors in" in text
    assert text.endswith("the latter decides, so this is a warning only")


def test_a_better_counter_that_was_not_read_since_denies_nothing() -> None:
    """It is asked once a minute: first the alarm stands, and then it is overruled."""
    life, levels = make_life(), list[Level]()
    for poll in range(30):
        errors = 500.0 * max(0, poll - 14)
        clean = {} if poll % 12 else {"effective_errors": 0.0}
        levels.append(life.poll(errors, **clean).level)  # type: ignore[arg-type]  # by keyword, values all
    assert levels[16:24] == [Level.RAISED] * 8
    assert levels[24:27] == [Level.CLEAR] * 3  # until that reading is too old


def test_counters_that_agree_are_an_alarm_and_no_contradiction() -> None:
    level, text = disagree(BerRule(make_judge(), make_gallery()), effective_too=True)
    assert level is Level.RAISED
    assert "effective errors in" in text  # the best ranked speaks
    assert disagree(OverruledRule(make_judge(), make_gallery()), effective_too=True)[0] is Level.CLEAR


def test_a_bare_rate_never_says_that_a_counter_is_wrong() -> None:
    """An average since a reset years ago hardly moves, whatever happens."""
    life = make_life()
    for poll in range(10):
        verdict = life.poll(300.0 * poll, ber__post_fec=1e-15 - 1e-20 * poll)
    assert verdict.level is Level.RAISED


def test_a_better_counter_that_cannot_be_read_overrules_nothing() -> None:
    life = make_life()
    for poll in range(5):
        verdict = life.poll(300.0 * poll, effective_errors=None)
    assert verdict.level is Level.RAISED


def test_one_counter_is_never_a_contradiction() -> None:
    life = Life(OverruledRule(make_judge(), make_gallery()))
    life.at += POLL
    life.read({"link.symbol_errors": 5.0})
    assert life.judge_all() == []


def test_its_memory_is_small() -> None:
    """16 ports with six counters, after an hour of polls."""
    life, chance, total = make_life(), Random(1), 0
    for _ in range(720):
        total += draw(chance, 1.0)
        life.poll(float(total))
    track = find_track(life)
    assert len(track.spans) <= 20
    assert 96 * len(msgspec.json.encode(track)) < 96_000
