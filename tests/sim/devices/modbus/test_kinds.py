"""Numbers and texts as registers."""

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.devices.modbus.kinds import Kind, WordOrder, count_words, find_range, pack, pack_text, quantise, unpack

INTEGERS: tuple[Kind, ...] = ("u16", "s16", "u32", "s32", "u64")
ORDERS: tuple[WordOrder, ...] = ("big", "swapped")
UNKNOWN: dict[Kind, int] = {"u16": 0xFFFF, "s16": 0x7FFF, "u32": 0xFFFFFFFF, "s32": 0x7FFFFFFF, "u64": 2**64 - 1}
SPANS: dict[Kind, tuple[int, int]] = {
    "u16": (0, 65535),
    "s16": (-32768, 32767),
    "u32": (0, 4294967295),
    "s32": (-2147483648, 2147483647),
    "u64": (0, 18446744073709551615),
}

whole = st.sampled_from(INTEGERS).flatmap(lambda kind: st.tuples(st.just(kind), st.integers(*SPANS[kind])))


@given(whole, st.sampled_from(ORDERS))
def test_every_integer_comes_back(case: tuple[Kind, int], order: WordOrder) -> None:
    kind, raw = case
    words = pack(raw, kind, order)
    assert len(words) == count_words(kind)
    assert all(0 <= word <= 0xFFFF for word in words)
    assert unpack(words, kind, order) == raw


@given(st.floats(width=32, allow_nan=False), st.sampled_from(ORDERS))
def test_every_float_comes_back(value: float, order: WordOrder) -> None:
    assert unpack(pack(value, "f32", order), "f32", order) == value


def test_the_order_of_words() -> None:
    assert pack(0x11223344, "u32", "big") == (0x1122, 0x3344)
    assert pack(0x11223344, "u32", "swapped") == (0x3344, 0x1122)
    assert pack(1.0, "f32", "big") == (0x3F80, 0x0000)
    assert pack(1.0, "f32", "swapped") == (0x0000, 0x3F80)
    assert pack(1, "u64", "swapped") == (1, 0, 0, 0)


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("value", [None, math.nan])
def test_no_value_is_the_sentinel(kind: Kind, value: float | None) -> None:
    assert quantise(value, kind) == UNKNOWN[kind]
    assert quantise(value, kind, sentinel=7) == 7


def test_no_value_is_nan_in_a_float() -> None:
    assert math.isnan(quantise(None, "f32"))
    assert quantise(None, "f32", sentinel=-1.0) == -1.0


@pytest.mark.parametrize(
    ("value", "kind", "raw"),
    [
        (1e9, "u16", 65534),  # one before the sentinel
        (math.inf, "u16", 65534),
        (-5.0, "u16", 0),
        (-math.inf, "s16", -32768),
        (1e9, "s16", 32766),
        (1e30, "u64", 2**64 - 2),
        (1e300, "f32", 3.4028234663852886e38),
        (math.inf, "f32", math.inf),
        (22.04, "s16", 22),
    ],
)
def test_what_is_out_of_range_saturates(value: float, kind: Kind, raw: float) -> None:
    assert quantise(value, kind) == raw


def test_a_measured_value_never_looks_like_the_sentinel() -> None:
    assert quantise(0.0, "u16", sentinel=0) == 1
    assert quantise(-1.0, "s16", sentinel=-1) == 0
    assert quantise(500.0, "u16", sentinel=500) == 499


@given(st.floats(allow_nan=True, allow_infinity=True), st.sampled_from((*INTEGERS, "f32")), st.sampled_from((0.1, 1.0, -0.5, 1e-6)))
def test_any_value_can_be_packed(value: float, kind: Kind, scale: float) -> None:
    raw = quantise(value, kind, scale, 3.0)
    words = pack(raw, kind, "big")
    assert len(words) == count_words(kind)
    if kind != "f32":
        low, high = find_range(kind)
        assert low <= raw <= high


@given(st.floats(-300.0, 300.0))
def test_scale_and_offset(value: float) -> None:
    raw = quantise(value, "s16", 0.1, -300.0)
    assert raw * 0.1 - 300.0 == pytest.approx(value, abs=0.0501)


@given(st.text("aZ09 -\0é漢", max_size=30))
def test_a_text_is_ascii_in_its_registers(text: str) -> None:
    words = pack_text(text, 8)
    data = struct.pack(">8H", *words)
    assert data == text.encode("ascii", "replace")[:16].ljust(16, b"\0")
