"""Bit error rates of `mlxlink`, and of switches that print them alike: the port's and its lanes', which may contradict each other. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from supernoded.plugin import Reading, make_reading
from supernoded_fabric.counters import Counter, read_counter
from supernoded_fabric.making import explain, read_rate
from supernoded_fabric.mlxlink_rows import Rows

RAW, EFFECTIVE, SYMBOL = (
    ("raw physical ber", "raw ber", "raw-ber"),
    ("effective physical ber", "effective ber", "effective-ber"),
    ("symbol ber",),
)
RAW_ERRORS = ("raw physical errors per lane", "raw errors per lane")
CLEARED = "time since last clear [min]"
FAR = 10.0  # an aggregate that is so many times below the mean of its lanes contradicts them; ours
MOST_LANES = 16

_LANE_RATE = re.compile(r"raw[ -](?:physical )?ber[ _-]*lane[ _-]?(?P<lane>\d{1,2})|lane[ _-]?(?P<other>\d{1,2})[ _-]*raw[ -]ber", re.ASCII)


def list_rates(rows: Rows, speed: float | None, at: float, subject: str) -> Iterator[Reading]:
    """Before and after correction, and what each lane had to have corrected. `speed` in Gb/s."""
    errors = _find(rows, RAW_ERRORS)
    counts = errors.split(",")[:MOST_LANES] if errors is not None else []
    of_lanes = [read_counter(f"{subject}/lane{lane}", Counter("link.fec.corrected"), text.strip(), at) for lane, text in enumerate(counts)]
    yield from of_lanes
    totals = [reading.value for reading in of_lanes if isinstance(reading.value, float)]
    if of_lanes:
        whole = sum(totals) if len(totals) == len(of_lanes) else None
        yield make_reading(
            subject, "link.fec.corrected", whole, "1", at, "" if whole is not None else explain(errors, "count of every lane")
        )
    yield from _list_before(rows, totals, speed, at, subject)
    after = next((name for names in (EFFECTIVE, SYMBOL) for name in names if read_rate(rows.get(name, "")) is not None), None)
    told = _find(rows, (*EFFECTIVE, *SYMBOL))
    if told is not None:
        rate = read_rate(rows[after]) if after is not None else None
        yield make_reading(subject, "link.ber.post_fec", rate, "1", at, "" if after is not None else explain(told, "rate"))


def _list_before(rows: Rows, totals: Sequence[float], speed: float | None, at: float, subject: str) -> Iterator[Reading]:
    """The port's rate before correction, or that of its worst lane."""
    told, lanes = _find(rows, RAW), _find_lane_rates(rows)
    if told is None and not lanes:
        return
    whole = read_rate(told) if told is not None else None
    if not lanes and whole == 0.0 and any(totals):
        lanes = _estimate(rows, totals, speed)
        note = f"contradiction: {told} of the port, but {max(totals):.0f} errors on a lane"
        yield make_reading(subject, "link.ber.pre_fec", max(lanes, default=0.0), "1", at, note)
        return
    worst = max(lanes, default=None)
    if worst is None:
        yield make_reading(subject, "link.ber.pre_fec", whole, "1", at, "" if whole is not None else explain(told, "rate"))
        return
    conflict = whole is not None and whole * FAR < sum(lanes) / len(lanes)
    note = f"contradiction: {told} of the port, but {worst:.1g} on its worst lane" if conflict else ""
    yield make_reading(subject, "link.ber.pre_fec", max(worst, whole or 0.0), "1", at, note)


def _find_lane_rates(rows: Rows) -> list[float]:
    """`raw ber lane 0 : 3E-6` or `raw physical ber per lane : 3E-6,1E-7`."""
    texts = [text for name, text in rows.items() if _LANE_RATE.fullmatch(name)]
    for name in RAW:
        texts += rows.get(f"{name} per lane", "").split(",")[:MOST_LANES]
    return [rate for text in texts if (rate := read_rate(text)) is not None]


def _estimate(rows: Rows, totals: Sequence[float], speed: float | None) -> list[float]:
    """Rates of lanes from their counts, when it is told since when they count, and how fast."""
    minutes = read_rate(rows.get(CLEARED, ""))
    if not minutes or not speed:
        return []
    bits = minutes * 60.0 * speed * 1e9 / len(totals)
    return [min(total / bits, 0.5) for total in totals]


def _find(rows: Rows, names: Sequence[str]) -> str | None:
    return next((rows[name] for name in names if name in rows), None)
