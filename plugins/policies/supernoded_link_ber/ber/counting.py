"""Counters of known and unknown width, with resets, ceilings and gaps, as errors in bits. Pure."""

from __future__ import annotations

import msgspec

from supernoded.plugin import Reading, State
from supernoded_link_ber.ber.bank import Sums
from supernoded_link_ber.ber.exposure import Span, Spans, remember
from supernoded_link_ber.ber.sources import RATES, Counter

RECENT_S = 5.0  # seconds that a rate of the last interval speaks of: the monitor reads every 5 s (L1)


class Track(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What is remembered of one error counter of one link by one source."""

    at: float = -1.0  # when the baseline was read
    errors: float | None = None  # baseline, of a bare rate the last one; None = the next reading becomes it
    bits: float | None = None  # bits received at the baseline, None = not known
    speed: float | None = None  # Gb/s, the last one known
    counted: bool = True  # the exposure is of the kind that it should be
    spans: Spans = ()
    sums: Sums = ()  # of the bank
    raised: bool = False


class Carriage(msgspec.Struct, frozen=True):
    """What else is known of the link of a counter."""

    bits: Reading | None  # the total received
    speed: float | None  # Gb/s
    is_down: bool = False


def is_saturated(reading: Reading) -> bool:
    """Whether a counter stands at its ceiling, as device plugins say it."""
    return reading.state is State.UNKNOWN and reading.note.startswith("saturated")


def as_number(reading: Reading | None) -> float | None:
    """The value of a GOOD number."""
    if reading is None or reading.state is not State.GOOD or not isinstance(reading.value, int | float):
        return None
    return float(reading.value)


def count(track: Track, reading: Reading, link: Carriage, counter: Counter, window: float, *, is_recent: bool = False) -> Track:
    """Take in a newer reading as a new span, if it shows errors and bits since the baseline.

    It only ever adds errors that the counter has shown since the baseline; a reset, a gap longer than `window` (s) and a time when the
    link was down show none. `is_recent`: a bare rate is that of the source's last interval.
    """
    errors, total, at = as_number(reading), as_number(link.bits), reading.at
    if errors is None or at <= track.at:
        return track
    is_rate = reading.quantity in RATES
    moved = msgspec.structs.replace(track, at=at, errors=errors, bits=total, speed=link.speed or track.speed)
    fell = not is_rate and track.errors is not None and errors < track.errors
    if track.errors is None or fell or _fell(track.bits, total) or at - track.at > window or link.is_down:
        return moved
    if not counter.on_line and total is not None and track.bits is not None and link.bits is not None and link.bits.at <= track.at:
        return track  # the bits of this time have not been read yet
    seen, counted = _expose(track, moved, counter)
    if is_rate and is_recent:
        seen *= min(1.0, RECENT_S / (at - track.at))
    fresh = _find_rate(track.errors, errors, is_recent=is_recent) if is_rate else 0.0
    if seen <= 0.0 or fresh is None:
        return moved
    span = Span(track.at, fresh * seen if is_rate else errors - track.errors, seen)
    return msgspec.structs.replace(moved, counted=counted, spans=remember(track.spans, span, at - window))


def _fell(before: float | None, now: float | None) -> bool:
    return before is not None and now is not None and now < before


def _find_rate(before: float, now: float, *, is_recent: bool) -> float | None:
    """What a bare rate proves of the time since the one before; None = nothing.

    With E errors in B bits since a reset, b more bits show now x b + (now - before) x B of them: `now` x b at least when it rises.
    When it falls there need have been none, and the same figure again may be the same measurement. The rate of the last interval alone is
    taken as it is; so both readings of the word are served by a bound that neither exceeds.
    """
    if is_recent or now == 0.0:
        return now
    if now == before:
        return None
    return now if now > before else 0.0


def _expose(track: Track, moved: Track, counter: Counter) -> tuple[float, bool]:
    """Bits that the counter looked at since the baseline, and whether they are of its kind (else the other kind stands in)."""
    line = (moved.speed or 0.0) * 1e9 * (moved.at - track.at)
    received = moved.bits - track.bits if moved.bits is not None and track.bits is not None else 0.0
    own, other = (line, received) if counter.on_line else (received, line)
    return (own, True) if own > 0.0 else (other, False)
