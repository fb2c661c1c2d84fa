"""A temperature behind a slow transmitter with steps, whose register is renewed now and then: what it really is."""

from __future__ import annotations

import msgspec

LEVEL, SLOPE = 0.9, 0.7  # shares of a surprise that go into level and slope (alpha-beta; tuned on the reference plant)
CALM = 0.5  # of those, while a surprise is no more than one of the transmitter's steps
FADES = 0.7  # of a slope is kept at each reading meanwhile: steps that come back with the coolant must not feed themselves
PACE = 0.2  # share of a new interval between readings in the mean one
LONGEST = 3.0  # s beyond the newest reading for which a slope is believed
RESTART = 15.0  # s without a reading, after which an old slope says nothing


class Transmitter(msgspec.Struct, frozen=True):
    """How it tells: its lag, s, its steps, K, and how often its register is renewed, s."""

    lag: float
    step: float
    refresh: float = 0.0


class Track(msgspec.Struct, frozen=True):
    """Level, C, and slope, K/s, as of `at`."""

    level: float
    slope: float
    at: float
    of: str = ""  # whose: another source starts a new track
    raw: float = 0.0  # as read
    every: float = 0.0  # s between two readings, of late


def follow(track: Track | None, raw: float, less: float, at: float, of: str, by: Transmitter) -> Track:
    """The track of `raw` less something known, after a reading. A reading that is not newer, or not yet renewed, changes nothing."""
    value = raw - less
    if track is None or track.of != of or at - track.at > RESTART:
        return Track(value, 0.0, at, of, raw)
    seconds = at - track.at
    if seconds <= 0.0 or (raw == track.raw and seconds < by.refresh - 0.5):
        return track
    expected = track.level + track.slope * seconds
    surprise = value - expected
    share, kept = (1.0, 1.0) if abs(surprise) > 1.05 * by.step else (CALM, FADES)
    every = track.every + (seconds - track.every) * PACE if track.every else seconds
    slope = kept * (track.slope + SLOPE * share * surprise / seconds)
    return Track(expected + LEVEL * share * surprise, slope, at, of, raw, every)


def estimate(track: Track, now: float, by: Transmitter) -> float:
    """The temperature at `now`, with the transmitter's lag made up for."""
    return track.level + track.slope * (min(max(0.0, now - track.at), LONGEST) + by.lag)
