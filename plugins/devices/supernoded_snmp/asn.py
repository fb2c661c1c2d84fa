"""Names and values of SNMP, before they are bytes and after."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

import msgspec

Oid = tuple[int, ...]
Kind = Literal[
    "integer",
    "text",
    "null",
    "oid",
    "ip",
    "counter",
    "gauge",
    "ticks",
    "opaque",
    "counter64",
    "no-object",
    "no-instance",
    "end",
    "error",  # of our own: the agent answered this name with an error status, which is the value
]

NUMBERS: frozenset[Kind] = frozenset({"integer", "counter", "gauge", "ticks", "counter64"})
MISSING: frozenset[Kind] = frozenset({"null", "no-object", "no-instance", "end"})
LONGEST_OID = 128  # sub-identifiers (RFC 3416, 2.4)


class Asn(msgspec.Struct, frozen=True):
    """A value with its ASN.1 type, whatever type was due."""

    kind: Kind
    value: int | bytes | Oid


@lru_cache(maxsize=1024)
def parse_oid(dotted: str) -> Oid:
    """`1.3.6.1` as numbers. Raises ValueError."""
    return tuple(int(part) for part in dotted.strip(".").split("."))


def show_oid(oid: Oid) -> str:
    """As people write it."""
    return ".".join(map(str, oid))


def show_text(value: bytes) -> str:
    """A DisplayString, without the blanks and zero bytes with which cards fill it up."""
    return " ".join(value.decode("utf-8", "replace").replace("\0", " ").split())
