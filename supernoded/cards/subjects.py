"""Which subjects are cards, of which node and in which slot. Pure."""

from __future__ import annotations

import re

from supernoded.topology import Topology

_CARD = re.compile(r"([^/]+)/card(\d{1,4})", re.ASCII)


def find_node(subject: str) -> str:
    """The node of a card or of a part of it; a node is its own."""
    return subject.partition("/")[0]


def find_slot(subject: str) -> int | None:
    """The slot of a card; None for what is no card."""
    found = _CARD.fullmatch(subject)
    return None if found is None else int(found[2])


def list_cards(site: Topology, node: str) -> tuple[str, ...]:
    """The cards of a node, and its spares beyond those: by slot."""
    described = [card for one in site.nodes if one.name == node for card in one.list_cards()]
    spares = [spare.card for spare in site.spares if find_node(spare.card) == node and find_slot(spare.card) is not None]
    return tuple(sorted({*described, *spares}, key=lambda card: (find_slot(card) or 0, card)))


def list_all_cards(site: Topology) -> tuple[str, ...]:
    """The cards of every node, in the order of the topology, and spares of nodes that are not described last."""
    nodes = dict.fromkeys((*(node.name for node in site.nodes), *(find_node(spare.card) for spare in site.spares)))
    return tuple(card for node in nodes for card in list_cards(site, node))
