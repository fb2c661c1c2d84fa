"""Neighbours: the shapes that the daemon's JSON comes in, and what they are called here."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.parts import Source
from supernoded.plugin import name_neighbour
from supernoded.topology import Cable, Supernode, Topology
from supernoded_fabric.lldp import Neighbour, list_neighbours, parse_neighbours
from supernoded_fabric.recorded_tools import read_lldp

PORT = {"id": {"type": "ifname", "value": "Ethernet12"}, "descr": "to n0"}
ENTRY = {"via": "LLDP", "chassis": {"leaf1": {"id": {"type": "mac", "value": "00:00:00:00:00:01"}}}, "port": PORT}
JSON0 = {
    "name": "eth0",
    "chassis": [{"id": [{"type": "mac", "value": "00:00:00:00:00:01"}], "name": [{"value": "leaf1"}]}],
    "port": [{"id": [{"type": "ifname", "value": "Ethernet12"}], "descr": [{"value": "to n0"}]}],
}


@pytest.mark.parametrize(
    "document",
    [
        {"lldp": {"interface": {"eth0": ENTRY}}},
        {"lldp": {"interface": [{"eth0": ENTRY}]}},
        {"lldp": {"interface": [{"eth0": [ENTRY]}]}},
        {"lldp": [{"interface": [JSON0]}]},
    ],
)
def test_every_shape(document: object) -> None:
    assert parse_neighbours(json.dumps(document)) == [Neighbour("eth0", "leaf1", ("Ethernet12", "to n0"))]


def test_a_port_known_by_its_address_goes_by_its_description() -> None:
    entry = {"chassis": {"id": {"type": "mac", "value": "00:01"}}, "port": {"id": {"type": "mac", "value": "00:02"}, "descr": "eth3"}}
    assert parse_neighbours(json.dumps({"lldp": {"interface": {"eth0": entry}}})) == [Neighbour("eth0", "00:01", ("eth3", "00:02"))]


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"lldp": {}}', '{"lldp": {"interface": {"eth0": {"port": 3}}}}', "[" * 5000])
def test_nobody(text: str) -> None:
    assert parse_neighbours(text) == []


SITE = Topology(nodes=(Supernode(name="n1", cards=2),), cables=(Cable(a="n1/nic/mlx5_0", b="switch/s1/port12"),))


def test_of_several_the_one_that_is_known() -> None:
    several = [Neighbour("eth0", "phone", ("p1",)), Neighbour("eth0", "x", ("n1/card0/port0",))]
    (reading,) = list_neighbours(several, name_neighbour(SITE, {}), lambda name: f"n0/nic/{name}", 7.0)
    assert (reading.subject, reading.value) == ("n0/nic/eth0", "n1/card0/port0")
    assert reading.note == "1 more answer on this port"


def test_a_recording() -> None:
    text = json.dumps({"lldp": {"interface": {"eth0": ENTRY}}})
    (reading,) = read_lldp(Source(name="x", data=text.encode(), at=7.0))
    assert (reading.subject, reading.quantity, reading.value, reading.at) == ("n0/nic/eth0", "link.neighbour", "leaf1/Ethernet12", 7.0)


WORDS = st.sampled_from(["lldp", "interface", "eth0", "port", "chassis", "id", "value", "type", "descr", "name", "mac"])


@given(
    st.recursive(st.none() | st.integers() | WORDS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4))
)
def test_any_document_is_survived(document: object) -> None:
    for neighbour in parse_neighbours(json.dumps({"lldp": {"interface": document}})):
        assert neighbour.ports
        assert all(neighbour.ports)
