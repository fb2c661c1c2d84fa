"""Raw numbers as values of quantities, and the other way round. Pure; bad numbers become no value with a note that says what was there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from supernoded.plugin import Value, quote
from supernoded_modbus.kinds import SENTINELS, Raw, decode, encode
from supernoded_modbus.maps import Row
from supernoded_modbus.places import Place

EXACT = 9  # decimals: 0.1 x 221 is 22.1
FLOAT_STEP = 0.01  # of a float: finer than any valve or thermometer (ours)


class Told(NamedTuple):
    """A value as its quantity has it; None = unknown, and why."""

    value: Value
    note: str = ""

    @property
    def number(self) -> float:
        """A number, NaN where it is none."""
        return float(self.value) if isinstance(self.value, int | float) else math.nan

    @property
    def names(self) -> frozenset[str]:
        """A set of flags, empty where it is none."""
        return self.value if isinstance(self.value, frozenset) else frozenset()


def tell(words: Sequence[int], row: Row) -> Told:
    """The value of the registers or bit that one row takes."""
    raw = decode(words, row.kind, row.order)
    if isinstance(raw, str):
        return Told(raw) if raw and raw.isprintable() else Told(None, f"no text: {quote(raw)}")
    nothing = raw == (1 << 16 * len(words)) - 1 if row.kind == "flags" else raw in SENTINELS.get(row.kind, ())
    if nothing or not math.isfinite(raw) or raw in row.sentinels:
        return Told(None, f"the device shows {_show(raw, row)}, which stands for no value")
    if row.flags or row.numbered:
        return _tell_flags(int(raw), row)
    if row.words:
        return next((Told(word) for word, number in row.words.items() if number == raw), Told(None, f"{_show(raw, row)} has no name"))
    return _tell_number(raw, row)


def _tell_number(raw: Raw, row: Row) -> Told:
    value = round(float(raw) * row.scale + row.offset, EXACT)
    low, high = (-math.inf if row.low is None else row.low), (math.inf if row.high is None else row.high)
    if not low <= value <= high:
        return Told(None, f"{value:g} {row.unit} ({_show(raw, row)}) is outside {low:g} to {high:g}")
    return Told(value)


def _tell_flags(raw: int, row: Row) -> Told:
    """A bit that has no name is told as `bit17`: an unknown flag is a conflict, not nothing (safety rule 13)."""
    bits = [place for place in range(raw.bit_length()) if raw >> place & 1]
    if row.numbered:
        return Told(frozenset(str(bit + 1) for bit in bits))
    if not bits and not row.may_be_empty:
        return Told(None, "no flag at all, which is no state")  # an empty status is unknown, not off-line
    return Told(frozenset(row.flags[bit] if bit < len(row.flags) and row.flags[bit] else f"bit{bit}" for bit in bits))


def _show(raw: Raw, row: Row) -> str:
    return f"0x{raw:X}" if isinstance(raw, int) and row.kind.startswith("u") else f"{raw}"


def find_step(row: Row) -> float:
    """The least change that it can show."""
    return FLOAT_STEP if row.kind == "f32" else abs(row.scale)


def fit(value: float, row: Row) -> float:
    """What it would show of a value that is written, in whole steps of its own. NaN stays."""
    if row.kind == "f32" or not math.isfinite(value):
        return value
    return round(round((value - row.offset) / row.scale) * row.scale + row.offset, EXACT)


def untell(value: float | str | frozenset[str], place: Place) -> tuple[int, ...]:
    """The registers that say a value. Raises ValueError with the limit for one that the row does not take."""
    row = place.row
    if isinstance(value, frozenset):
        if not row.numbered:
            raise ValueError(f"{row.name} takes no numbers of outlets")
        return encode(sum(1 << int(number) - 1 for number in value), row.kind, place.size, row.order)
    if isinstance(value, str):
        if value not in row.words:
            raise ValueError(f"{row.name} takes {', '.join(row.words)}, not {value!r}")
        return encode(row.words[value], row.kind, place.size, row.order)
    low, high = (-math.inf if row.low is None else row.low), (math.inf if row.high is None else row.high)
    if not low <= value <= high:  # so that NaN is refused too
        raise ValueError(f"{row.name} takes {low:g} to {high:g} {row.unit}, not {value:g}")
    raw = (value - row.offset) / row.scale
    words = encode(raw if row.kind == "f32" else round(raw), row.kind, place.size, row.order)
    if tell(words, row).value is None:
        raise ValueError(f"{row.name}: {value:g} {row.unit} would be read as no value")
    return words
