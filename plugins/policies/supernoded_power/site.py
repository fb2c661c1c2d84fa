"""What hangs on what, of all that power concerns: feeds, PDUs, cords, and what is never switched off (safety rule 6). Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase

import msgspec

from supernoded.plugin import Topology

_GLOB = frozenset("*?[")


class Cord(msgspec.Struct, frozen=True, order=True):
    """An outlet that feeds a node."""

    node: str
    outlet: str  # its subject
    pdu: str  # its subject
    feed: str


def list_sheddable(site: Topology, pdu: str) -> tuple[int, ...]:
    """The numbers of a PDU's outlets that may be shed, by its name."""
    return tuple(outlet.number for one in site.pdus if one.name == pdu for outlet in one.outlets if outlet.sheddable)


def list_loads(site: Topology) -> dict[str, str]:
    """What hangs on each outlet, by its subject."""
    return {f"pdu/{pdu.name}/outlet{outlet.number}": outlet.load for pdu in site.pdus for outlet in pdu.outlets}


def list_cords(site: Topology) -> tuple[Cord, ...]:
    """Every cord of every node, by node; outlets that may be shed feed fans and lights, not nodes."""
    names = dict.fromkeys(node.name for node in site.nodes)
    cords = (
        Cord(node, f"pdu/{pdu.name}/outlet{outlet.number}", f"pdu/{pdu.name}", pdu.feed)
        for pdu in site.pdus
        for outlet in pdu.outlets
        if not outlet.sheddable
        for node in list_fed(outlet.load, names)
    )
    return tuple(sorted(cords))


def list_fed(load: str, nodes: Collection[str]) -> list[str]:
    """The nodes that an outlet feeds: its load is a node, one of its power supplies, or a pattern over nodes."""
    if load in nodes:
        return [load]
    head, _, part = load.partition("/")
    if part:
        return [head] if head in nodes and part.startswith("psu") else []
    return [node for node in nodes if fnmatchcase(node, load)] if _GLOB.intersection(load) else []


def list_cuttable(site: Topology, kept: Iterable[str], never: Iterable[str]) -> tuple[Cord, ...]:
    """The cords that may be switched off once their node has been stopped: none that also feeds a kept node or what rule 6 names.

    Only cords of nodes are: what cools, switches or measures by an outlet of its own is none of them.
    """
    cords, loads, patterns, staying = list_cords(site), list_loads(site), tuple(never), frozenset(kept)
    untouched = {cord.outlet for cord in cords if cord.node in staying}
    untouched |= {outlet for outlet, load in loads.items() if _is_kept(load, site, patterns)}
    return tuple(cord for cord in cords if cord.outlet not in untouched and not _fits(cord.node, patterns))


def _fits(subject: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(subject, pattern) for pattern in patterns)


def _is_kept(load: str, site: Topology, never: tuple[str, ...]) -> bool:
    """Whether a load is, or as a pattern over nodes takes in, something that is never switched off."""
    others = (
        *(loop.subject for loop in site.loops),
        *(f"switch/{switch.name}" for switch in site.switches),
        *(f"pdu/{pdu.name}" for pdu in site.pdus),
        *(f"ups/{ups.name}" for ups in site.ups),
    )
    return _fits(load, never) or (bool(_GLOB.intersection(load)) and any(fnmatchcase(thing, load) for thing in others))


def list_shed_nodes(site: Topology, pdu: str) -> tuple[str, ...]:
    """The nodes whose fans or lights a PDU may shed, by its name."""
    names = dict.fromkeys(node.name for node in site.nodes)
    loads = (outlet.load for one in site.pdus if one.name == pdu for outlet in one.outlets if outlet.sheddable)
    return tuple(dict.fromkeys(node for load in loads for node in list_fed(load.partition("/")[0], names)))
