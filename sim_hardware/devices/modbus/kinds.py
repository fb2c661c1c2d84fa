"""Numbers and texts as 16-bit registers, and back."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Literal

Kind = Literal["u16", "s16", "u32", "s32", "u64", "f32", "text"]
WordOrder = Literal["big", "swapped"]
Raw = int | float

_CODES: dict[str, str] = {"u16": ">H", "s16": ">h", "u32": ">I", "s32": ">i", "u64": ">Q", "f32": ">f"}
_UNKNOWN: dict[str, Raw] = {"u16": 0xFFFF, "s16": 0x7FFF, "u32": 0xFFFFFFFF, "s32": 0x7FFFFFFF, "u64": 2**64 - 1, "f32": math.nan}
_F32_MOST = 3.4028234663852886e38


def count_words(kind: Kind, length: int = 1) -> int:
    """How many registers it takes; a text says itself."""
    return length if kind == "text" else struct.calcsize(_CODES[kind]) // 2


def find_range(kind: Kind) -> tuple[float, float]:
    """Least and greatest raw number of a kind. Raises KeyError for a text."""
    if kind == "f32":
        return -_F32_MOST, _F32_MOST
    bits = 16 * count_words(kind)
    return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if kind.startswith("s") else (0, 2**bits - 1)


def quantise(value: float | None, kind: Kind, scale: float = 1.0, offset: float = 0.0, sentinel: Raw | None = None) -> Raw:
    """The raw number that stands for `value` = raw x scale + offset.

    No value and NaN become the sentinel (by default all ones, the greatest signed number, or NaN). What is out of range saturates as a
    converter does: at the end of the kind's range, or one step before it where that is the sentinel.
    """
    unknown = _UNKNOWN[kind] if sentinel is None else sentinel
    if value is None or math.isnan(value):
        return unknown if kind == "f32" else int(unknown)
    low, high = find_range(kind)
    exact = (value - offset) / scale
    if kind == "f32":
        return exact if math.isinf(exact) else min(max(exact, low), high)
    raw = round(min(max(exact, low), high))
    if raw != unknown:
        return raw
    return raw + 1 if raw <= 0 else raw - 1


def pack(raw: Raw, kind: Kind, order: WordOrder) -> tuple[int, ...]:
    """The registers of a raw number. Raises struct.error for one outside of its kind."""
    data = struct.pack(_CODES[kind], raw)
    words = struct.unpack(f">{len(data) // 2}H", data)
    return words if order == "big" else words[::-1]


def unpack(words: Sequence[int], kind: Kind, order: WordOrder) -> Raw:
    """The raw number of as many registers as the kind takes."""
    ordered = words if order == "big" else words[::-1]
    raw: Raw = struct.unpack(_CODES[kind], struct.pack(f">{len(words)}H", *ordered))[0]
    return raw


def pack_text(text: str, length: int) -> tuple[int, ...]:
    """Two ASCII characters a register, NUL behind; what is no ASCII is a question mark, what is too long is cut."""
    data = text.encode("ascii", "replace")[: 2 * length].ljust(2 * length, b"\0")
    return struct.unpack(f">{length}H", data)
