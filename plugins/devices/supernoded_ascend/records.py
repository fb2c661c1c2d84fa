"""`hccn_tool -link_stat`: when a link changed, by the device's own clock, which is held against nothing but itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from supernoded.plugin import Reading, make_reading
from supernoded_ascend.making import NOTHING, list_lines, read_number, split_rows

RECENT = 3600.0  # seconds: the last hour of the device's clock, as `link.recent_downs` says
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")  # of the C locale
_TIME = re.compile(
    r"(?:[a-z]{3}\s+)?(?P<month>[a-z]{3})\s+(?P<day>\d{1,2})\s+(?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d)\s+(?P<year>\d{4})", re.ASCII
)
_RECORD = re.compile(rf"\s*(?P<time>{_TIME.pattern})\s+link\s+(?P<word>up|down)\s*", re.ASCII)


class Record(msgspec.Struct, frozen=True):
    """One change."""

    at: float  # seconds, on the device's clock
    up: bool


def parse_records(text: str, at: float, subject: str) -> list[Reading]:
    """The state by the last record, how often the link went down, and how often in the device's last hour."""
    lines = [line.lower() for line in list_lines(text)]
    rows, records = split_rows(lines), _list_records(lines)
    state, note = (float(records[0].up), "") if records else (None, "no change is recorded" if rows else NOTHING)
    downs, why = _count_downs(rows, records)
    recent, doubt = _count_recent(rows, records)
    return [
        make_reading(subject, "link.state", state, "1", at, note),
        make_reading(subject, "link.downed", downs, "1", at, why),
        make_reading(subject, "link.recent_downs", recent, "1", at, doubt),
    ]


def read_time(text: str) -> float | None:
    """Seconds of a time such as `Wed Jun  7 10:08:28 2023`; None for what is none. Its zone is the device's secret."""
    found = _TIME.fullmatch(text.strip().lower())
    if found is None or found["month"] not in _MONTHS:
        return None
    try:
        year, day, hour, minute, second = (int(found[name]) for name in ("year", "day", "h", "m", "s"))
        month = 1 + _MONTHS.index(found["month"])
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
    except ValueError:  # the 31st of June
        return None


def _list_records(lines: Sequence[str]) -> list[Record]:
    """The newest first, as they are printed: within a second nothing else tells the order."""
    found = (_RECORD.fullmatch(line) for line in lines)
    records = [Record(time, match["word"] == "up") for match in found if match and (time := read_time(match["time"])) is not None]
    return records[::-1] if records and records[0].at < records[-1].at else records


def _count_downs(rows: dict[str, str], records: Sequence[Record]) -> tuple[float | None, str]:
    """What the device counts; else what follows from its count of ups, or from its records, which may be but the last few."""
    told, _ = read_number(rows.get("link down count"))
    if told is not None and told >= 0:
        return told, ""
    ups, _ = read_number(rows.get("link up count"))
    if not records and not ups:
        return None, NOTHING if ups is None else "neither a count of downs nor a record"
    counted = sum(not record.up for record in records)
    return float(max(counted, (ups or 0.0) - (records[0].up if records else 1))), ""


def _count_recent(rows: dict[str, str], records: Sequence[Record]) -> tuple[float | None, str]:
    now = read_time(rows.get("current time", ""))
    if now is None:
        return None, "the device does not tell its own time"
    later = sum(record.at > now for record in records)
    recent = sum(not record.up and 0.0 <= now - record.at <= RECENT for record in records)
    return float(recent), f"{later} records lie after the device's own time: its clock was set" if later else ""
