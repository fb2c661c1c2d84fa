"""Which nodes may have a role, the first first: as the settings say, else chosen by name among the nodes that are near to it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from supernoded.topology import Topology


def list_candidates(role: str, site: Topology, told: Mapping[str, Sequence[str]], most: int) -> tuple[str, ...]:
    """The candidates of a role, the same on every node that has the same settings.

    `told` is `[seats] candidates`: role, or pattern over roles = nodes; the role itself goes before any pattern, and of the patterns the
    first that fits. Otherwise they are the first `most` of the nodes that the role is about, in the order of a hash of both names: a role
    keeps its candidates when other nodes come and go.
    """
    if role in told:
        return tuple(told[role])
    for pattern, nodes in told.items():
        if fnmatchcase(role, pattern):
            return tuple(nodes)
    return tuple(sorted(list_near(role, site), key=lambda node: _hash(role, node))[:most])


def list_near(role: str, site: Topology) -> list[str]:
    """The nodes of the loop, feed or ring that a role is about; all of them where it is about none, or no node says so."""
    family, _, name = role.partition("/")
    if family == "cdu":
        loops = {loop.name for loop in site.loops if loop.subject == role}
        near = [node.name for node in site.nodes if node.loop in loops]
    elif family == "feed":
        near = [node.name for node in site.nodes if name in node.feeds]
    else:
        members = {member.partition("/")[0] for ring in site.rings if role == f"ring/{ring.name}" for member in ring.order}
        near = [node.name for node in site.nodes if node.name in members]
    return near or [node.name for node in site.nodes]


def _hash(role: str, node: str) -> bytes:
    return hashlib.sha256(f"{role} {node}".encode()).digest()
