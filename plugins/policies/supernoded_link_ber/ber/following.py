"""What several counters of one link say together, and the memory of them all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from supernoded.plugin import Level, Reading
from supernoded_link_ber.ber.counting import Carriage, Track
from supernoded_link_ber.ber.exposure import sum_since, surprise
from supernoded_link_ber.ber.judging import Finding, Judge
from supernoded_link_ber.ber.sources import BITS, COUNTERS, FEC, NO_FEC, PRE_FEC, SPEED, STATE
from supernoded_link_ber.looking import Glimpse, Told

SKEW = 1.0  # seconds by which two sensors may read the same poll apart (ours)
Tracks = dict[str, Track]  # quantity and source -> what is remembered
_NEW = Track()


class BerMemory(msgspec.Struct, frozen=True):
    """Subject -> counter -> what is remembered of it."""

    tracks: dict[str, Tracks] = {}


def find_date(tracks: Tracks) -> float:
    """When one of them was last read."""
    return max((track.at for track in tracks.values()), default=0.0)


def land(track: Track, now: float) -> Track:
    """A track from the future is one from before the clock was set back: only whether it was raised still counts."""
    return track if track.at <= now + 1.0 else Track(raised=track.raised)


def list_counters(seen: Glimpse) -> Iterator[tuple[str, Told]]:
    """Each counter of a link and what its sources tell. Before correction only counts where there is none."""
    for quantity in COUNTERS:
        told = seen.told(quantity, seen.port)
        if told and (quantity != PRE_FEC or (seen.text(FEC, seen.port) or "") in NO_FEC):
            yield quantity, told


def find_bits(seen: Glimpse, source: str) -> Reading | None:
    """Bits received, by the same source where it counts them, else always by the same other one: totals of two are never mixed."""
    told = seen.told(BITS, seen.port)
    return told.get(source) or next(iter(told.values()), None)


def follow(seen: Glimpse, tracks: Tracks, judge: Judge) -> tuple[Tracks, list[Finding]]:
    """Take in what is new of one link, and what each of its counters says."""
    kept, findings, speed = {key: land(track, seen.now) for key, track in tracks.items()}, list[Finding](), seen.number(SPEED, seen.port)
    down = seen.number(STATE, seen.port) == 0.0
    for quantity, told in list_counters(seen):
        for source, reading in told.items():
            key = f"{quantity} {source}"
            kept[key], finding = judge.weigh(kept.get(key, _NEW), reading, Carriage(find_bits(seen, source), speed, is_down=down))
            findings.append(finding)
    return kept, findings


def find_overrule(finding: Finding, others: Sequence[Finding], judge: Judge) -> Finding | None:
    """The better ranked counter that would have shown these errors in the same time, and is clean.

    One that is read more seldom says nothing of the errors since its last reading.
    """
    window = finding.window
    if window is None:
        return None
    for other in others:
        if other.counter.rank >= finding.counter.rank or other.level is not Level.CLEAR or not other.track.spans:
            continue
        since, worth = max(window.since, other.track.spans[-1].since), other.counter.worth  # of what was before, the other has forgotten
        due = _sum_between(finding.track, since, other.track.at) * finding.counter.worth / worth
        its = sum_since(other.track.spans, since)
        below = its.errors * worth <= judge.limit * its.bits and its.errors < due
        if below and surprise(its.errors, due) >= judge.clear_at:
            return other
    return None


def _sum_between(track: Track, since: float, until: float) -> float:
    """Errors of the spans that lie wholly between the two: where in a span its errors came is not known."""
    total, end = 0.0, track.at
    for span in track.spans:
        if end <= until + SKEW and span.since >= since:
            total += span.errors
        end = span.since
    return total
