from __future__ import annotations

from dataclasses import replace

import pytest

from supernoded.plugin import Node
from supernoded.testing import MemoryWires
from supernoded.topology import Topology
from supernoded.topology.site import Outlet, Pdu, Ups
from tests.plugins.nut.upsd import Upsd

SERVER = "tcp://u:3493"
SITE = Topology(
    ups=(Ups(name="A", wire="nut://u/ups-a"), Ups(name="B", wire="snmp://b")),
    pdus=(
        Pdu(name="A1", feed="A", wire="nut://u:3493/pdu-a1", outlets=(Outlet(number=7, load="n0"),)),
        Pdu(name="B1", feed="B", wire="modbus://b1"),
    ),
)


@pytest.fixture
def node(supernoded_node: Node) -> Node:
    """A node whose UPS A and PDU A1 are behind one NUT server."""
    return replace(supernoded_node, topology=SITE)


@pytest.fixture
def upsd(supernoded_wires: MemoryWires) -> Upsd:
    """That server."""
    server = Upsd({"ups-a": {"ups.status": "OL", "battery.charge": "100"}, "pdu-a1": {"device.type": "pdu", "outlet.7.status": "on"}})
    server.listen(supernoded_wires.stream(SERVER))
    return server
