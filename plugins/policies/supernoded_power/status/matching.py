"""Which row of the table a UPS's flags meet. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from types import MappingProxyType

from supernoded_power.status.table import KNOWN, ROWS, SILENT, STRANGER, Row

# RFC 1628 upsOutputSource as flags; `none` is an output that is off.
SOURCES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "normal": frozenset({"ol"}),
        "bypass": frozenset({"ol", "bypass"}),
        "battery": frozenset({"ob"}),
        "booster": frozenset({"ol", "boost"}),
        "reducer": frozenset({"ol", "trim"}),
        "none": frozenset({"off"}),
    }
)


def list_matches(flags: frozenset[str] | None) -> list[Row]:
    """Every row that is met: always exactly one, which a test proves for all combinations."""
    if flags is None:
        return [SILENT]
    if not flags <= KNOWN:
        return [STRANGER]
    return [row for row in ROWS if row.every <= flags and not row.no & flags and (not row.some or row.some & flags)]


@lru_cache(maxsize=1024)
def _find(flags: frozenset[str] | None) -> Row:
    (row,) = list_matches(flags)
    return row


def find_row(flags: frozenset[str] | None, ignored: Collection[str] = ()) -> Row:
    """What the flags mean; None = no data. `ignored` = words that say nothing at this site."""
    return _find(None if flags is None else frozenset(flag.lower() for flag in flags).difference(ignored))
