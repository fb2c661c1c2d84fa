"""Lines of `ipmitool sel list`: what was asserted and has not been deasserted since. Pure.

Entries come in any order, with stamps or without (`Pre-Init`), and ids that need not rise: the stamp goes before the id, and where
neither tells which of two was first, the recovery counts.
"""

from __future__ import annotations

import re

import msgspec

from supernoded.plugin import Reading, make_reading, quote

LARGEST = 1_048_576  # characters
MOST = 100  # events that are told of; ours
LONGEST = 120  # characters of one
EMPTY = "sel has no entries"
_DATE = re.compile(r"(\d\d)/(\d\d)/(?:20)?(\d\d)", re.ASCII)
_TIME = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\s.*)?", re.ASCII)
_ID = re.compile(r"[0-9a-f]{1,8}", re.ASCII | re.IGNORECASE)


class Entry(msgspec.Struct, frozen=True):
    """One line."""

    number: int
    stamp: tuple[int, ...]  # empty where the BMC did not know the time
    event: str  # sensor and what was seen
    asserted: bool

    def is_after(self, other: Entry) -> bool:
        """Whether it is the later of two about one event."""
        mine, its = (self.stamp, self.number), (other.stamp, other.number)
        if not self.stamp or not other.stamp:
            mine, its = ((), self.number), ((), other.number)
        return not self.asserted if mine == its else mine > its


def parse_line(line: str) -> Entry | None:
    """A line as an entry; None for what is none, or says neither that something began nor that it ended."""
    parts = [part.strip() for part in line.split("|")]
    if len(parts) < 6 or _ID.fullmatch(parts[0]) is None:
        return None
    direction = next((part.casefold() for part in parts[5:] if part.casefold() in {"asserted", "deasserted"}), "")
    date, time = _DATE.fullmatch(parts[1]), _TIME.fullmatch(parts[2])
    stamp = () if date is None or time is None else tuple(int(one) for one in (date[3], date[1], date[2], *time.groups()))
    event = f"{parts[3]}: {parts[4]}"[:LONGEST]
    return Entry(int(parts[0], 16), stamp, event, direction == "asserted") if direction else None


def read_log(text: str, node: str, at: float, *, cut: bool = False) -> Reading:
    """What stands, as flags of the node. A list that was cut, or in which nothing is understood, tells nothing: its end is missing."""
    lines = [line for line in text[:LARGEST].splitlines() if line.strip()]
    entries = [entry for line in lines if (entry := parse_line(line)) is not None]
    last: dict[str, Entry] = {}
    for entry in entries:
        if entry.event not in last or entry.is_after(last[entry.event]):
            last[entry.event] = entry
    standing = [entry.event for entry in last.values() if entry.asserted]
    if cut or len(text) > LARGEST:
        return make_reading(node, "sel.standing", None, "flags", at, "the log is longer than what is read of it, and its end is missing")
    if not entries and any(EMPTY not in line.casefold() for line in lines):
        return make_reading(node, "sel.standing", None, "flags", at, f"no line of a log: {quote(lines[0])}")
    more = f"{len(standing) - MOST} more are not told" if len(standing) > MOST else ""
    return make_reading(node, "sel.standing", frozenset(standing[-MOST:]), "flags", at, more)
