"""What one error counter of one link says. Pure."""

from __future__ import annotations

import math

import msgspec

from supernoded.plugin import Level, Reading
from supernoded_link_ber.ber.bank import Bank, advance, count_expected, design, is_over
from supernoded_link_ber.ber.counting import Carriage, Track, as_number, count, is_saturated
from supernoded_link_ber.ber.exposure import Span, Spans, find_clean, find_worst, sum_newest
from supernoded_link_ber.ber.sources import COUNTERS, Counter
from supernoded_link_ber.ber.wording import say_window
from supernoded_link_ber.settings import LinkBerSettings

MOST_ANSWERS = 10_000  # counters of which the last answer is kept; ours


class Finding(msgspec.Struct, frozen=True, gc=False):
    """What one counter says: RAISED and CLEAR with the newest spans that show it, UNSURE with why."""

    level: Level
    counter: Counter
    track: Track
    reason: str = ""
    spans: Spans = ()

    @property
    def window(self) -> Span | None:
        """The spans as one."""
        return sum_newest(self.spans, len(self.spans)) if self.spans else None


class Judge:
    """Judges counters against a limit."""

    def __init__(self, limit: float, speed: float, settings: LinkBerSettings) -> None:
        self.limit, self.settings = limit, settings
        self._speed = speed  # Gb/s, where a link does not tell its own
        self._answers: dict[str, tuple[Track, Reading, Carriage, tuple[Track, Finding]]] = {}  # to what was last asked of each counter
        self.clear_at = -math.log(settings.false_clear)

    def weigh(self, track: Track, reading: Reading, link: Carriage) -> tuple[Track, Finding]:
        """The track with a newer reading, and what it says; two rules that ask the same are answered once."""
        key = f"{reading.subject} {reading.quantity} {reading.source}"
        known = self._answers.get(key)
        if known is None or known[1] is not reading or known[2] != link or known[0] != track:
            if len(self._answers) > MOST_ANSWERS:
                self._answers.clear()
            known = self._answers[key] = track, reading, link, self._weigh(track, reading, link)
        return known[3]

    def _weigh(self, track: Track, reading: Reading, link: Carriage) -> tuple[Track, Finding]:
        counter = COUNTERS[reading.quantity]
        if as_number(reading) is None:
            if is_saturated(reading):
                track = msgspec.structs.replace(track, errors=None)  # what it will show after a reset is a new baseline
            return track, Finding(
                Level.UNSURE, counter, track, f"{counter.name} cannot be judged, they are {reading.state.value}: {reading.note}"
            )
        is_recent = reading.source.startswith(self.settings.recent_sources)
        newer = count(track, reading, link, counter, self.settings.window_s, is_recent=is_recent)
        limit = self.limit / counter.worth
        if newer.spans and newer.spans is not track.spans:
            newer = self._advance(newer, limit)
        elif link.is_down:
            return newer, Finding(Level.UNSURE, counter, newer, f"{counter.name} cannot be judged while the link is down")
        if not newer.spans:
            reason = f"{counter.name} have a baseline of {newer.errors:g}, but no bits have been seen since"
            return newer, Finding(Level.UNSURE, counter, newer, reason)
        return self._decide(newer, counter, limit)

    def describe(self, finding: Finding) -> str:
        """The finding as a clause."""
        window, track = finding.window, finding.track
        if window is None:
            return finding.reason
        text = say_window(window, finding.counter, self.limit, track.at, counted=track.counted)
        return f"{text}{finding.reason}"

    def _advance(self, track: Track, limit: float) -> Track:
        newest = track.spans[0]
        if newest.errors <= 0.0 and not any(track.sums):
            return track  # without errors a sum of nothing stays so
        # The newest span is the newest poll: `remember` never joins it.
        sums = advance(track.sums, self._find_bank(track, limit), newest.errors, newest.bits * limit)
        return msgspec.structs.replace(track, sums=tuple([round(one, 4) for one in sums]))

    def _find_bank(self, track: Track, limit: float) -> Bank:
        speed = track.speed or self._speed
        return design(count_expected(limit, speed, self.settings.false_alarm_years))

    def _decide(self, track: Track, counter: Counter, limit: float) -> tuple[Track, Finding]:
        spans = track.spans
        is_bad = track.raised or (any(track.sums) and is_over(track.sums, self._find_bank(track, limit)))
        worst = find_worst(spans, limit, self.settings.least_errors)[1] if is_bad else 0
        if not track.raised:
            if not worst:
                return track, Finding(Level.CLEAR, counter, track, "", spans)
            track = msgspec.structs.replace(track, raised=True)
            return track, Finding(Level.RAISED, counter, track, "", spans[:worst])
        clean = self._find_clean(spans, limit, track.at)
        if clean:
            track = msgspec.structs.replace(track, raised=False, spans=spans[:clean], sums=())
            return track, Finding(Level.CLEAR, counter, track, "", spans[:clean])
        reason = "" if worst else ", but not yet for long enough"
        return track, Finding(Level.RAISED, counter, track, reason, spans[: worst or len(spans)])

    def _find_clean(self, spans: Spans, limit: float, at: float) -> int:
        """The newest spans that show it well below the limit for `clear_s`; a clean past is no excuse for what comes now."""
        clean = find_clean(spans, limit, self.clear_at, at - self.settings.clear_s)
        if clean and find_worst(spans[:clean], limit, self.settings.least_errors)[0] >= self.clear_at:
            return 0
        return clean
