"""What an incident is about: which loop, which nodes, which cards. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from supernoded.plugin import Incident, Topology
from supernoded_thermal.coolant.site import Loop, list_loops


class Place(msgspec.Struct, frozen=True):
    """Where a trouble is."""

    loop: str  # the subject of the loop that is in trouble as a whole; empty = it is a node's or card's
    cdu: str  # the subject of the loop that all its nodes hang in; empty = none, or several
    nodes: tuple[str, ...]
    cards: Mapping[str, tuple[str, ...]]  # of those nodes


class Places:
    """Finds them in a topology."""

    def __init__(self, site: Topology) -> None:
        self._loops: Mapping[str, Loop] = {loop.subject: loop for loop in list_loops(site)}
        self._cards = {node.name: tuple(node.list_cards()) for node in site.nodes}

    def find(self, incident: Incident) -> Place:
        """Of a shared thing's incident with members these count: it is theirs."""
        subjects = incident.members or (incident.subject,)
        whole = next((one for one in subjects if one in self._loops), "")
        nodes = dict.fromkeys(node for subject in subjects for node in self._list_nodes(subject))
        loops = {self.find_loop(node) for node in nodes}
        cdu = whole or (loops.pop() if len(loops) == 1 else "")
        return Place(whole, cdu, tuple(nodes), {node: self._cards[node] for node in nodes})

    def find_loop(self, node: str) -> str:
        """The subject of the loop that a node hangs in; empty when it hangs in none."""
        return next((loop.subject for loop in self._loops.values() if node in loop.nodes), "")

    def _list_nodes(self, subject: str) -> tuple[str, ...]:
        if subject in self._loops:
            return self._loops[subject].nodes
        head = subject.partition("/")[0]
        return (head,) if head in self._cards else ()
