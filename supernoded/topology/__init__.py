"""The site as data: nodes, cards, cables, rings, power and cooling."""

from supernoded.topology.neighbours import NameNeighbour, call_neighbour, name_neighbour
from supernoded.topology.reading import build_topology, read_topology
from supernoded.topology.site import (
    Authority,
    Cable,
    Card,
    CoolantLoop,
    Feed,
    Outlet,
    Pdu,
    Ring,
    RingLevel,
    Spare,
    Supernode,
    Switch,
    Topology,
    Ups,
)

__all__ = [
    "Authority",
    "Cable",
    "Card",
    "CoolantLoop",
    "Feed",
    "NameNeighbour",
    "Outlet",
    "Pdu",
    "Ring",
    "RingLevel",
    "Spare",
    "Supernode",
    "Switch",
    "Topology",
    "Ups",
    "build_topology",
    "call_neighbour",
    "name_neighbour",
    "read_topology",
]
