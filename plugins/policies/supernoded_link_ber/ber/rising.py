"""Links whose errors rise towards the limit, before they reach it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, Reading, Verdict, View
from supernoded_link_ber.ber.counting import Carriage, Track, as_number, count
from supernoded_link_ber.ber.following import find_bits, land, list_counters
from supernoded_link_ber.ber.sources import COUNTERS, SPEED, STATE
from supernoded_link_ber.ber.trend import Fit, fit_counts, list_points
from supernoded_link_ber.ber.wording import say_crossing, say_power
from supernoded_link_ber.gallery import Gallery
from supernoded_link_ber.looking import Glimpse
from supernoded_link_ber.recalling import Recall
from supernoded_link_ber.settings import LinkBerSettings

WINDOW = 1800.0  # seconds that a trend is fitted over (ours)
REFIT = 15.0  # seconds between two looks for a trend where there is no sign of one (ours)
FLAT = "show no trend"
LEAST = 8  # errors that a trend is made of (ours)


class Trace(msgspec.Struct, frozen=True):
    """What is remembered of the one counter that is watched: which it is, and whether its trend was told."""

    key: str
    track: Track
    fitted: float = -1.0  # when its trend was last looked for
    text: str = FLAT  # and what was found
    is_near: bool = False  # its slope is at least half as sure as it has to be: it is looked for at every poll


class TrendMemory(msgspec.Struct, frozen=True):
    """Subject -> what is remembered of it."""

    traces: dict[str, Trace] = {}


class TrendRule:
    """Raises a link below the limit whose errors, at this slope, will be above it within `trend_s` seconds.

    The slope has to differ from none by `trend_sigmas` of its own error: 6 leave a chance of 1e-9 a look, so that with 6.3e6 looks a
    year (5 s) a link of a steady rate is called rising less than once in 150 years. It warns; nothing is taken out for a forecast.
    """

    kind, scope = "link.trend", NODE

    def __init__(self, limit: float, settings: LinkBerSettings, gallery: Gallery) -> None:
        self._limit, self._settings = limit, settings
        self.watches: Mapping[str, float] = gallery.watches
        self._recall = Recall[Trace](gallery, self.kind, COUNTERS)

    def start(self) -> TrendMemory:
        """No link was ever seen."""
        return TrendMemory()

    def judge(self, seen: View, memory: TrendMemory) -> tuple[TrendMemory, Sequence[Verdict]]:
        """The level of every link with an error counter."""
        traces, verdicts = self._recall.ask(self._recall.look(seen), memory.traces, self._judge, lambda trace: trace.track.at)
        return TrendMemory(traces), verdicts

    def _judge(self, seen: Glimpse, trace: Trace | None) -> tuple[Trace | None, Verdict | None]:
        subject, reading = seen.port, self._choose(seen)
        if reading is None:
            text = f"{subject}: no counter of errors can be read, so its trend is not known"
            return trace, Verdict(kind=self.kind, subject=subject, level=Level.UNSURE, text=text, at=seen.now, unseen=(text,))
        key, counter = f"{reading.quantity} {reading.source}", COUNTERS[reading.quantity]
        old = trace if trace is not None and trace.key == key else Trace(key, Track(raised=trace is not None and trace.track.raised))
        track = land(old.track, seen.now)
        link = Carriage(find_bits(seen, reading.source), seen.number(SPEED, subject), is_down=seen.number(STATE, subject) == 0.0)
        track = count(track, reading, link, counter, WINDOW, is_recent=reading.source.startswith(self._settings.recent_sources))
        if track.spans is old.track.spans or (not old.is_near and 0.0 <= seen.now - old.fitted < REFIT):
            now = msgspec.structs.replace(old, track=track)
        else:
            fit = self._fit(track)
            level, text = self._decide(track, fit, self._limit / counter.worth)
            is_near = fit is not None and fit.sigmas >= self._settings.trend_sigmas / 2.0
            now = Trace(key, msgspec.structs.replace(track, raised=level is Level.RAISED), seen.now, text, is_near)
        level = Level.RAISED if now.track.raised else Level.CLEAR
        text = f"{subject}: {counter.name} {now.text}"
        return now, Verdict(kind=self.kind, subject=subject, level=level, text=text, at=seen.now)

    def _choose(self, seen: Glimpse) -> Reading | None:
        """The best ranked counter that can be read."""
        told = (reading for _, of_it in list_counters(seen) for reading in of_it.values() if as_number(reading) is not None)
        return min(told, key=lambda reading: COUNTERS[reading.quantity].rank, default=None)

    def _fit(self, track: Track) -> Fit | None:
        if sum(span.errors for span in track.spans) < LEAST:
            return None
        return fit_counts(list_points(track.spans, track.at))

    def _decide(self, track: Track, fit: Fit | None, limit: float) -> tuple[Level, str]:
        """Once told it stands until the slope or the forecast is only half as bad, or the limit is passed, which is `link.ber`."""
        ease = 0.5 if track.raised else 1.0
        if fit is None or fit.sigmas < self._settings.trend_sigmas * ease:
            return Level.CLEAR, FLAT
        crossing = fit.find_crossing(limit)
        if crossing is None:
            return (Level.RAISED if track.raised else Level.CLEAR), f"have risen above {self._limit:g}"
        text = f"rise to {self._limit:g} {say_crossing(crossing)}; now at a BER of {say_power(math.exp(fit.level) * self._limit / limit)}"
        return (Level.RAISED if crossing[0] * ease <= self._settings.trend_s else Level.CLEAR), text
