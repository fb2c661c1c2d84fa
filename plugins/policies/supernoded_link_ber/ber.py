"""The bit error rate of a link, judged by exposure: errors against bits seen (L2, Q5)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, Reading, Verdict, View
from supernoded_link_ber.counting import Track, as_number, count, is_saturated
from supernoded_link_ber.exposure import Span, find_clean, find_worst, sum_newest
from supernoded_link_ber.settings import LinkBerSettings

ERRORS = {"link.symbol_errors": "symbol errors", "link.receive_errors": "receive errors"}
FORGET = 7 * 86400.0  # seconds after which a link that is no longer read is forgotten


class BerMemory(msgspec.Struct, frozen=True):
    """Subject -> quantity -> what is remembered of it."""

    tracks: dict[str, dict[str, Track]] = {}


class Finding(msgspec.Struct, frozen=True):
    """What one counter of one link says."""

    level: Level
    text: str


class BerRule:
    """Raises a link whose errors a BER of `limit` cannot explain, and clears it when they are again well below."""

    kind, scope = "link.ber", NODE
    watches: Mapping[str, float] = dict.fromkeys((*ERRORS, "link.bits", "link.speed"), 60.0)  # only the newest counts

    def __init__(self, limit: float, settings: LinkBerSettings) -> None:
        self._limit, self._settings = limit, settings
        self._raise_at, self._clear_at = -math.log(settings.false_alarm), -math.log(settings.false_clear)

    def start(self) -> BerMemory:
        """No link was ever seen."""
        return BerMemory()

    def judge(self, seen: View, memory: BerMemory) -> tuple[BerMemory, Sequence[Verdict]]:
        """The level of every link with an error counter."""
        tracks = {subject: of_it for subject, of_it in memory.tracks.items() if any(seen.now - one.at < FORGET for one in of_it.values())}
        verdicts: list[Verdict] = []
        for subject in sorted({subject for quantity in ERRORS for subject in seen.subjects(quantity)}):
            known = {quantity: _land(track, seen.now) for quantity, track in tracks.get(subject, {}).items()}
            tracks[subject], verdict = self._judge_link(seen, subject, known)
            verdicts.append(verdict)
        return BerMemory(tracks), verdicts

    def _judge_link(self, seen: View, subject: str, tracks: Mapping[str, Track]) -> tuple[dict[str, Track], Verdict]:
        bits, speed = seen.newest("link.bits", subject), seen.number("link.speed", subject)
        kept, findings = dict(tracks), list[Finding]()
        for quantity in ERRORS:
            reading = seen.newest(quantity, subject)
            if reading is not None:
                kept[quantity], finding = self._judge_counter(kept.get(quantity, Track()), reading, bits, speed)
                findings.append(finding)
        worst = next((f for level in (Level.RAISED, Level.UNSURE) for f in findings if f.level is level), findings[0])
        unseen = tuple(f.text for f in findings if f.level is Level.UNSURE)
        text = f"{subject}: {worst.text}"
        return kept, Verdict(kind=self.kind, subject=subject, level=worst.level, text=text, at=seen.now, unseen=unseen)

    def _judge_counter(self, track: Track, reading: Reading, bits: Reading | None, speed: float | None) -> tuple[Track, Finding]:
        what, errors = ERRORS[reading.quantity], as_number(reading)
        if errors is None:
            if is_saturated(reading):
                track = msgspec.structs.replace(track, errors=None)  # what it will show after a reset is a new baseline
            return track, Finding(Level.UNSURE, f"{what} cannot be judged, they are {reading.state.value}: {reading.note}")
        track = count(track, reading, bits, speed, self._settings.window_s)
        if not track.spans:
            return track, Finding(Level.UNSURE, f"{what} have a baseline of {errors:g}, but no bits have been seen since")
        return self._weigh(track, what)

    def _weigh(self, track: Track, what: str) -> tuple[Track, Finding]:
        spans = track.spans
        score, worst = find_worst(spans, self._limit, self._settings.least_errors)
        if not track.raised and score < self._raise_at:
            return track, Finding(Level.CLEAR, self._describe(sum_newest(spans, len(spans)), what))
        if not track.raised:
            return msgspec.structs.replace(track, raised=True), Finding(Level.RAISED, self._describe(sum_newest(spans, worst), what))
        clean = find_clean(spans, self._limit, self._clear_at, track.at - self._settings.clear_s)
        if clean and find_worst(spans[:clean], self._limit, self._settings.least_errors)[0] < self._clear_at:  # a clean past is no excuse
            cleared = msgspec.structs.replace(track, raised=False, spans=spans[:clean])
            return cleared, Finding(Level.CLEAR, self._describe(sum_newest(spans, clean), what))
        text = self._describe(sum_newest(spans, worst or len(spans)), what)
        return track, Finding(Level.RAISED, text if worst else f"{text}, but not yet for long enough")

    def _describe(self, window: Span, what: str) -> str:
        bits = f"{_power(window.bits)} bits"
        if window.assumed:
            bits = f"at most {bits} (speed x time, as no bits were counted)"
        if not window.errors:
            return f"no {what} in {bits}"
        rate, least = window.errors / window.bits, "at least " if window.assumed else ""
        side = "above" if rate > self._limit else "not above"
        return f"{window.errors:.0f} {what} in {bits}, a BER of {least}{_power(rate)}, {side} {self._limit:g}"


def _land(track: Track, now: float) -> Track:
    """A track from the future is one from before the clock was set back: only whether it was raised still counts."""
    return track if track.at <= now + 1.0 else Track(raised=track.raised)


def _power(number: float) -> str:
    return f"{number:.1e}".replace("e+", "e")
