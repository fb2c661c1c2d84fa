"""Observed links, each told by one end or by both, become one picture; what contradicts itself is named. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from supernoded.plugin import Topology
from supernoded_ring.naming import Finding
from supernoded_ring.plan import SWITCH, node_of

Pair = tuple[str, str]


def join_links(pairs: Iterable[Pair], is_known: Callable[[str], bool]) -> tuple[dict[str, str], list[Finding]]:
    """Port -> the port at the other end, both ways, and what is wrong with what was told; pairs are entry 1, 2 and so on.

    A link told as (a, b) and as (b, a) is one link, seen from both ends. Of two that claim the same port the first stands.
    """
    mates: dict[str, str] = {}
    entries: dict[str, int] = {}  # port -> the entry that it was first in
    seen: dict[Pair, int] = {}
    findings: list[Finding] = []
    for number, (a, b) in enumerate(pairs, start=1):
        if (a, b) in seen:
            findings.append(Finding("duplicate", a, f"Entry {number} says what entry {seen[a, b]} says: {a} leads to {b}."))
            continue
        seen[a, b] = number
        fault = _find_fault(number, a, b, is_known) or _find_contradiction(number, a, b, mates, entries)
        if fault is not None:
            findings.append(fault)
        else:
            mates[a], mates[b] = b, a
            entries.setdefault(a, number)
            entries.setdefault(b, number)
    return mates, findings


def _find_fault(number: int, a: str, b: str, is_known: Callable[[str], bool]) -> Finding | None:
    strange = next((port for port in (a, b) if not is_known(port)), None)
    if strange is not None:
        return Finding("unknown_port", strange, f"Entry {number} names {strange}, which is no port of the topology.")
    if a == b:
        return Finding("wrong_port", a, f"Entry {number} says that {a} leads to itself: a loopback plug is in it.")
    return None


def _find_contradiction(number: int, a: str, b: str, mates: dict[str, str], entries: dict[str, int]) -> Finding | None:
    for port, mate in ((a, b), (b, a)):
        if mates.get(port, mate) != mate:
            text = f"{port} leads to {mates[port]} by entry {entries[port]} and to {mate} by entry {number}; a port takes one cable."
            return Finding("duplicate", port, text)
    return None


def recognise(site: Topology) -> Callable[[str], bool]:
    """Whether a port can be one of this topology: of a described card, cable or switch, or of a node but not of its cards."""
    ports = {f"{card}/{name}" for node in site.nodes for card in node.list_cards() for name in ("port0", "port1")}
    ports.update(end for cable in site.cables for end in (cable.a, cable.b))
    nodes = {node.name for node in site.nodes}
    switches = tuple(f"{SWITCH}{switch.name}/port" for switch in site.switches)

    def is_known(port: str) -> bool:
        if port in ports:
            return True
        below = port.partition("/")[2]
        return (bool(switches) and port.startswith(switches)) or (node_of(port) in nodes and bool(below) and not below.startswith("card"))

    return is_known
