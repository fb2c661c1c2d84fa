"""A topology file becomes a Topology, or a list of everything that is wrong with it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from supernoded.page import Page, as_error
from supernoded.tables import Conflict, Key, find_value
from supernoded.topology.address import parse_address
from supernoded.topology.shedding import check_outlets
from supernoded.topology.site import FAMILIES, PORTS, CoolantLoop, Pdu, RingLevel, Switch, Topology, Ups

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_SLOT = re.compile(r"card(0|[1-9][0-9]{0,3})")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://")
MOST_RESTORE = 10.0  # seconds that fans may be off without a word of the facility (safety rule 7)
_MOST_COMPARED = 1000  # names that a misspelt one is held against


def read_topology(text: str, name: str) -> Topology:
    """The topology in `text`, a file called `name`. Raises SettingsError with a line for every problem."""
    page = Page(name, text)
    topology = build_topology(page, page.table)
    if topology is None:
        raise as_error(page.problems)
    return topology


def build_topology(page: Page, table: object) -> Topology | None:
    """The topology in a table of a page; None when there were problems, which are then on the page."""
    topology = None if page.problems else page.read(Topology, table)
    if topology is None:
        return None
    conflicts = list(find_conflicts(topology))
    for conflict in conflicts:
        page.report(conflict.key, find_value(table, conflict.key), conflict.fault, conflict.remedy)
    return None if conflicts else topology


def find_conflicts(site: Topology) -> Iterator[Conflict]:
    """What does not resolve, is there twice, or must not be."""
    nodes = {node.name for node in site.nodes}
    cards = {card for node in site.nodes for card in node.list_cards()}
    yield from _check_names(site)
    yield from _check_addresses(site)
    yield from _check_hangs(site)
    yield from _check_rings(site, nodes, cards)
    yield from _check_cards(site, cards)
    yield from _check_cables(site, cards)
    yield from check_outlets(site)
    yield from _check_outlet_numbers(site)
    yield from _check_wires(site)


def _check_addresses(site: Topology) -> Iterator[Conflict]:
    for place, node in enumerate(site.nodes):
        if node.address and parse_address(node.address) is None:
            remedy = "write host:port, such as n0.example:22 or [fd00::1]:22, or remove it"
            yield Conflict(key=("nodes", place, "address"), fault="is no host and port", remedy=remedy)


def _check_names(site: Topology) -> Iterator[Conflict]:
    families = (
        ("nodes", [node.name for node in site.nodes]),
        ("rings", [ring.name for ring in site.rings]),
        ("feeds", [feed.name for feed in site.feeds]),
        ("ups", [ups.name for ups in site.ups]),
        ("pdus", [pdu.name for pdu in site.pdus]),
        ("loops", [loop.name for loop in site.loops]),
        ("switches", [switch.name for switch in site.switches]),
    )
    for family, names in families:
        for index, name in enumerate(names):
            if not _NAME.fullmatch(name):
                yield Conflict(key=(family, index, "name"), fault="is not a name", remedy="use letters, digits, '.', '_' and '-'")
            elif family == "nodes" and name in FAMILIES:
                yield Conflict(key=(family, index, "name"), fault="is a word that subjects begin with", remedy="give the node another name")
        yield from _find_doubles(names, family, "name", "the name is taken")
    yield from _find_doubles([loop.subject for loop in site.loops], "loops", "name", "another loop has the same subject")


def _check_hangs(site: Topology) -> Iterator[Conflict]:
    """Feeds and loops that nodes and PDUs name. The nodes' word for their feeds is taken where no [[feeds]] lists those without a UPS."""
    feeds, loops = site.list_feeds(), {loop.name for loop in site.loops}
    for index, node in enumerate(site.nodes):
        for place, feed in enumerate(node.feeds):
            yield from _resolve(("nodes", index, "feeds", place), feed, feeds, "feed", "[[ups]], or in [[feeds]] for one without a UPS")
        yield from _find_doubles(node.feeds, "nodes", index, "the feed is named twice", "feeds")
        if node.loop:
            yield from _resolve(("nodes", index, "loop"), node.loop, loops, "coolant loop", "[[loops]]")
    for index, pdu in enumerate(site.pdus):
        yield from _resolve(("pdus", index, "feed"), pdu.feed, feeds, "feed", "[[ups]], or in [[feeds]] for one without a UPS")
        if pdu.restore_s > MOST_RESTORE and not pdu.qualified:
            fault = f"is above {MOST_RESTORE:g} s, and nobody has qualified it (safety rule 7)"
            remedy = f"set it to at most {MOST_RESTORE:g}, or, when the loads have been shown to bear it, set qualified = true"
            yield Conflict(key=("pdus", index, "restore_s"), fault=fault, remedy=remedy)


def _check_rings(site: Topology, nodes: Collection[str], cards: Collection[str]) -> Iterator[Conflict]:
    taken: dict[str, str] = {}
    for index, ring in enumerate(site.rings):
        known, kind = (cards, "card") if ring.level is RingLevel.BACKPLANE else (nodes, "node")
        if len(ring.order) < 2:
            yield Conflict(
                key=("rings", index, "order"), fault="a ring has at least two members", remedy="name them in the order of wiring"
            )
        for place, member in enumerate(ring.order):
            key = ("rings", index, "order", place)
            if member not in known and (member in nodes or member in cards):
                remedy = f"a {ring.level.value} ring is made of {kind}s: correct level or member"
                yield Conflict(key=key, fault=f"is not a {kind}", remedy=remedy)
            else:
                yield from _resolve(key, member, known, kind, "[[nodes]]")
            if member in taken:
                fault = (
                    "is in the ring twice, so it is not one cycle" if taken[member] == ring.name else f"is in ring {taken[member]} already"
                )
                yield Conflict(key=key, fault=fault, remedy="name every member once")
            taken[member] = ring.name


def _check_cards(site: Topology, cards: Collection[str]) -> Iterator[Conflict]:
    for index, entry in enumerate(site.cards):
        yield from _resolve(("cards", index, "card"), entry.card, cards, "card", "[[nodes]]")
        if not entry.serial:
            yield Conflict(key=("cards", index, "serial"), fault="is empty", remedy="write the serial number, or leave the entry out")
    for index, spare in enumerate(site.spares):
        if not _is_elsewhere(site, spare.card):
            yield from _resolve(("spares", index, "card"), spare.card, cards, "card", "[[nodes]]")
    yield from _find_doubles([entry.card for entry in site.cards], "cards", "card", "the slot is described twice")
    yield from _find_doubles([entry.serial for entry in site.cards], "cards", "serial", "two slots have this serial number")
    yield from _find_doubles([spare.card for spare in site.spares], "spares", "card", "the spare is named twice")


def _is_elsewhere(site: Topology, card: str) -> bool:
    """Whether a spare is in a node that this file does not describe: spares belong to a fleet, a file may hold less of it."""
    node, _, slot = card.partition("/")
    return bool(_NAME.fullmatch(node) and _SLOT.fullmatch(slot)) and node not in {*FAMILIES, *(known.name for known in site.nodes)}


def _check_cables(site: Topology, cards: Collection[str]) -> Iterator[Conflict]:
    ports = {f"{card}/{port}" for card in cards for port in PORTS}
    switches = tuple(f"switch/{switch.name}/port" for switch in site.switches)
    taken: dict[str, int] = {}
    for index, cable in enumerate(site.cables):
        for side, end in (("a", cable.a), ("b", cable.b)):
            if not (end.startswith(switches) and end.rpartition("port")[2].isdecimal()):
                yield from _resolve(("cables", index, side), end, ports, "port", "[[nodes]] or [[switches]]")
            if end in taken:
                fault = f"this end is used by cables[{taken[end]}] already"
                yield Conflict(key=("cables", index, side), fault=fault, remedy="a port takes one cable: correct one of them")
            taken[end] = index


def _check_outlet_numbers(site: Topology) -> Iterator[Conflict]:
    for index, pdu in enumerate(site.pdus):
        for place in _find_repeats(f"{outlet.number}" for outlet in pdu.outlets):
            yield Conflict(
                key=("pdus", index, "outlets", place, "number"), fault="the outlet is there twice", remedy="name every outlet once"
            )


def _check_wires(site: Topology) -> Iterator[Conflict]:
    """A device is opened by URL and has one owner (safety rule 21)."""
    families: tuple[tuple[str, Sequence[Ups | Pdu | CoolantLoop | Switch]], ...] = (
        ("ups", site.ups),
        ("pdus", site.pdus),
        ("loops", site.loops),
        ("switches", site.switches),
    )
    wires: list[tuple[Key, str]] = [
        ((family, index, "wire"), entry.wire) for family, entries in families for index, entry in enumerate(entries) if entry.wire
    ]
    for key, wire in wires:
        if not _URL.match(wire):
            yield Conflict(key=key, fault="is no URL", remedy="write scheme://address, such as modbus://10.0.0.5:502")
    for place in _find_repeats(wire for _, wire in wires):
        yield Conflict(key=wires[place][0], fault="another device has this wire", remedy="a device has one owner: correct one of them")


def _resolve(key: Key, name: str, known: Collection[str], kind: str, place: str) -> Iterator[Conflict]:
    if name not in known:
        yield Conflict(
            key=key, fault=f"there is no such {kind}{_hint(name, known)}", remedy=f"correct it, or describe the {kind} in {place}"
        )


def _hint(name: str, known: Collection[str]) -> str:
    alike = [other for other in known if other.partition("/")[0] == name.partition("/")[0]] or list(known)
    near = difflib.get_close_matches(name, sorted(alike)[:_MOST_COMPARED], n=1)
    return f", the nearest is {near[0]}" if near else ""


def _find_doubles(names: Iterable[str], family: str, field: str | int, fault: str, *rest: str) -> Iterator[Conflict]:
    for index in _find_repeats(names):
        key: Key = (family, field, *rest, index) if rest else (family, index, field)
        yield Conflict(key=key, fault=fault, remedy="keep one of them")


def _find_repeats(names: Iterable[str]) -> Iterator[int]:
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            yield index
        seen.add(name)
