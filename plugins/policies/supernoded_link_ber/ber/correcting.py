"""How much work correction has: the error rate before it, against what its code is designed for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, Reading, Verdict, View
from supernoded_link_ber.ber.counting import Carriage, Track, as_number, count
from supernoded_link_ber.ber.exposure import Span
from supernoded_link_ber.ber.following import Tracks, find_date, land
from supernoded_link_ber.ber.sources import FEC, NO_FEC, PRE_FEC, SPEED, STATE, Counter
from supernoded_link_ber.ber.trend import fit_rates, list_points
from supernoded_link_ber.ber.wording import say_crossing, say_duration, say_power
from supernoded_link_ber.gallery import Gallery
from supernoded_link_ber.looking import Glimpse
from supernoded_link_ber.recalling import Recall
from supernoded_link_ber.settings import LinkBerSettings

CORRECTED = "link.fec.corrected"
SIGNS = {PRE_FEC: Counter("errors before correction", 4), CORRECTED: Counter("corrected bits", 5)}
KR4_SHARE = 0.05  # of the design point of RS(544,514): RS(528,514) is designed for 1e-5 (IEEE 802.3 clause 92)
WINDOW = 1800.0  # seconds that are remembered (ours)
EASE = 0.5  # of the warning level, below which it clears (ours)


class FecMemory(msgspec.Struct, frozen=True):
    """Subject -> quantity and source -> what is remembered of it."""

    tracks: dict[str, dict[str, Track]] = {}


class FecRule:
    """Raises a link on which correction is near its end. Corrected bits alone are its work and never more than a warning."""

    kind, scope = "link.fec", NODE

    def __init__(self, speed: float, settings: LinkBerSettings, gallery: Gallery) -> None:
        self._speed, self._settings = speed, settings
        self.watches: Mapping[str, float] = gallery.watches
        self._recall = Recall[Tracks](gallery, self.kind, SIGNS)

    def start(self) -> FecMemory:
        """No link was ever seen."""
        return FecMemory()

    def judge(self, seen: View, memory: FecMemory) -> tuple[FecMemory, Sequence[Verdict]]:
        """The level of every link whose correction tells of itself."""
        tracks, verdicts = self._recall.ask(self._recall.look(seen), memory.tracks, self._judge, find_date)
        return FecMemory(tracks), verdicts

    def _judge(self, seen: Glimpse, tracks: Tracks | None) -> tuple[Tracks | None, Verdict | None]:
        kept, level, text = self._weigh_all(seen, tracks or {})
        unseen = (text,) if level is Level.UNSURE else ()
        words = f"{seen.port}: {text}"
        return kept, Verdict(kind=self.kind, subject=seen.port, level=level, text=words, at=seen.now, unseen=unseen)

    def _weigh_all(self, seen: Glimpse, tracks: Tracks) -> tuple[Tracks, Level, str]:
        subject = seen.port
        code = seen.text(FEC, subject) or ""
        if code in NO_FEC:
            return {}, Level.CLEAR, "no correction is in use, its errors are judged as they are"
        kept, words = dict(tracks), list[tuple[Level, str]]()
        point = self._settings.design_point * (KR4_SHARE if "528" in code else 1.0)
        for quantity, counter in SIGNS.items():
            for source, reading in seen.told(quantity, subject).items():
                key = f"{quantity} {source}"
                track = self._count(seen, reading, land(kept.get(key, Track()), seen.now))
                kept[key], level, text = self._weigh(track, counter, point)
                words.append((level, text))
        order = (Level.RAISED, Level.CLEAR, Level.UNSURE)
        return kept, *min(words, key=lambda word: order.index(word[0]))

    def _count(self, seen: Glimpse, reading: Reading, track: Track) -> Track:
        if as_number(reading) is None:
            return msgspec.structs.replace(track, spans=())
        speed = seen.number(SPEED, seen.port) or self._speed
        link = Carriage(None, speed, is_down=seen.number(STATE, seen.port) == 0.0)
        # A rate that stands still is the same rate: here it is a level to be watched, not evidence to be added up.
        return count(track, reading, link, SIGNS[reading.quantity], WINDOW, is_recent=True)

    def _weigh(self, track: Track, counter: Counter, point: float) -> tuple[Track, Level, str]:
        if len(track.spans) < 2:
            return track, Level.UNSURE, f"{counter.name} have not been seen for two polls yet"
        rate, warn = min(_rate(span) for span in track.spans[:2]), self._settings.design_share * point
        is_high = rate >= warn * (EASE if track.raised else 1.0)
        text = f"{counter.name} at a rate of {say_power(rate)}"
        soon = None if is_high else self._forecast(track, point)
        if is_high:
            text += f", {100.0 * rate / point:.0f} % of the {point:g} that its code is designed for"
        elif soon is not None:
            text += f", rising to the {point:g} that its code is designed for {say_crossing(soon)}"
        else:
            text += f" over the last {say_duration(track.at - track.spans[1].since)}, its code is designed for {point:g}"
        level = Level.RAISED if is_high or soon is not None else Level.CLEAR
        return msgspec.structs.replace(track, raised=level is Level.RAISED), level, text

    def _forecast(self, track: Track, point: float) -> tuple[float, float, float] | None:
        if not self._rises(track):
            return None
        points = [(at, math.log(errors / bits)) for at, errors, bits in list_points(track.spans, track.at) if errors > 0.0]
        fit = fit_rates(points)
        if fit is None or fit.sigmas < self._settings.trend_sigmas:
            return None
        crossing = fit.find_crossing(point)
        return crossing if crossing is not None and crossing[2] <= self._settings.trend_s * (2.0 if track.raised else 1.0) else None

    def _rises(self, track: Track) -> bool:
        """Whether it has risen by a quarter at least of what a rise to the design point in time would have shown."""
        newest, oldest, age = _rate(track.spans[0]), _rate(track.spans[-1]), track.at - track.spans[-1].since
        steepness = -math.log(self._settings.design_share) / max(self._settings.trend_s, 1.0)
        return oldest <= 0.0 or (newest > 0.0 and math.log(newest / oldest) > 0.25 * steepness * age)


def _rate(span: Span) -> float:
    return span.errors / span.bits if span.bits > 0.0 else 0.0
