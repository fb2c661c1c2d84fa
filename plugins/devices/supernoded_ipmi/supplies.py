"""Power supplies and their redundancy by the rows of `ipmi-sensors`. Pure; what is not told is UNKNOWN, never 0."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from supernoded.plugin import Reading, make_reading, quote
from supernoded_ipmi.rows import NOTHING, Row

LONGEST_WORD = 80  # characters of a state in its own words
SUPPLY = "power supply"
_NUMBERED = re.compile(r"(?:^|[^a-z])(?:psu|ps|power[ _-]?supply)[ _-]?(?P<number>\d{1,2})(?!\d)", re.ASCII)
_METER = re.compile(r"pwr|watt|p_?(?:in|out)(?![a-z])", re.ASCII)  # in the name of a power sensor that has no unit while it has no reading
_WATTS = re.compile(r"[-+]?\d{1,9}(?:\.\d{1,9})?", re.ASCII)

# What the beginning of an event means (IPMI 2.0, tables 42-2 and 42-3, as FreeIPMI spells them), the worst first.
_STATES = (
    ("input-lost", ("power supply input lost",)),
    ("low", ("at or below (<=) lower critical", "at or below (<=) lower non-recoverable")),
    ("critical", ("power supply failure", "at or above (>=) upper critical", "at or above (>=) upper non-recoverable")),
    ("standby", ("power supply inactive",)),
    ("warning", ("predictive failure", "power supply input out-of-range", "configuration error", "at or ")),
)
_WELL = ("ok", "presence detected", "device inserted", "entity present")
_THERE, _GONE = ("presence detected", "device inserted", "entity present"), ("device removed", "entity absent")
_REDUNDANCY = (
    ("insufficient", ("non-redundant:insufficient", "non-redundant: insufficient")),
    ("lost", ("redundancy lost", "non-redundant")),
    ("degraded", ("redundancy degraded", "redundancy-degraded")),
    ("full", ("fully redundant", "full redundancy")),
)


def read_supplies(rows: Sequence[Row], node: str, at: float) -> Iterator[Reading]:
    """Every supply of a node, by the number in its name, then whether one may be lost."""
    found: dict[int, list[Row]] = {}
    for row in rows:
        number = _NUMBERED.search(row.name)
        if number is not None and (row.unit == "W" or (row.kind == SUPPLY and row.unit.casefold() in NOTHING)):
            found.setdefault(int(number["number"]), []).append(row)
    for slot, mine in sorted(found.items()):
        yield from _read_supply(mine, f"{node}/psu{slot}", at)
    yield from _read_redundancy(rows, node, at)


def _read_supply(rows: Sequence[Row], subject: str, at: float) -> Iterator[Reading]:
    metered = sorted(
        (row for row in rows if row.unit == "W" or _METER.search(row.name)), key=lambda row: "out" in row.name
    )  # what it takes in
    watts = _measure(metered[0].reading) if metered else None
    if metered:
        yield make_reading(
            subject, "psu.power", watts, "W", at, "" if watts is not None else f"its sensor says {quote(metered[0].reading)}"
        )
    said = [event for row in rows for event in row.events]
    here, why = _find_presence([event for row in rows if row not in metered for event in row.events], watts)
    yield make_reading(subject, "psu.present", here, "1", at, why)
    state = _find_word(said, _STATES) or next((event for event in said if not event.casefold().startswith(_WELL)), "ok" if said else None)
    note = "; ".join(event for event in said if not event.casefold().startswith(_WELL)) if said else "no event of it is told"
    yield make_reading(subject, "psu.state", state if state is None else state[:LONGEST_WORD], "text", at, note)


def _find_presence(status: Sequence[str], watts: float | None) -> tuple[float | None, str]:
    """A status that tells something, and not that it is there, says that it is not; only `OK` beside 0 W may mean either."""
    words = [event.casefold() for event in status]
    if any(word.startswith(_THERE) for word in words) or (watts is not None and watts > 0.0):
        return 1.0, ""
    if not words:
        return None, "its status tells nothing"
    if watts is not None and not any(word.startswith(_GONE) for word in words) and set(words) == {"ok"}:
        return None, "its status says 'OK' and not whether it is there"
    return 0.0, f"its status says {quote(status[0])} and not that it is there"


def _read_redundancy(rows: Sequence[Row], node: str, at: float) -> Iterator[Reading]:
    """The worst that any row of the node's supplies says; fans have a redundancy of their own."""
    mine = [row for row in rows if "redundan" in row.name and row.kind in {SUPPLY, "power unit"}]
    if not mine:
        return
    said = [event for row in mine for event in row.events]
    note = "; ".join(said) or "its sensor tells nothing"
    yield make_reading(node, "psu.redundancy", _find_word(said, _REDUNDANCY), "text", at, note)


def _find_word(said: Sequence[str], table: Sequence[tuple[str, tuple[str, ...]]]) -> str | None:
    events = [event.casefold() for event in said]
    return next((word for word, starts in table if any(event.startswith(starts) for event in events)), None)


def _measure(text: str) -> float | None:
    return float(text) if _WATTS.fullmatch(text) else None
