"""Counters: resets, ceilings, gaps, clocks and bare rates."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from supernoded.plugin import Reading
from supernoded_link_ber.ber.counting import Carriage, Track, count
from supernoded_link_ber.ber.sources import COUNTERS, POST_FEC
from tests.plugins.link_ber.ber.lives import BITS, POLL, SATURATED, reading

SYMBOLS, PACKETS, RATE = COUNTERS["link.symbol_errors"], COUNTERS["link.receive_errors"], COUNTERS[POST_FEC]
STEPS = st.lists(
    st.one_of(st.tuples(st.just("grow"), st.integers(0, 400)), st.sampled_from([("reset", 0), ("gap", 0), ("blind", 0), ("down", 0)])),
    max_size=60,
)


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


@given(width=st.sampled_from([4, 8, 16]), script=STEPS)
def test_no_sequence_invents_errors(width: int, script: list[tuple[str, int]]) -> None:
    device, track, at = Counter(width), Track(), 0.0
    for what, errors in script:
        at += 50_000.0 if what == "gap" else POLL
        device.grow(errors)
        if what == "reset":
            device.total = 0
        shown = device.show(at)
        bits = None if what == "blind" else reading("link.bits", at * 2e11, at)
        link = Carriage(bits, 200.0, is_down=what == "down")
        replaced = msgspec.structs.replace(track, errors=None)
        track = replaced if shown.value is None else count(track, shown, link, SYMBOLS, 3600.0)
        counted = sum(span.errors for span in track.spans)
        assert all(span.errors >= 0 and span.bits > 0 for span in track.spans)
        assert counted <= device.true


def test_a_counter_of_the_line_sees_idle_symbols_and_one_of_packets_does_not() -> None:
    first = Carriage(reading("link.bits", 1e9, 0.0), 200.0)
    later = Carriage(reading("link.bits", 1e9 + 0.2 * BITS, POLL), 200.0)
    for counter, bits in ((SYMBOLS, BITS), (PACKETS, 0.2 * BITS)):
        track = count(Track(), reading("link.symbol_errors", 5.0, 0.0), first, counter, 3600.0)
        track = count(track, reading("link.symbol_errors", 6.0, POLL), later, counter, 3600.0)
        assert [(span.errors, span.bits) for span in track.spans] == [(1.0, bits)]
        assert track.counted


def test_packet_errors_that_come_before_their_bits_wait_for_them() -> None:
    link = Carriage(reading("link.bits", 1e9, 0.0), 200.0)
    track = count(Track(), reading("link.receive_errors", 0.0, 0.0), link, PACKETS, 3600.0)
    assert count(track, reading("link.receive_errors", 5.0, POLL), link, PACKETS, 3600.0) == track
    track = count(track, reading("link.receive_errors", 5.0, POLL), Carriage(reading("link.bits", 2e9, POLL), None), PACKETS, 3600.0)
    assert [(span.errors, span.bits) for span in track.spans] == [(5.0, 1e9)]


def follow_rates(rates: list[float], *, is_recent: bool) -> list[tuple[float, float]]:
    track = Track()
    for number, rate in enumerate(rates):
        told = reading(POST_FEC, rate, number * POLL)
        track = count(track, told, Carriage(None, 200.0), RATE, 3600.0, is_recent=is_recent)
    return [(round(span.errors, 6), span.bits) for span in track.spans][::-1]


def test_a_bare_rate_of_the_last_interval_is_taken_as_it_is() -> None:
    assert follow_rates([9e-9, 5e-12, 5e-12], is_recent=True) == [(5.0, BITS), (5.0, BITS)]
    assert follow_rates([5e-12, 0.0], is_recent=True) == [(0.0, BITS)]


def test_a_rate_of_the_last_interval_says_nothing_of_the_time_before() -> None:
    track = count(Track(), reading(POST_FEC, 0.0, 0.0), Carriage(None, 200.0), RATE, 3600.0, is_recent=True)
    track = count(track, reading(POST_FEC, 5e-12, 60.0), Carriage(None, 200.0), RATE, 3600.0, is_recent=True)
    assert [(span.errors, span.bits) for span in track.spans] == [(5.0, BITS)]


def test_a_bare_rate_of_unknown_meaning_proves_only_what_both_meanings_do() -> None:
    assert follow_rates([9e-9, 9e-9, 9e-9], is_recent=False) == []  # the same figure again is no news
    assert follow_rates([4e-12, 3e-12, 5e-12], is_recent=False) == [(0.0, BITS), (5.0, BITS)]


@given(st.lists(st.integers(0, 300), min_size=2, max_size=40))
def test_an_average_since_a_reset_never_proves_more_errors_than_there_were(errors: list[int]) -> None:
    total, rates = 0, []
    for polls, new in enumerate(errors, start=1):
        total += new
        rates.append(total / (polls * BITS))
    track = Track()
    for number, rate in enumerate(rates):
        track = count(track, reading(POST_FEC, rate, number * POLL), Carriage(None, 200.0), RATE, 3600.0)
    assert sum(span.errors for span in track.spans) <= sum(errors) + 1e-6
