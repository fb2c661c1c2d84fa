"""Names and values of SNMP, before they are bytes."""

from __future__ import annotations

from typing import Literal

import msgspec

Oid = tuple[int, ...]
Kind = Literal["integer", "text", "oid", "ticks", "gauge", "counter", "null"]
Unknown = Literal["minus-one", "zero", "absent"]  # how an agent shows what it does not know: all three are in the field

LEAST, MOST = -(2**31), 2**31 - 1  # of an INTEGER
_RANGES = {"integer": (LEAST, MOST), "ticks": (0, 2**32 - 1), "gauge": (0, 2**32 - 1), "counter": (0, 2**32 - 1)}


class Asn(msgspec.Struct, frozen=True):
    """A value with its ASN.1 type."""

    kind: Kind
    value: int | bytes | Oid


def number(value: int, kind: Kind = "integer") -> Asn:
    """A number; outside of what its type holds it stays at the end, as a register does."""
    low, high = _RANGES[kind]
    return Asn(kind, min(max(value, low), high))


def ticks(seconds: float) -> Asn:
    """TimeTicks: hundredths of a second, which begin anew after 497 days."""
    return Asn("ticks", max(0, round(seconds * 100.0)) % 2**32)


def text(value: str) -> Asn:
    """A DisplayString of at most 255 bytes."""
    return Asn("text", value.encode("utf-8", "replace")[:255])


def parse_oid(dotted: str) -> Oid:
    """`1.3.6.1` as numbers. Raises ValueError."""
    return tuple(int(part) for part in dotted.strip(".").split("."))
