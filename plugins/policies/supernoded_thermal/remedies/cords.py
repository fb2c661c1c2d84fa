"""The cords of a node: what may be switched off without taking anything else along (safety rules 6 and 20). Pure."""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatchcase

import msgspec

from supernoded.plugin import Topology

_GLOB = frozenset("*?[")
_KEPT = ("cdu/*", "pdu/*", "ups/*", "switch/*", "reflex/*", "line/*")  # never switched off (safety rule 6)


class Cord(msgspec.Struct, frozen=True, order=True):
    """An outlet that feeds a node. `shared` says what else hangs on it, so that it must stay on; empty = it may be opened."""

    node: str
    outlet: str  # its subject
    shared: str = ""


def list_cords(site: Topology, nodes: Collection[str], never: Collection[str] = (), *, parts: bool = False) -> list[Cord]:
    """Every cord of these nodes; with `parts` also what feeds fans and lights in them, which water reaches as well."""
    names = [node.name for node in site.nodes]
    loads = {f"pdu/{pdu.name}/outlet{one.number}": one.load for pdu in site.pdus for one in pdu.outlets}
    found = []
    for outlet, load in loads.items():
        fed = list_fed(load, names) or ([head] if parts and (head := load.partition("/")[0]) in names else [])
        found += [Cord(node, outlet, _say_shared(site, load, node, fed, nodes, never)) for node in fed if node in nodes]
    return sorted(found)


def list_fed(load: str, nodes: Collection[str]) -> list[str]:
    """The nodes that an outlet feeds: its load is a node, one of its power supplies, or a pattern over nodes."""
    if load in nodes:
        return [load]
    head, _, part = load.partition("/")
    if part:
        return [head] if head in nodes and part.startswith("psu") else []
    return [node for node in nodes if fnmatchcase(node, load)] if _GLOB.intersection(load) else []


def _say_shared(site: Topology, load: str, node: str, fed: Collection[str], nodes: Collection[str], never: Collection[str]) -> str:
    others = [one for one in fed if one not in nodes]
    if others:
        return f"it feeds {', '.join(others)} too"
    if any(fnmatchcase(subject, pattern) for subject in (node, load) for pattern in never):
        return "the settings keep it on (never_off)"
    if any(fnmatchcase(load, pattern) for pattern in _KEPT):
        return f"it feeds {load}"
    things = (*(loop.subject for loop in site.loops), *(f"switch/{switch.name}" for switch in site.switches))
    kept = [thing for thing in things if _GLOB.intersection(load) and fnmatchcase(thing, load)]
    return f"it feeds {', '.join(kept)} too" if kept else ""
