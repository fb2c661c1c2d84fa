"""What hangs on what, of all that power concerns: feeds, PDUs, cords, and what is never switched off (safety rule 6). Pure."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from fnmatch import fnmatchcase

import msgspec

from supernoded.plugin import Topology

_KEPT = ("cdu/*", "pdu/*", "ups/*", "switch/*", "reflex/*", "line/*", "cdu*/*")  # never switched off (safety rule 6)


class Stage(IntEnum):
    """In which order things come back (safety rule 8)."""

    NETWORK = 0  # and the control of coolant
    PUMPS = 1
    FANS = 2
    NODES = 3


class Cord(msgspec.Struct, frozen=True, order=True):
    """An outlet that feeds a node."""

    node: str
    outlet: str  # its subject
    pdu: str  # its subject
    feed: str


def list_sheddable(site: Topology, pdu: str) -> tuple[int, ...]:
    """The numbers of a PDU's outlets that may be shed, by its name."""
    return tuple(outlet.number for one in site.pdus if one.name == pdu for outlet in one.outlets if outlet.sheddable)


def list_cords(site: Topology) -> tuple[Cord, ...]:
    """Every cord of every node, by node; outlets that may be shed feed fans and lights, not nodes."""
    cords = (
        Cord(node.name, f"pdu/{pdu.name}/outlet{outlet.number}", f"pdu/{pdu.name}", pdu.feed)
        for pdu in site.pdus
        for outlet in pdu.outlets
        for node in site.nodes
        if not outlet.sheddable and feeds_node(outlet.load, node.name)
    )
    return tuple(sorted(cords))


def feeds_node(load: str, node: str) -> bool:
    """Whether an outlet's load is a node, or one of its power supplies."""
    return fnmatchcase(node, load) or fnmatchcase(load, f"{node}/psu*")


def list_cuttable(site: Topology, kept: Iterable[str], never: Iterable[str]) -> tuple[Cord, ...]:
    """The cords that may be switched off once their node has been stopped: none that also feeds a kept node or what rule 6 names."""
    untouched = {cord.outlet for cord in list_cords(site) if cord.node in set(kept)}
    patterns = tuple(never)
    return tuple(
        cord
        for cord in list_cords(site)
        if cord.outlet not in untouched and not _is_kept(_find_load(site, cord.outlet), site, patterns) and not _fits(cord.node, patterns)
    )


def _fits(subject: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(subject, pattern) for pattern in patterns)


def _is_kept(load: str, site: Topology, never: tuple[str, ...]) -> bool:
    """Whether a load is, or as a pattern takes in, something that is never switched off."""
    described = (*(loop.subject for loop in site.loops), *(f"switch/{switch.name}" for switch in site.switches))
    return _fits(load, (*_KEPT, *never)) or any(fnmatchcase(thing, load) for thing in described)


def _find_load(site: Topology, outlet: str) -> str:
    return next((one.load for pdu in site.pdus for one in pdu.outlets if f"pdu/{pdu.name}/outlet{one.number}" == outlet), "")


def find_load(site: Topology, outlet: str) -> str:
    """What hangs on an outlet, by its subject; empty when it is not described."""
    return _find_load(site, outlet)


def find_stage(load: str) -> Stage:
    """When a load comes back."""
    if fnmatchcase(load, "cdu*/*/pump*") or fnmatchcase(load, "cdu/*/pump*"):
        return Stage.PUMPS
    if load.startswith(("switch/", "cdu")):
        return Stage.NETWORK
    return Stage.FANS if fnmatchcase(load, "*/fan*") else Stage.NODES


def list_shed_nodes(site: Topology, pdu: str) -> tuple[str, ...]:
    """The nodes whose fans or lights a PDU may shed, by its name."""
    loads = [outlet.load for one in site.pdus if one.name == pdu for outlet in one.outlets if outlet.sheddable]
    heads = [load.partition("/")[0] for load in loads]
    return tuple(node.name for node in site.nodes if any(fnmatchcase(node.name, head) for head in heads))
