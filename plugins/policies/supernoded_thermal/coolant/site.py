"""A coolant loop and what hangs in it. Pure."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from supernoded.plugin import Topology


class Loop(msgspec.Struct, frozen=True):
    """One loop: its distribution unit's subject, and its nodes and cards."""

    name: str
    subject: str
    nodes: tuple[str, ...]
    cards: tuple[str, ...]

    def is_pump(self, subject: str) -> bool:
        """Whether it is one of its pumps."""
        return subject.startswith(f"{self.subject}/")

    @property
    def detectors(self) -> frozenset[str]:
        """What may have a leak detector."""
        return frozenset({self.subject, *self.nodes})

    def list_places(self, read: Collection[str]) -> list[str]:
        """Those of which any of these subjects is a detector: the place itself, or `n0/leak/tray` where it has several."""
        return sorted(self.detectors & {subject.partition("/leak/")[0] for subject in read})


def list_loops(site: Topology) -> tuple[Loop, ...]:
    """Every loop that is described."""
    found = []
    for loop in site.loops:
        nodes = [node for node in site.nodes if node.loop == loop.name]
        cards = tuple(card for node in nodes for card in node.list_cards())
        found.append(Loop(loop.name, loop.subject, tuple(node.name for node in nodes), cards))
    return tuple(found)
