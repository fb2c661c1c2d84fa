"""Who is at the other end of a cable, by what a neighbour calls itself (LLDP)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from supernoded.topology.site import Topology

# What the other end calls its system (may be empty) and its port, the best name first -> subject, or what stands for it.
NameNeighbour = Callable[[str, Sequence[str]], str]

_PORT = re.compile(r"(?P<node>[^/\s]+)/card\d{1,5}/port\d{1,3}", re.ASCII)


def name_neighbour(topology: Topology, neighbours: Mapping[str, str]) -> NameNeighbour:
    """Names neighbours by subjects.

    As `neighbours` maps `system/port` or a port's name alone; else a subject or the end of a cable of the topology, also a switch by its
    name; else the port of a card of one of its nodes; else `system/port` as the neighbour calls itself.
    """
    ends = (end for cable in topology.cables for end in (cable.a, cable.b))
    known, nodes = frozenset((*topology.subjects(), *ends)), frozenset(node.name for node in topology.nodes)

    def name(system: str, ports: Sequence[str]) -> str:
        whole = [call_neighbour(system, port) for port in ports]
        said = [*whole, *ports]
        mapped = next((neighbours[one] for one in said if one in neighbours), "")
        described = next((one for one in (*said, *(f"switch/{one}" for one in whole)) if one in known), "")
        alike = next((one for one in said if (found := _PORT.fullmatch(one)) and found["node"] in nodes), "")
        return mapped or described or alike or whole[0]

    return name


def call_neighbour(system: str, port: str) -> str:
    """What stands for a neighbour that is no subject."""
    return f"{system}/{port}" if system else port
