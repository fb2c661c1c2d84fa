"""Links whose errors rise towards the limit, before they reach it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, Verdict, View
from supernoded_link_ber.ber.counting import Carriage, Track, as_number, count
from supernoded_link_ber.ber.following import FORGET, WATCHES, find_bits, land, list_counters, list_links
from supernoded_link_ber.ber.sources import COUNTERS, SPEED, STATE
from supernoded_link_ber.ber.trend import Fit, fit_counts, list_points
from supernoded_link_ber.ber.wording import say_crossing, say_power
from supernoded_link_ber.settings import LinkBerSettings

WINDOW = 1800.0  # seconds that a trend is fitted over (ours)
LEAST = 8  # errors that a trend is made of (ours)


class Trace(msgspec.Struct, frozen=True):
    """What is remembered of the one counter that is watched: which it is, and whether its trend was told."""

    key: str
    track: Track


class TrendMemory(msgspec.Struct, frozen=True):
    """Subject -> what is remembered of it."""

    traces: dict[str, Trace] = {}


class TrendRule:
    """Raises a link below the limit whose errors, at this slope, will be above it within `trend_s` seconds.

    The slope has to differ from none by `trend_sigmas` of its own error: 6 leave a chance of 1e-9 a look, so that with 6.3e6 looks a
    year (5 s) a link of a steady rate is called rising less than once in 150 years. It warns; nothing is taken out for a forecast.
    """

    kind, scope = "link.trend", NODE
    watches: Mapping[str, float] = WATCHES

    def __init__(self, limit: float, settings: LinkBerSettings) -> None:
        self._limit, self._settings = limit, settings

    def start(self) -> TrendMemory:
        """No link was ever seen."""
        return TrendMemory()

    def judge(self, seen: View, memory: TrendMemory) -> tuple[TrendMemory, Sequence[Verdict]]:
        """The level of every link with an error counter."""
        traces = {subject: trace for subject, trace in memory.traces.items() if seen.now - trace.track.at < FORGET}
        verdicts = list[Verdict]()
        for subject in list_links(seen):
            key = self._choose(seen, subject)
            if key is None:
                text = f"{subject}: no counter of errors can be read, so its trend is not known"
                verdicts.append(Verdict(kind=self.kind, subject=subject, level=Level.UNSURE, text=text, at=seen.now, unseen=(text,)))
                continue
            traces[subject], verdict = self._judge(seen, subject, *key, traces.get(subject))
            verdicts.append(verdict)
        return TrendMemory(traces), verdicts

    def _choose(self, seen: View, subject: str) -> tuple[str, str] | None:
        """The best ranked counter that can be read."""
        told = [pair for pair in list_counters(seen, subject) if as_number(seen.newest(pair[0], subject, pair[1])) is not None]
        return min(told, key=lambda pair: COUNTERS[pair[0]].rank, default=None)

    def _judge(self, seen: View, subject: str, quantity: str, source: str, trace: Trace | None) -> tuple[Trace, Verdict]:
        key, counter, reading = f"{quantity} {source}", COUNTERS[quantity], seen.newest(quantity, subject, source)
        old = trace.track if trace is not None and trace.key == key else Track(raised=trace is not None and trace.track.raised)
        track = land(old, seen.now)
        if reading is not None:
            link = Carriage(find_bits(seen, subject, source), seen.number(SPEED, subject), is_down=seen.number(STATE, subject) == 0.0)
            is_recent = source.startswith(self._settings.recent_sources)
            track = count(track, reading, link, counter, WINDOW, is_recent=is_recent)
        is_old = track.spans is old.spans and trace is not None and not track.raised
        fit = None if is_old else self._fit(track)  # where nothing is new it was found to be no trend
        level, text = self._decide(track, fit, self._limit / counter.worth)
        track = msgspec.structs.replace(track, raised=level is Level.RAISED)
        words = f"{subject}: {counter.name} {text}"
        return Trace(key, track), Verdict(kind=self.kind, subject=subject, level=level, text=words, at=seen.now)

    def _fit(self, track: Track) -> Fit | None:
        if sum(span.errors for span in track.spans) < LEAST:
            return None
        return fit_counts(list_points(track.spans, track.at))

    def _decide(self, track: Track, fit: Fit | None, limit: float) -> tuple[Level, str]:
        """Once told it stands until the slope or the forecast is only half as bad, or the limit is passed, which is `link.ber`."""
        ease = 0.5 if track.raised else 1.0
        if fit is None or fit.sigmas < self._settings.trend_sigmas * ease:
            return Level.CLEAR, "show no trend"
        crossing = fit.find_crossing(limit)
        if crossing is None:
            return (Level.RAISED if track.raised else Level.CLEAR), f"have risen above {self._limit:g}"
        text = f"rise to {self._limit:g} {say_crossing(crossing)}; now at a BER of {say_power(math.exp(fit.level) * self._limit / limit)}"
        return (Level.RAISED if crossing[0] * ease <= self._settings.trend_s else Level.CLEAR), text
