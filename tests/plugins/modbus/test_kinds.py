"""Raw numbers as registers and back, for every kind and byte order, and for every row that we ship."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded_modbus.kinds import SENTINELS, Kind, Order, count_registers, decode, encode
from supernoded_modbus.maps import Row, load_map
from supernoded_modbus.places import Place, lay_out
from supernoded_modbus.values import tell, untell

NAMES = ("dcd", "pdu", "plc", "rpu", "ups")
ORDERS: tuple[Order, ...] = ("abcd", "cdab", "badc", "dcba")
RANGES: dict[Kind, tuple[int, int]] = {
    "u16": (0, 2**16 - 1),
    "s16": (-(2**15), 2**15 - 1),
    "u32": (0, 2**32 - 1),
    "s32": (-(2**31), 2**31 - 1),
    "u64": (0, 2**64 - 1),
}


def list_places() -> Iterator[Place]:
    for name in NAMES:
        yield from lay_out(load_map(name), "x/1", (1, 2, 7))


PLACES = {f"{place.row.name}.{place.number}@{place.address}": place for place in list_places()}


@pytest.mark.parametrize("kind", RANGES)
@given(data=st.data(), order=st.sampled_from(ORDERS))
def test_whole_numbers_come_back(kind: Kind, data: st.DataObject, order: Order) -> None:
    raw = data.draw(st.integers(*RANGES[kind]))
    words = encode(raw, kind, order=order)
    assert len(words) == count_registers(kind, 1)
    assert decode(words, kind, order) == raw


@given(raw=st.floats(width=32, allow_nan=False, allow_infinity=False), order=st.sampled_from(ORDERS))
def test_floats_come_back(raw: float, order: Order) -> None:
    assert decode(encode(raw, "f32", order=order), "f32", order) == raw


def test_the_orders_are_those_of_manuals() -> None:
    a, b, c, d = 0x41, 0xB0, 0x12, 0x34
    (number,) = struct.unpack(">f", bytes((a, b, c, d)))
    as_words = {"abcd": (a, b, c, d), "cdab": (c, d, a, b), "badc": (b, a, d, c), "dcba": (d, c, b, a)}
    for order in ORDERS:
        one, two, three, four = as_words[order]
        assert encode(number, "f32", order=order) == (one << 8 | two, three << 8 | four)


@pytest.mark.parametrize("kind", RANGES)
def test_what_does_not_fit_is_refused(kind: Kind) -> None:
    low, high = RANGES[kind]
    for raw in (low - 1, high + 1, math.nan, math.inf):
        with pytest.raises(ValueError, match=r"fit|cannot"):
            encode(raw, kind)


@given(words=st.lists(st.integers(0, 0xFFFF), min_size=1, max_size=60), order=st.sampled_from(ORDERS))
def test_any_registers_are_some_text(words: list[int], order: Order) -> None:
    assert isinstance(decode(words, "text", order), str)


@given(data=st.data())
def test_any_registers_are_a_value_or_none_with_a_reason(data: st.DataObject) -> None:
    place = PLACES[data.draw(st.sampled_from(sorted(PLACES)))]
    top = 1 if place.row.kind == "bits" else 0xFFFF
    words = data.draw(st.lists(st.integers(0, top), min_size=place.size, max_size=place.size))
    told = tell(words, place.row)
    assert (told.value is None) == bool(told.note)
    low, high = place.row.low, place.row.high
    if isinstance(told.value, float):
        assert low is None or told.value >= low
        assert high is None or told.value <= high


def list_writable() -> list[str]:
    return [name for name, place in PLACES.items() if place.row.writable]


@given(data=st.data())
def test_what_is_written_is_read_as_the_same(data: st.DataObject) -> None:
    place = PLACES[data.draw(st.sampled_from(list_writable()))]
    row = place.row
    if row.words:
        value: float | str | frozenset[str] = data.draw(st.sampled_from(sorted(row.words)))
    elif row.numbered:
        value = data.draw(st.frozensets(st.integers(1, 60).map(str)))
    else:
        value = data.draw(st.floats(0.0 if row.low is None else row.low, 1.0 if row.high is None else row.high))
    told = tell(untell(value, place), row)
    if isinstance(value, float):
        assert isinstance(told.value, float)
        assert abs(told.value - value) <= abs(row.scale) / 2 + 1e-9
    else:
        assert told.value == value


def test_no_sentinel_is_ever_written() -> None:
    place = Place(Row(name="r", address=0, writable=True), 0, 1, -1, "x")
    assert SENTINELS["u16"] == {0xFFFF}
    with pytest.raises(ValueError, match="no value"):
        untell(65535.0, place)
