"""A node of two cards in a ring, with cables between them and one to another node, and readings that carry the vocabulary's units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from supernoded.model import Reading, State, Value
from supernoded.plugin import Node
from supernoded.quantities import VOCABULARY
from supernoded.topology import Cable, Ring, RingLevel, Supernode, Topology
from supernoded_link_ber.health.ports import Ports
from supernoded_link_ber.settings import LinkBerSettings

TOPOLOGY = Topology(
    nodes=(Supernode(name="n0", cards=4), Supernode(name="n1", cards=2)),
    rings=(Ring(name="backplane-n0", level=RingLevel.BACKPLANE, order=("n0/card0", "n0/card1", "n0/card2")),),
    cables=(
        Cable(a="n0/card0/port0", b="n0/card1/port1", length_m=2.5),
        Cable(a="n0/card1/port0", b="n0/card2/port1"),
        Cable(a="n0/card3/port0", b="n1/card0/port1"),
    ),
)

Read = Callable[..., Reading]
MakePorts = Callable[..., Ports]


@pytest.fixture
def site() -> Topology:
    """The topology of all these tests."""
    return TOPOLOGY


@pytest.fixture
def read() -> Read:
    """Makes a reading; without a value it is UNKNOWN."""

    def make(subject: str, quantity: str, value: Value, at: float = 0.0, source: str = "tool", note: str = "") -> Reading:
        state = State.UNKNOWN if value is None else State.GOOD
        unit = VOCABULARY[quantity].unit
        return Reading(subject=subject, quantity=quantity, value=value, unit=unit, at=at, state=state, note=note, source=source)

    return make


@pytest.fixture
def make_ports(supernoded_node: Node) -> MakePorts:
    """Makes the ports of `n0`, some of them perhaps under maintenance."""

    def make(*maintenance: str, settings: LinkBerSettings | None = None) -> Ports:
        node = replace(supernoded_node, topology=TOPOLOGY, maintenance=maintenance)
        return Ports(node, settings or LinkBerSettings())

    return make
