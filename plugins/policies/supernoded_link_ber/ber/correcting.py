"""How much work correction has: the error rate before it, against what its code is designed for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Level, Verdict, View
from supernoded_link_ber.ber.counting import Carriage, Track, as_number, count
from supernoded_link_ber.ber.exposure import Span
from supernoded_link_ber.ber.following import FORGET, land
from supernoded_link_ber.ber.sources import BITS, FEC, NO_FEC, PRE_FEC, SPEED, STATE, Counter, is_lane
from supernoded_link_ber.ber.trend import fit_rates, list_points
from supernoded_link_ber.ber.wording import say_crossing, say_duration, say_power
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
    watches: Mapping[str, float] = dict.fromkeys((*SIGNS, BITS, SPEED, STATE, FEC), 60.0)

    def __init__(self, speed: float, settings: LinkBerSettings) -> None:
        self._speed, self._settings = speed, settings

    def start(self) -> FecMemory:
        """No link was ever seen."""
        return FecMemory()

    def judge(self, seen: View, memory: FecMemory) -> tuple[FecMemory, Sequence[Verdict]]:
        """The level of every link whose correction tells of itself."""
        tracks = {subject: its for subject, its in memory.tracks.items() if any(seen.now - one.at < FORGET for one in its.values())}
        verdicts = list[Verdict]()
        for subject in sorted({subject for quantity in SIGNS for subject in seen.subjects(quantity) if not is_lane(subject)}):
            tracks[subject], level, text = self._judge(seen, subject, tracks.get(subject, {}))
            unseen = (text,) if level is Level.UNSURE else ()
            verdicts.append(Verdict(kind=self.kind, subject=subject, level=level, text=f"{subject}: {text}", at=seen.now, unseen=unseen))
        return FecMemory(tracks), verdicts

    def _judge(self, seen: View, subject: str, tracks: Mapping[str, Track]) -> tuple[dict[str, Track], Level, str]:
        code = seen.text(FEC, subject) or ""
        if code in NO_FEC:
            return {}, Level.CLEAR, "no correction is in use, its errors are judged as they are"
        kept, words = dict(tracks), list[tuple[Level, str]]()
        point = self._settings.design_point * (KR4_SHARE if "528" in code else 1.0)
        for quantity, counter in SIGNS.items():
            for source in seen.sources(quantity, subject):
                key = f"{quantity} {source}"
                track = self._count(seen, subject, quantity, source, land(kept.get(key, Track()), seen.now))
                kept[key], level, text = self._weigh(track, counter, point)
                words.append((level, text))
        order = (Level.RAISED, Level.CLEAR, Level.UNSURE)
        return kept, *min(words, key=lambda word: order.index(word[0]))

    def _count(self, seen: View, subject: str, quantity: str, source: str, track: Track) -> Track:
        reading = seen.newest(quantity, subject, source)
        if reading is None or as_number(reading) is None:
            return msgspec.structs.replace(track, spans=())
        speed = seen.number(SPEED, subject) or self._speed
        link = Carriage(None, speed, is_down=seen.number(STATE, subject) == 0.0)
        # A rate that stands still is the same rate: here it is a level to be watched, not evidence to be added up.
        return count(track, reading, link, SIGNS[quantity], WINDOW, is_recent=True)

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
        points = [(at, math.log(errors / bits)) for at, errors, bits in list_points(track.spans, track.at) if errors > 0.0]
        fit = fit_rates(points)
        if fit is None or fit.sigmas < self._settings.trend_sigmas:
            return None
        crossing = fit.find_crossing(point)
        return crossing if crossing is not None and crossing[2] <= self._settings.trend_s * (2.0 if track.raised else 1.0) else None


def _rate(span: Span) -> float:
    return span.errors / span.bits if span.bits > 0.0 else 0.0
