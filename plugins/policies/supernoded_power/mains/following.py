"""All feeds, followed over time: each question weighs what is seen now and moves what is remembered. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from supernoded.plugin import Limits, Topology, View
from supernoded_power.mains.deciding import contradicts, decide
from supernoded_power.mains.steadying import find_steady
from supernoded_power.mains.volts import NOT_SEEN, QUANTITIES, STATUS, Level, Volts, are_silent, find_shift, look_at_input, look_at_pdus
from supernoded_power.mains.words import AWAY, Feed, Mains, Track
from supernoded_power.settings import PowerSettings
from supernoded_power.status import SILENT, SOURCES, Row, find_row

SOURCE = "ups.source"
WATCHES: Mapping[str, float] = dict.fromkeys((STATUS, SOURCE, *QUANTITIES), 60.0)
Tracks = dict[str, Track]


class Feeds:
    """The feeds of a site."""

    def __init__(self, site: Topology, limits: Limits, settings: PowerSettings) -> None:
        self.names = site.list_feeds()
        self._with_ups = frozenset(ups.name for ups in site.ups)
        self._pdus = {name: tuple(f"pdu/{pdu.name}" for pdu in site.pdus if pdu.feed == name) for name in self.names}
        self._sag, self._set = limits.power.sag_percent, settings

    def follow(self, seen: View, tracks: Mapping[str, Track]) -> tuple[Tracks, tuple[Feed, ...]]:
        """Every feed now, and what is to be remembered."""
        followed = {name: self._follow(seen, name, tracks.get(name, Track())) for name in self.names}
        return {name: track for name, (track, _) in followed.items()}, tuple(feed for _, feed in followed.values())

    def look(self, seen: View) -> tuple[Feed, ...]:
        """Every feed now, by somebody who remembers nothing."""
        return self.follow(seen, {})[1]

    def find_steady(self, seen: View, name: str) -> float:
        """For how many seconds a feed has been there, as far as the watched window shows."""
        return find_steady(seen, name, self._pdus[name], self._set.nominal_v, self._sag, self._set.ignored_flags)

    def find_span(self, seen: View) -> float:
        """For how many seconds the flags of any UPS have been read, as far as the watched window shows: little after a start."""
        upses = [f"ups/{name}" for name in self.names]
        first = [seen.window(STATUS, ups, source)[:1] for ups in upses for source in seen.sources(STATUS, ups)]
        return max((seen.now - one.at for some in first for one in some), default=0.0)

    def _follow(self, seen: View, name: str, track: Track) -> tuple[Track, Feed]:
        pdus = look_at_pdus(seen, self._pdus[name])
        if name not in self._with_ups:
            mains = {Level.GOOD: Mains.PRESENT, Level.LOW: Mains.LOST, Level.UNKNOWN: Mains.UNKNOWN}[pdus.level]
            track = self._time(track, mains, seen.now, 0.0, pdus.level)
            return track, self._describe(seen, name, track, mains, None, "", (pdus,))
        ups = f"ups/{name}"
        row, others = find_rows(seen, ups, self._set.ignored_flags)
        volts = look_at_input(seen, ups, self._set.nominal_v, self._sag)
        track = _remember(track, row, seen.now, odd=contradicts(row, others, volts, pdus))
        odd = bool(track.odd_since) and seen.now - track.odd_since >= self._set.conflict_s
        dark = are_silent(seen, self._pdus[name])
        mains, conflict = decide(row, volts, pdus, overdue=self._is_overdue(row, track, seen.now), odd=odd, dark=dark)
        track = self._time(track, mains, seen.now, find_shift(seen, ups) or 0.0, volts.level)
        return track, self._describe(seen, name, track, mains, row, conflict, (volts, pdus))

    def _is_overdue(self, row: Row, track: Track, now: float) -> bool:
        longest = self._set.calibration_s if row.on_purpose == "cal" else self._set.test_s
        return bool(row.on_purpose) and now - track.purpose_since > longest

    def _time(self, track: Track, mains: Mains, now: float, shift: float, level: Level) -> Track:
        """When it went, came back, and whether what came back is a generator."""
        if mains in AWAY:
            back = (track.input_back_since or now) if level is Level.GOOD else 0.0
            return msgspec.structs.replace(track, away_since=track.away_since or now, back_since=0.0, input_back_since=back)
        if mains is not Mains.PRESENT:
            return msgspec.structs.replace(track, back_since=0.0)
        generator = track.generator_since
        if track.away_since:
            is_long = (track.input_back_since or now) - track.away_since >= self._set.generator_after_s
            generator = now if self._set.generator and is_long else 0.0  # a short break after it is the way back to the mains
        if shift > self._set.generator_hz:
            generator = generator or now
        elif generator and (not self._set.generator or now - generator >= self._set.generator_most_s):
            generator = 0.0
        back = track.back_since or now
        return msgspec.structs.replace(track, away_since=0.0, input_back_since=0.0, back_since=back, generator_since=generator)

    def _describe(
        self, seen: View, name: str, track: Track, mains: Mains, row: Row | None, conflict: str, volts: tuple[Volts, ...]
    ) -> Feed:
        now, said = seen.now, (row.means,) if row is not None else ()
        return Feed(
            name=name,
            mains=mains,
            row=row,
            settled=row is None or not row.settles or now - track.row_since >= self._set.flash_s,
            views=(*said, *(view.text for view in volts if view.level is not NOT_SEEN.level)),
            conflict=conflict,
            silent=row is SILENT,
            dark=row is SILENT and are_silent(seen, self._pdus[name]),
            silent_s=now - track.silent_since if track.silent_since else 0.0,
            was_on_battery=track.was_on_battery,
            away_s=now - track.away_since if track.away_since else 0.0,
            stable_s=now - track.back_since if track.back_since else 0.0,
            generator=bool(track.generator_since),
        )


def find_rows(seen: View, ups: str, ignored: tuple[str, ...]) -> tuple[Row, tuple[Row, ...]]:
    """The row by the newest word of a UPS, and those of its other sources."""
    said: list[tuple[float, Row]] = []
    for source in seen.sources(STATUS, ups):
        reading = seen.good(STATUS, ups, source)
        if reading is not None and isinstance(reading.value, frozenset):
            said.append((reading.at, find_row(reading.value, ignored)))
    for source in seen.sources(SOURCE, ups):
        reading = seen.good(SOURCE, ups, source)
        if reading is not None and reading.value in SOURCES and source not in seen.sources(STATUS, ups):
            said.append((reading.at, find_row(SOURCES[str(reading.value)])))
    if not said:
        return SILENT, ()
    said.sort(key=lambda one: -one[0])
    return said[0][1], tuple(row for _, row in said[1:])


def _remember(track: Track, row: Row, now: float, *, odd: bool) -> Track:
    silent = row is SILENT
    return msgspec.structs.replace(
        track,
        row=row.name,
        row_since=track.row_since if row.name == track.row else now,
        purpose_since=(track.purpose_since or now) if row.on_purpose else track.purpose_since if silent else 0.0,
        odd_since=(track.odd_since or now) if odd else 0.0,
        silent_since=(track.silent_since or now) if silent else 0.0,
        was_on_battery=track.was_on_battery if silent else _is_on_battery(row),
    )


def _is_on_battery(row: Row) -> bool:
    return "ob" in row.every and not row.on_purpose
