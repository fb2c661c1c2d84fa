from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.topology import check_map, to_hccl, to_hostfile, to_json

MAP = {0: "n0/card0", 1: "n0/card1", 2: "n1/card0", 3: "n1/card5"}
ADDRESSES = {card: f"10.0.{rank}.1" for rank, card in MAP.items()} | {"n1": "192.0.2.7"}
CARDS = st.builds("n{}/card{}".format, st.integers(0, 5), st.integers(0, 15))
MAPS = st.lists(CARDS, min_size=1, max_size=24, unique=True).map(lambda cards: dict(enumerate(cards)))


def read_hostfile(text: str) -> list[tuple[str, str]]:
    """Node and device of each rank, as a launcher that reads in sequence places them."""
    places: list[tuple[str, str]] = []
    devices: list[str] = []
    for line in text.splitlines():
        if line.startswith("#"):
            devices = line.partition("CUDA_VISIBLE_DEVICES=")[2].split(",")
        else:
            node, _, slots = line.partition(" slots=")
            assert len(devices) == int(slots)
            places += [(node, device) for device in devices]
    return places


@given(cards=MAPS)
def test_json_holds_every_rank_with_its_card(cards: dict[int, str]) -> None:
    told = json.loads(to_json(cards))
    assert told["world"] == len(cards)
    assert {one["rank"]: f"{one['node']}/card{one['device']}" for one in told["ranks"]} == cards
    assert {one["rank"]: one["card"] for one in told["ranks"]} == cards


@given(cards=MAPS)
def test_a_rank_table_holds_every_rank_with_its_card_and_counts_its_servers(cards: dict[int, str]) -> None:
    table = json.loads(to_hccl(cards, {card: f"ip-{card}" for card in cards.values()}))
    devices = [(server["server_id"], device) for server in table["server_list"] for device in server["device"]]
    assert {int(device["rank_id"]): f"{node}/card{device['device_id']}" for node, device in devices} == cards
    assert all(device["device_ip"] == f"ip-{node}/card{device['device_id']}" for node, device in devices)
    assert table["server_count"] == str(len({card.partition("/")[0] for card in cards.values()})) == str(len(table["server_list"]))
    assert (table["version"], table["status"]) == ("1.0", "completed")


@given(cards=MAPS)
def test_a_hostfile_read_in_sequence_places_every_rank(cards: dict[int, str]) -> None:
    text = to_hostfile(cards)
    assert [f"{node}/card{device}" for node, device in read_hostfile(text)] == list(cards.values())
    hosts = [line.split()[0] for line in text.splitlines() if not line.startswith("#")]
    assert ("--map-by seq" in text) == (len(set(hosts)) < len(hosts))


def test_a_node_has_one_line_where_its_ranks_follow_each_other() -> None:
    text = to_hostfile(MAP, devices="ASCEND_RT_VISIBLE_DEVICES")
    assert text == "# ranks 0-1: ASCEND_RT_VISIBLE_DEVICES=0,1\nn0 slots=2\n# ranks 2-3: ASCEND_RT_VISIBLE_DEVICES=0,5\nn1 slots=2\n"


def test_a_spare_on_another_node_makes_a_line_a_rank() -> None:
    text = to_hostfile({0: "n0/card0", 1: "n1/card7", 2: "n0/card2"})
    assert [line for line in text.splitlines() if not line.startswith("#")] == ["n0 slots=1", "n1 slots=1", "n0 slots=1"]


def test_a_server_goes_by_the_address_that_is_given_for_it() -> None:
    table = json.loads(to_hccl(MAP, ADDRESSES))
    assert [server["server_id"] for server in table["server_list"]] == ["n0", "192.0.2.7"]


def test_a_card_without_an_address_is_named() -> None:
    known = {card: address for card, address in ADDRESSES.items() if card != "n1/card5"}
    with pytest.raises(ValueError, match="none is known of n1/card5"):
        to_hccl(MAP, known)


@pytest.mark.parametrize(
    ("cards", "world", "why"),
    [
        ({}, 0, "no ranks"),
        ({0: "n0/card0", 2: "n0/card2"}, 0, "No card is known of rank 1 of 3"),
        ({0: "n0/card0"}, 4, "ranks 1, 2, 3 of 4"),
        ({0: "n0/card0", 1: "n0/card0"}, 0, "Ranks 0, 1 are all on n0/card0"),
        ({0: "n0/card0", 1: "n0/card1"}, 1, "can be no rank 1 among 1"),
        ({0: "n0/card0", -1: "n0/card1"}, 0, "can be no rank -1"),
        ({0: "n0"}, 0, "'n0', which is no card"),
        ({0: "n0/card03"}, 0, "which is no card"),
        ({10**12: "n0/card0"}, 0, "and 999999999992 more of 1000000000001"),
    ],
)
def test_a_map_that_is_not_whole_is_refused(cards: dict[int, str], world: int, why: str) -> None:
    assert why in " ".join(check_map(cards, world))
    for write in (to_json, to_hostfile):
        with pytest.raises(ValueError, match=why):
            write(cards, world)
    with pytest.raises(ValueError, match=why):
        to_hccl(cards, ADDRESSES, world)


@given(cards=st.dictionaries(st.integers(-3, 12), st.text(max_size=12) | CARDS), world=st.integers(0, 12))
def test_any_map_is_whole_or_told(cards: dict[int, str], world: int) -> None:
    if not check_map(cards, world):
        assert sorted(cards) == list(range(len(cards)))
        assert json.loads(to_json(cards, world))["world"] == len(cards)
