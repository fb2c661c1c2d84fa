"""What a neighbour calls itself, as a subject."""

from __future__ import annotations

import pytest

from supernoded.topology import Cable, Supernode, Topology, name_neighbour

SITE = Topology(nodes=(Supernode(name="n1", cards=2),), cables=(Cable(a="n1/nic/mlx5_0", b="switch/s1/port12"),))


@pytest.mark.parametrize(
    ("system", "ports", "subject"),
    [
        ("leaf1", ("Ethernet12",), "switch/s9/port1"),  # as mapped
        ("leaf2", ("Ethernet7",), "n1/card0/port1"),  # a port's name alone may be mapped
        ("n1", ("card1/port0",), "n1/card1/port0"),
        ("x", ("eth3", "n1/card1/port1"), "n1/card1/port1"),  # described in the topology
        ("", ("n1/card7/port0",), "n1/card7/port0"),  # looks like one, of a known node
        ("", ("n5/card7/port0",), "n5/card7/port0"),
        ("s1", ("port12",), "switch/s1/port12"),  # a switch by its name
        ("leaf2", ("n5/card7/port0",), "leaf2/n5/card7/port0"),  # an unknown node
        ("leaf2", ("Ethernet1", "to n0"), "leaf2/Ethernet1"),
    ],
)
def test_names(system: str, ports: tuple[str, ...], subject: str) -> None:
    name = name_neighbour(SITE, {"leaf1/Ethernet12": "switch/s9/port1", "Ethernet7": "n1/card0/port1"})
    assert name(system, ports) == subject
