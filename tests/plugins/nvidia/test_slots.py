"""Which card is which: only what is sure is a number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.plugin import PluginError, Topology
from supernoded.topology.site import Card, Supernode
from supernoded_nvidia.slots import Slots, read_bus, sort_buses

BUSES = ["0000:0a:00.0", "0000:1b:00.0", "0001:00:00.0"]


def make(cards: int, *serials: tuple[str, str], **named: str) -> Slots:
    topology = Topology(nodes=(Supernode(name="n0", cards=cards),), cards=tuple(Card(card=card, serial=serial) for card, serial in serials))
    return Slots("n0", topology, {name.replace("_", ":"): subject for name, subject in named.items()})


@pytest.mark.parametrize(
    ("text", "bus"),
    [
        ("00000000:A1:00.0", "0000:a1:00.0"),
        ("0000:a1:00", "0000:a1:00.0"),
        ("PCI:0000:10:1c", "0000:10:1c.0"),
        ("000:BA:80.0", "0000:ba:80.0"),
        ("00010000:01:00.1", "10000:01:00.1"),
        ("", ""),
        ("GPU", ""),
        ("a1:00.0", ""),
        ("0000:a1:00.0 ", "0000:a1:00.0"),
    ],
)
def test_one_spelling_of_a_bus_id(text: str, bus: str) -> None:
    assert read_bus(text) == bus


@given(st.text(max_size=30))
def test_any_text_is_a_bus_id_or_none(text: str) -> None:
    bus = read_bus(text)
    assert read_bus(bus) == bus


def test_a_whole_list_is_numbered_in_the_order_of_the_bus() -> None:
    slots = make(3)
    slots.learn(reversed(BUSES))
    assert [slots.subject(bus) for bus in BUSES] == ["n0/card0", "n0/card1", "n0/card2"]


def test_a_list_that_is_not_whole_numbers_nothing() -> None:
    slots = make(3)
    slots.learn(BUSES[1:])
    assert [slots.subject(bus) for bus in BUSES] == [f"n0/gpu/{bus}" for bus in BUSES]
    slots.learn(BUSES[:1])
    assert slots.subject(BUSES[1]) == "n0/card1"


def test_the_number_of_a_card_stays() -> None:
    slots = make(3)
    slots.learn(BUSES)
    slots.learn(["0000:00:1f.0"])
    assert slots.subject(BUSES[0]) == "n0/card0"
    assert slots.subject("0000:00:1f.0") == "n0/gpu/0000:00:1f.0"


def test_serials_of_the_topology_help_where_one_is_missing() -> None:
    slots = make(3, ("n0/card2", "S2"), ("n1/card0", "S1"))
    slots.learn(BUSES[1:], {BUSES[1]: "S1", BUSES[2]: "S2"})
    assert slots.subject(BUSES[2]) == "n0/card2"
    assert slots.subject(BUSES[1]) == f"n0/gpu/{BUSES[1]}"


def test_the_settings_win() -> None:
    slots = make(3, **{"00000000_1B_00.0": "n0/card0"})
    slots.learn(BUSES)
    assert [slots.subject(bus) for bus in BUSES] == [f"n0/gpu/{BUSES[0]}", "n0/card0", "n0/card2"]


def test_a_bad_bus_id_in_the_settings_is_named() -> None:
    with pytest.raises(PluginError, match="cards: 'slot3' is no PCI bus id"):
        make(3, slot3="n0/card3")


def test_no_cards_declared_are_numbered_as_they_come() -> None:
    slots = make(0)
    slots.learn(BUSES[:2], None, {BUSES[1]: "GPU-b"})
    assert [slots.subject(bus) for bus in BUSES[:2]] == ["n0/card0", "n0/card1"]
    assert slots.subject_by_uuid(0, "GPU-b") == "n0/card1"
    assert slots.subject_by_uuid(0, "GPU-xxx") == "n0/card0"
    assert slots.subject_by_uuid(7, "GPU-xxx") == "n0/card7"


def test_long_domains_come_last() -> None:
    assert sort_buses(["10000:01:00.0", "ffff:01:00.0"]) == ["ffff:01:00.0", "10000:01:00.0"]


def test_alive_is_after_and_not_at() -> None:
    slots = make(0)
    assert not slots.is_alive_since(BUSES[0], 5.0)
    slots.mark_alive(BUSES[0], 5.0)
    assert not slots.is_alive_since(BUSES[0], 5.0)
    assert slots.is_alive_since(BUSES[0], 4.0)
