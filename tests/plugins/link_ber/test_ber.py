"""The bit error rate: what raises, what never does, and what cannot be judged."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.history import History
from supernoded.parts import Source
from supernoded.plugin import Level, Reading, State, Value, Verdict
from supernoded_fabric.recorded import read_sysfs_infiniband
from supernoded_link_ber.ber import BerMemory, BerRule
from supernoded_link_ber.counting import Track, count
from supernoded_link_ber.down import DownRule
from supernoded_link_ber.exposure import Span, find_clean, find_worst, remember, sum_newest, surprise
from supernoded_link_ber.saturated import SaturatedRule
from supernoded_link_ber.settings import LinkBerSettings

LINK = "n0/nic/mlx5_0/port1"
POLL = 5.0
BITS = 1e12  # 200 Gb/s for one poll (Q5)
SATURATED = "saturated, cannot measure (65535 is the ceiling of 16 bits; reset it)"


def reading(quantity: str, value: Value, at: float, note: str = "", unit: str = "1") -> Reading:
    state = State.UNKNOWN if value is None else State.GOOD
    return Reading(subject=LINK, quantity=quantity, value=value, unit=unit, at=at, state=state, note=note)


class Life:
    """A rule and what it has seen and remembers; `restart` is the daemon's."""

    def __init__(self, rule: BerRule | None = None) -> None:
        self.rule = rule or BerRule(1e-12, LinkBerSettings())
        self.history = History(self.rule.watches)
        self.memory = self.rule.start()
        self.at = 1e9
        self.bits = 7e15

    def poll(self, errors: float | None, bits: float | None = BITS, speed: float | None = None, note: str = "") -> Verdict:
        self.at += POLL
        readings = [reading("link.symbol_errors", errors, self.at, note)]
        if bits is not None:
            self.bits += bits
            readings.append(reading("link.bits", self.bits, self.at, unit="bit"))
        if speed is not None:
            readings.append(reading("link.speed", speed, self.at, unit="Gb/s"))
        self.history.add(readings, 2.5 * POLL)
        return self.judge()

    def judge(self) -> Verdict:
        self.memory, verdicts = self.rule.judge(self.history.view(self.at, self.rule.watches), self.memory)
        (verdict,) = verdicts
        return verdict

    def run(self, totals: Iterable[float]) -> list[Level]:
        return [self.poll(total).level for total in totals]

    def restart(self) -> None:
        self.memory = msgspec.json.decode(msgspec.json.encode(self.memory), type=BerMemory)
        self.history = History(self.rule.watches)


def test_many_errors_raise_with_the_numbers() -> None:
    life = Life()
    assert life.poll(12.0).level is Level.UNSURE  # a baseline is no news
    verdict = life.poll(492.0)
    assert verdict.level is Level.RAISED
    assert verdict.text == f"{LINK}: 480 symbol errors in 1.0e12 bits, a BER of 4.8e-10, above 1e-12"


def test_near_misses_raise_nothing() -> None:
    """One error in 5 s at 200 Gb/s is what the limit itself expects (Q5); two are no alarm either."""
    totals = list(range(200))
    assert set(Life().run(map(float, totals))) == {Level.UNSURE, Level.CLEAR}
    assert Life().run([0.0, 2.0]) == [Level.UNSURE, Level.CLEAR]


@pytest.mark.parametrize("bits", [1.0, 1e3, 1e6])
def test_two_errors_on_an_idle_link_raise_nothing(bits: float) -> None:
    life = Life()
    life.poll(0.0, bits)
    assert life.poll(2.0, bits).level is Level.CLEAR


def test_a_slow_rot_is_found_over_a_longer_window() -> None:
    """Four errors a poll are each within chance, together they are not."""
    levels = Life().run(4.0 * n for n in range(40))
    assert levels[1:3] == [Level.CLEAR, Level.CLEAR]
    assert levels[-1] is Level.RAISED


def test_a_link_at_the_limit_raises_no_false_alarm() -> None:
    chance, total, life = Random(11), 0, Life()
    for _ in range(20_000):  # 28 hours
        total += sum(chance.random() < 0.01 for _ in range(100))
        assert life.poll(float(total)).level is not Level.RAISED


def test_it_clears_when_enough_bits_were_clean_and_not_before() -> None:
    life = Life()
    life.run([0.0, 500.0])
    levels = life.run([500.0] * 20)
    assert levels[:12] == [Level.RAISED] * 12  # 60 s
    assert levels[-1] is Level.CLEAR
    assert levels.index(Level.CLEAR) == levels.count(Level.RAISED)  # and does not flap
    assert life.poll(980.0).level is Level.RAISED  # a new burst is a new alarm


def test_a_link_that_still_errs_stays_raised() -> None:
    life = Life()
    life.run([0.0, 500.0])
    assert set(life.run(500.0 + 5.0 * n for n in range(200))) == {Level.RAISED}


@pytest.mark.parametrize("step", [10.0, 50.0, 3000.0])
def test_a_clean_past_clears_no_link_that_errs_now(step: float) -> None:
    life = Life()
    life.run([0.0] * 600)
    levels = life.run(step * n for n in range(1, 200))
    first = levels.index(Level.RAISED)
    assert first <= 2
    assert set(levels[first:]) == {Level.RAISED}


def test_a_reset_is_a_new_baseline() -> None:
    life = Life()
    life.run([500.0, 500.0])
    assert life.run([0.0, 0.0, 1.0]) == [Level.CLEAR] * 3


def test_bits_that_fall_are_a_reset_too() -> None:
    life = Life()
    life.run([10.0, 10.0])
    assert life.poll(500.0, bits=-6e15).level is Level.CLEAR


def test_a_restart_keeps_baseline_and_window() -> None:
    life, whole = Life(), Life()
    totals = [4.0 * n for n in range(60)]
    expected = whole.run(totals)
    levels = []
    for total in totals:
        levels.append(life.poll(total).level)
        life.restart()
    assert levels == expected
    assert Level.RAISED in levels


def test_asking_again_without_news_changes_nothing() -> None:
    life = Life()
    life.run([0.0, 3.0])
    memory = life.memory
    assert [life.judge().level for _ in range(3)] == [Level.CLEAR] * 3
    assert life.memory == memory


def test_errors_that_come_before_their_bits_wait_for_them() -> None:
    life = Life()
    life.run([0.0, 0.0])
    life.at += POLL
    life.history.add([reading("link.symbol_errors", 5.0, life.at)], 15.0)
    assert life.judge().level is Level.CLEAR
    life.bits += BITS
    life.history.add([reading("link.bits", life.bits, life.at, unit="bit")], 15.0)
    life.judge()
    spans = life.memory.tracks[LINK]["link.symbol_errors"].spans
    assert (sum_newest(spans, len(spans)).errors, sum_newest(spans, len(spans)).bits) == (5.0, 2 * BITS)


def test_without_bits_the_speed_bounds_them_and_that_is_said() -> None:
    life = Life()
    life.poll(0.0, bits=None, speed=200.0)
    verdict = life.poll(480.0, bits=None, speed=200.0)
    assert verdict.level is Level.RAISED
    expected = "480 symbol errors in at most 1.0e12 bits (speed x time, as no bits were counted), a BER of at least 4.8e-10, above 1e-12"
    assert verdict.text == f"{LINK}: {expected}"


def test_without_bits_and_speed_nothing_can_be_said() -> None:
    life = Life()
    life.poll(0.0, bits=None)
    verdict = life.poll(480.0, bits=None)
    assert verdict.level is Level.UNSURE
    assert "no bits have been seen" in verdict.text


def test_a_counter_that_cannot_be_read_is_unsure_and_counts_on_later() -> None:
    life = Life()
    life.run([0.0, 0.0])
    verdict = life.poll(None, note="no number: 'N/A (no PMA)'")
    assert verdict.level is Level.UNSURE
    assert verdict.unseen == ("symbol errors cannot be judged, they are unknown: no number: 'N/A (no PMA)'",)
    assert life.poll(500.0).level is Level.RAISED


def test_a_stale_counter_is_unsure() -> None:
    life = Life()
    life.run([0.0, 0.0])
    life.at += 60.0
    assert life.judge().level is Level.UNSURE


def test_a_saturated_counter_is_unsure_and_its_reset_a_baseline() -> None:
    life = Life()
    life.run([60_000.0, 60_000.0])
    assert life.poll(None, note=SATURATED).level is Level.UNSURE
    assert life.poll(65_000.0).level is Level.CLEAR  # not 5,000 errors: what happened at the ceiling is not known


def test_a_long_gap_is_a_new_baseline() -> None:
    life = Life()
    life.run([0.0, 0.0])
    life.at += 7200.0
    life.poll(5000.0)
    assert life.poll(5000.0).level is Level.CLEAR


def test_receive_errors_alone_are_judged_too() -> None:
    rule = BerRule(1e-12, LinkBerSettings())
    history, memory = History(rule.watches), rule.start()
    for n in range(2):
        history.add([reading("link.receive_errors", 300.0 * n, 5.0 * n), reading("link.bits", BITS * n, 5.0 * n, unit="bit")], 15.0)
        memory, (verdict,) = rule.judge(history.view(5.0 * n, rule.watches), memory)
    assert verdict.level is Level.RAISED
    assert "300 receive errors in 1.0e12 bits" in verdict.text


def test_a_link_not_read_for_a_week_is_forgotten() -> None:
    life = Life()
    life.run([0.0, 0.0])
    life.restart()
    life.at += 8 * 86400.0
    memory, verdicts = life.rule.judge(life.history.view(life.at, life.rule.watches), life.memory)
    assert (memory.tracks, verdicts) == ({}, [])


# --- pure parts -------------------------------------------------------------------------------------------------------------------


def test_surprise_bounds_the_poisson_tail() -> None:
    for expected in (0.1, 1.0, 20.0):
        for errors in range(int(expected) + 1, 60):
            tail = 1.0 - sum(math.exp(-expected + n * math.log(expected) - math.lgamma(n + 1)) for n in range(errors))
            assert math.exp(-surprise(errors, expected)) >= tail - 1e-12
    assert surprise(0, 3.0) == pytest.approx(3.0)  # zero errors in 3e12 bits: 95 % (Q5)
    assert surprise(5.0, 5.0) == pytest.approx(0.0)


@given(st.lists(st.tuples(st.integers(0, 1000), st.floats(1.0, 1e13)), min_size=1, max_size=200))
def test_spans_lose_nothing_and_stay_few(polls: list[tuple[int, float]]) -> None:
    spans: tuple[Span, ...] = ()
    for at, (errors, bits) in enumerate(polls):
        spans = remember(spans, Span(float(at), float(errors), bits), -1.0)
    whole = sum_newest(spans, len(spans))
    assert whole.errors == sum(errors for errors, _ in polls)
    assert whole.bits == pytest.approx(sum(bits for _, bits in polls))
    assert whole.since == 0.0
    assert len(spans) <= 2 * (1 + math.log2(len(polls) + 1))
    assert [span.since for span in spans] == sorted((span.since for span in spans), reverse=True)


def test_old_spans_go() -> None:
    spans: tuple[Span, ...] = ()
    for at in range(1000):
        spans = remember(spans, Span(float(at), 1.0, 1.0), at - 100.0)
    assert spans[-1].since >= 899.0
    assert sum_newest(spans, len(spans)).errors > 25


def test_worst_and_clean_windows() -> None:
    spans = (Span(20.0, 0.0, 4e12), Span(10.0, 50.0, 1e12), Span(0.0, 0.0, 1e12))
    score, worst = find_worst(spans, 1e-12, 3)
    assert worst == 2
    assert score == pytest.approx(surprise(50.0, 5.0))
    assert find_worst(spans[:1], 1e-12, 3) == (0.0, 0)
    assert find_clean(spans, 1e-12, 3.0, 20.0) == 1
    assert find_clean(spans, 1e-12, 3.0, 15.0) == 0


class Counter:
    """A device's counter: `width` bits wide, may be reset, may be unreadable; knows how many errors there really were."""

    def __init__(self, width: int) -> None:
        self.ceiling, self.total, self.true = 2**width - 1, 0, 0

    def grow(self, errors: int) -> None:
        self.true += errors
        self.total = min(self.total + errors, self.ceiling)

    def show(self, at: float) -> Reading:
        full = self.total == self.ceiling
        return reading("link.symbol_errors", None if full else float(self.total), at, SATURATED if full else "")


steps = st.lists(
    st.one_of(st.tuples(st.just("grow"), st.integers(0, 400)), st.sampled_from([("reset", 0), ("gap", 0), ("blind", 0)])), max_size=60
)


@given(width=st.sampled_from([4, 8, 16]), script=steps)
def test_no_sequence_invents_errors(width: int, script: list[tuple[str, int]]) -> None:
    device, track, at = Counter(width), Track(), 0.0
    for what, errors in script:
        at += 50_000.0 if what == "gap" else POLL
        device.grow(errors)
        if what == "reset":
            device.total = 0
        shown = device.show(at)
        bits = None if what == "blind" else reading("link.bits", at * 2e11, at, unit="bit")
        track = msgspec.structs.replace(track, errors=None) if shown.value is None else count(track, shown, bits, 200.0, 3600.0)
        counted = sum(span.errors for span in track.spans)
        assert all(span.errors >= 0 and span.bits > 0 for span in track.spans)
        assert counted <= device.true


# --- the other two rules ----------------------------------------------------------------------------------------------------------


def levels_of(rule: DownRule | SaturatedRule, quantity: str, shown: Iterable[tuple[Value, str]]) -> Iterator[Verdict]:
    history, memory = History(rule.watches), rule.start()
    for n, (value, note) in enumerate(shown):
        history.add([reading(quantity, value, POLL * n, note)], 15.0)
        memory = msgspec.json.decode(msgspec.json.encode(memory), type=type(memory))  # a restart at every step
        memory, verdicts = rule.judge(history.view(POLL * n, rule.watches), memory)  # type: ignore[arg-type]  # of the rule's own type
        yield from verdicts


def test_a_link_that_was_up_goes_down() -> None:
    shown: list[tuple[Value, str]] = [(1.0, ""), (0.0, "DOWN, Polling"), (None, "no answer"), (1.0, "")]
    verdicts = list(levels_of(DownRule(), "link.state", shown))
    assert [verdict.level for verdict in verdicts] == [Level.CLEAR, Level.RAISED, Level.UNSURE, Level.CLEAR]
    assert verdicts[1].text == f"{LINK}: the link is down (DOWN, Polling), it was up before"


def test_a_link_that_was_never_up_is_nobodys_trouble() -> None:
    shown: list[tuple[Value, str]] = [(0.0, "DOWN, Disabled"), (None, "x"), (0.0, "")]
    verdicts = list(levels_of(DownRule(), "link.state", shown))
    assert [verdict.level for verdict in verdicts] == [Level.CLEAR, Level.UNSURE, Level.CLEAR]


def test_reaching_the_ceiling_is_an_event_and_a_reset_its_end() -> None:
    shown: list[tuple[Value, str]] = [(65_000.0, ""), (None, SATURATED), (None, "no answer"), (3.0, "")]
    verdicts = list(levels_of(SaturatedRule(), "link.symbol_errors", shown))
    assert [verdict.level for verdict in verdicts] == [Level.CLEAR, Level.RAISED, Level.RAISED, Level.CLEAR]
    assert "symbol errors has reached its ceiling and counts no more" in verdicts[1].text


def test_a_counter_at_its_ceiling_from_the_first_is_no_event() -> None:
    verdicts = list(levels_of(SaturatedRule(), "link.downed", [(None, SATURATED), (None, SATURATED), (0.0, "")]))
    assert [verdict.level for verdict in verdicts] == [Level.UNSURE, Level.UNSURE, Level.CLEAR]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("own", b"mlx5_0/ports/1/state\t4: ACTIVE\nmlx5_0/ports/1/counters/symbol_error\t9\nmlx5_0/ports/1/counters/link_downed\t255\n"),
        ("gpud_h100_sysfs_flat.tsv", None),
        ("gpud_pr943_saturated_counters.txt", None),
        ("sysfs_bad_values.txt", None),
    ],
)
def test_healthy_recordings_raise_nothing(name: str, data: bytes | None, request: pytest.FixtureRequest) -> None:
    if data is None:
        folder: Path = request.getfixturevalue("recordings")
        data = (folder / "ib" / name).read_bytes()
    rules: list[BerRule | DownRule | SaturatedRule] = [BerRule(1e-12, LinkBerSettings()), DownRule(), SaturatedRule()]
    for rule in rules:
        history, memory = History(rule.watches), rule.start()
        for at in (0.0, 5.0, 10.0, 600.0):
            history.add(read_sysfs_infiniband(Source(name=name, data=data, at=at)), 15.0)
            memory, verdicts = rule.judge(history.view(at, rule.watches), memory)  # type: ignore[arg-type]  # of the rule's own type
            assert Level.RAISED not in {verdict.level for verdict in verdicts}


def test_a_clock_that_was_set_back_blinds_it_for_no_longer_than_a_baseline() -> None:
    life = Life()
    life.poll(0.0)
    life.poll(0.0)
    life.at -= 86_400.0  # the next life of the daemon
    life.history = History(life.rule.watches)
    assert life.poll(0.0).level is Level.UNSURE  # not clear: what was seen was seen at another time
    assert life.poll(1_000.0).level is Level.RAISED
