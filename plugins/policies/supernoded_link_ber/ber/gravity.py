"""How bad a link above the limit is. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import Severity
from supernoded_link_ber.ber.exposure import find_bounds
from supernoded_link_ber.ber.judging import Finding
from supernoded_link_ber.ber.sources import COUNTERS

GRAVE = 10.0  # times the limit that the rate is at least, by its lower bound of 95 % (ours): two errors a second at 200 Gb/s and 1e-12
LOSSES = COUNTERS["link.fec.uncorrected"]
LOST_POLLS = 2  # polls with lost code words (ours): one burst may be a hand at the cable, two are the link
LATELY = 300.0  # seconds in which these must have been (ours)


def find_gravity(raised: Sequence[Finding], findings: Sequence[Finding], limit: float, now: float) -> tuple[Severity, str]:
    """CRITICAL, and why as a clause, when the rate is many times the limit or code words are being lost; else WARNING.

    A lost code word is a packet that has to be sent again: the collective waits for it, so the job feels it.
    """
    polls = max((_count_losing(one, now) for one in findings if one.counter is LOSSES), default=0)
    if polls >= LOST_POLLS:
        return Severity.CRITICAL, f"; code words were lost in {polls} polls of the last {LATELY:.0f} s"
    for one in raised:
        window = one.window
        if window is not None and window.bits > 0.0 and find_bounds(window.errors)[0] * one.counter.worth / window.bits >= GRAVE * limit:
            return Severity.CRITICAL, f"; that is {GRAVE:g} times the limit or more"
    return Severity.WARNING, ""


def _count_losing(finding: Finding, now: float) -> int:
    """Polls, or joined ones taken as one, that found errors."""
    end, number = finding.track.at, 0
    for span in finding.track.spans:
        number += span.errors > 0.0 and now - end <= LATELY
        end = span.since
    return number
