"""Registers as raw numbers, and back. Pure; nothing that a device sends makes it raise."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Literal

Kind = Literal["u16", "s16", "u32", "s32", "u64", "f32", "text", "bits", "flags"]
Order = Literal["abcd", "cdab", "badc", "dcba"]  # of the four bytes of a 32-bit value, as manuals write it
Raw = int | float | str

_CODES: dict[str, str] = {"u16": ">H", "s16": ">h", "u32": ">I", "s32": ">i", "u64": ">Q", "f32": ">f"}
# What a kind shows for "no value" unless a map says otherwise: all ones, the ends of the signed range.
SENTINELS: dict[str, frozenset[int]] = {
    "u16": frozenset({0xFFFF}),
    "s16": frozenset({0x7FFF, -0x8000}),
    "u32": frozenset({0xFFFF_FFFF}),
    "s32": frozenset({0x7FFF_FFFF, -0x8000_0000}),
    "u64": frozenset({0xFFFF_FFFF_FFFF_FFFF}),
}


def count_registers(kind: Kind, length: int) -> int:
    """How many registers it takes; `length` counts for a text and for flags alone. A bit takes one place of its own table."""
    return length if kind in ("text", "flags") else 1 if kind == "bits" else struct.calcsize(_CODES[kind]) // 2


def decode(words: Sequence[int], kind: Kind, order: Order = "abcd") -> Raw:
    """The raw number, text or bit pattern of as many registers as the kind takes."""
    data = _to_bytes(words, order)
    if kind == "text":
        return data.split(b"\0", 1)[0].decode("ascii", "replace").strip()
    if kind in ("flags", "bits"):
        return int.from_bytes(data, "big")
    raw: int | float = struct.unpack(_CODES[kind], data)[0]
    return raw


def encode(raw: float, kind: Kind, length: int = 1, order: Order = "abcd") -> tuple[int, ...]:
    """The registers of a raw number. Raises ValueError for one that the kind cannot carry, and for a text."""
    if kind == "text" or not math.isfinite(raw):
        raise ValueError(f"{raw!r} cannot be written as {kind}")
    try:
        data = int(raw).to_bytes(2 * length, "big") if kind in ("flags", "bits") else _pack(raw, kind)
    except (struct.error, OverflowError) as error:
        raise ValueError(f"{raw:g} does not fit in {kind}") from error
    return _to_words(data, order)


def _pack(raw: float, kind: Kind) -> bytes:
    return struct.pack(_CODES[kind], raw if kind == "f32" else round(raw))


def _to_bytes(words: Sequence[int], order: Order) -> bytes:
    ordered = words if order in ("abcd", "badc") else words[::-1]
    data = struct.pack(f">{len(words)}H", *ordered)
    return data if order in ("abcd", "cdab") else _swap(data)


def _to_words(data: bytes, order: Order) -> tuple[int, ...]:
    swapped = data if order in ("abcd", "cdab") else _swap(data)
    words: tuple[int, ...] = struct.unpack(f">{len(data) // 2}H", swapped)
    return words if order in ("abcd", "badc") else words[::-1]


def _swap(data: bytes) -> bytes:
    """The two bytes of each register exchanged."""
    return b"".join(data[at : at + 2][::-1] for at in range(0, len(data), 2))
