"""What several counters of one link say together, and the memory of them all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from supernoded.plugin import Level, Reading, View
from supernoded_link_ber.ber.counting import Carriage, Track
from supernoded_link_ber.ber.exposure import sum_since, surprise
from supernoded_link_ber.ber.judging import Finding, Judge
from supernoded_link_ber.ber.sources import BITS, COUNTERS, FEC, NO_FEC, PRE_FEC, SPEED, STATE, is_lane

FORGET = 7 * 86400.0  # seconds after which a counter that is no longer read is forgotten
SKEW = 1.0  # seconds by which two sensors may read the same poll apart (ours)
WATCHES = dict.fromkeys((*COUNTERS, BITS, SPEED, STATE, FEC), 60.0)  # only the newest counts
Tracks = dict[str, Track]  # quantity and source -> what is remembered


class BerMemory(msgspec.Struct, frozen=True):
    """Subject -> counter -> what is remembered of it."""

    tracks: dict[str, Tracks] = {}

    def keep(self, now: float) -> dict[str, Tracks]:
        """What was read lately, fit for `now`."""
        return {
            subject: {key: land(track, now) for key, track in of_it.items()}
            for subject, of_it in self.tracks.items()
            if any(now - one.at < FORGET for one in of_it.values())
        }


def land(track: Track, now: float) -> Track:
    """A track from the future is one from before the clock was set back: only whether it was raised still counts."""
    return track if track.at <= now + 1.0 else Track(raised=track.raised)


def list_links(seen: View) -> list[str]:
    """Every port with a counter of errors."""
    return sorted({subject for quantity in COUNTERS for subject in seen.subjects(quantity) if not is_lane(subject)})


def list_counters(seen: View, subject: str) -> Iterator[tuple[str, str]]:
    """Quantity and source of each counter of a link. Before correction only counts where there is none."""
    for quantity in COUNTERS:
        sources = seen.sources(quantity, subject)
        if sources and (quantity != PRE_FEC or (seen.text(FEC, subject) or "") in NO_FEC):
            yield from ((quantity, source) for source in sources)


def find_bits(seen: View, subject: str, source: str) -> Reading | None:
    """Bits received, by the same source where it counts them, else always by the same other one: totals of two are never mixed."""
    sources = seen.sources(BITS, subject)
    if not sources:
        return None
    return seen.newest(BITS, subject, source if source in sources else sources[0])


def follow(seen: View, subject: str, tracks: Tracks, judge: Judge) -> tuple[Tracks, list[Finding]]:
    """Take in what is new of one link, and what each of its counters says."""
    kept, findings, speed, down = dict(tracks), list[Finding](), seen.number(SPEED, subject), seen.number(STATE, subject) == 0.0
    for quantity, source in list_counters(seen, subject):
        reading = seen.newest(quantity, subject, source)
        if reading is None:
            continue
        link = Carriage(find_bits(seen, subject, source), speed, is_down=down)
        key = f"{quantity} {source}"
        kept[key], finding = judge.weigh(kept.get(key, Track()), reading, link)
        findings.append(finding)
    return kept, findings


def find_overrule(finding: Finding, others: Sequence[Finding], judge: Judge) -> Finding | None:
    """The better ranked counter that would have shown these errors in the same time, and is clean.

    One that is read more seldom says nothing of the errors since its last reading.
    """
    if finding.window is None:
        return None
    for other in others:
        if other.counter.rank >= finding.counter.rank or other.level is not Level.CLEAR or not other.track.spans:
            continue
        since, worth = finding.window.since, other.counter.worth
        due = _sum_between(finding.track, since, other.track.at) * finding.counter.worth / worth
        window = sum_since(other.track.spans, since)
        below = window.errors * worth <= judge.limit * window.bits and window.errors < due
        if below and surprise(window.errors, due) >= judge.clear_at:
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
