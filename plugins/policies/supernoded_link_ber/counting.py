"""Counters of known and unknown width, with resets, ceilings and gaps, as errors in bits. Pure."""

from __future__ import annotations

import msgspec

from supernoded.plugin import Reading, State
from supernoded_link_ber.exposure import Span, remember


class Track(msgspec.Struct, frozen=True):
    """What is remembered of one error counter of one link."""

    at: float = -1.0  # when the baseline was read
    errors: float | None = None  # baseline; None = the next reading becomes it
    bits: float | None = None  # bits seen at the baseline, None = not known
    spans: tuple[Span, ...] = ()
    raised: bool = False


def is_saturated(reading: Reading) -> bool:
    """Whether a counter stands at its ceiling, as device plugins say it."""
    return reading.state is State.UNKNOWN and reading.note.startswith("saturated")


def count(track: Track, reading: Reading, bits: Reading | None, speed: float | None, window: float) -> Track:
    """Take in a newer total. It only ever adds errors that the counter has shown since the baseline; a reset shows none."""
    errors, total, at = as_number(reading), as_number(bits), reading.at
    if errors is None or at <= track.at:
        return track
    if track.errors is None or errors < track.errors or _fell(track.bits, total) or at - track.at > window:
        return msgspec.structs.replace(track, at=at, errors=errors, bits=total)
    if bits is not None and total is not None and track.bits is not None and bits.at <= track.at:
        return track  # the bits of this time have not been read yet
    seen, assumed = _expose(track, total, speed, at)
    spans = track.spans
    if seen > 0:
        spans = remember(spans, Span(track.at, errors - track.errors, seen, assumed), at - window)
    return Track(at, errors, total, spans, track.raised)


def as_number(reading: Reading | None) -> float | None:
    """The value of a GOOD number."""
    if reading is None or reading.state is not State.GOOD or not isinstance(reading.value, int | float):
        return None
    return float(reading.value)


def _fell(before: float | None, now: float | None) -> bool:
    return before is not None and now is not None and now < before


def _expose(track: Track, bits: float | None, speed: float | None, at: float) -> tuple[float, bool]:
    """Bits seen since the baseline; where none were counted, what the link can at most have carried (speed in Gb/s)."""
    if bits is not None and track.bits is not None and bits > track.bits:
        return bits - track.bits, False
    return ((speed or 0.0) * 1e9 * (at - track.at), True)
