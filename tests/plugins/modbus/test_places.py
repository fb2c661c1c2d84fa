"""Where rows stand, and which reads bring them in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded_modbus.kinds import Kind
from supernoded_modbus.maps import RegisterMap, Row, load_map
from supernoded_modbus.places import find_clash, lay_out, list_polled, make_blocks

KINDS: tuple[Kind, ...] = ("u16", "s16", "u32", "u64", "f32", "text", "flags")


@st.composite
def maps(draw: st.DrawFn) -> RegisterMap:
    rows, address = [], 0
    for number in range(draw(st.integers(1, 30))):
        address += draw(st.sampled_from([0, 0, 0, 1, 3, 40]))
        row = Row(name=f"r{number}", address=address, kind=draw(st.sampled_from(KINDS)), length=draw(st.integers(1, 8)))
        rows.append(row)
        address += lay_out(RegisterMap(text="t", rows=(row,)), "x")[0].size
    return RegisterMap(text="t", rows=tuple(rows), gap=draw(st.sampled_from([0, 1, 5])), most=draw(st.sampled_from([16, 60, 125])))


@given(maps())
def test_every_value_comes_whole_in_one_read(found: RegisterMap) -> None:
    places = lay_out(found, "x")
    blocks = make_blocks(places, found)
    assert Counter(place.key for block in blocks for place in block.places) == Counter(place.key for place in places)
    for block in blocks:
        assert block.size <= found.most
        assert all(block.address <= place.address and place.address + place.size <= block.address + block.size for place in block.places)
        covered = {at for place in block.places for at in range(place.address, place.address + place.size)}
        missing = sorted(set(range(block.address, block.address + block.size)) - covered)
        assert not missing or found.gap


def test_each_outlet_has_its_own_place() -> None:
    row = Row(name="o", address=100, stride=2, each="outlet", kind="u32", subject="{subject}/outlet{n}")
    places = lay_out(RegisterMap(text="t", rows=(row,)), "pdu/A1", (7, 1, 2))
    assert [(one.address, one.subject) for one in places] == [
        (100, "pdu/A1/outlet1"),
        (102, "pdu/A1/outlet2"),
        (112, "pdu/A1/outlet7"),
    ]
    assert [(block.address, block.size) for block in make_blocks(places, RegisterMap(text="t", rows=(row,)))] == [(100, 4), (112, 2)]


def test_what_would_stand_beyond_the_last_address_is_left_out() -> None:
    row = Row(name="o", address=65535, count=2)
    assert [one.address for one in lay_out(RegisterMap(text="t", rows=(row,)), "x")] == [65535]


@pytest.mark.parametrize(
    ("outlets", "clash"),
    [
        (range(1, 65), ""),
        ((1, 101), "outlet_current 1 and outlet_power 101 both stand at holding 300"),
        ((1, 201), "outlet 201 and lock 1 both stand at coil 200"),
        ((201,), "outlet_power 201 and group both stand at holding 500"),
    ],
)
def test_two_outlets_never_share_a_register(outlets: Sequence[int], clash: str) -> None:
    assert find_clash(lay_out(load_map("pdu"), "pdu/A1", outlets)) == clash


@pytest.mark.parametrize("name", ["dcd", "pdu", "plc", "rpu", "ups"])
def test_in_our_maps_nothing_clashes(name: str) -> None:
    assert find_clash(lay_out(load_map(name), "x", range(1, 49))) == ""


def test_clocks_are_polled_with_what_they_are_for() -> None:
    rows = (
        Row(name="clock", address=0),
        Row(name="at", address=1, clock="clock", quantity="pdu.event_age"),
        Row(name="w", address=2, writable=True),
    )
    assert [one.row.name for one in list_polled(lay_out(RegisterMap(text="t", rows=rows), "x"))] == ["clock", "at"]
