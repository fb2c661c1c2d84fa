"""How much heat there is room for while fans stand still: the least over the parts that no liquid cools (safety rule 7, Q23). Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from supernoded.plugin import Topology, View, find_least, find_most, is_read, say_why
from supernoded_power.settings import PowerSettings
from supernoded_power.site import list_shed_nodes

OPTIC, OPTIC_LIMIT, CARD = "link.temperature", "link.temperature.high", "card.temperature"
HOST, HOST_LIMIT = "host.temperature", "host.temperature.high"
FLOW = "coolant.flow"
REGULATOR, MODULES = "vrm", ("optic", "sfp", "xcvr")  # in the names of sensors
LEAST_LIMIT = 40.0  # C; a part that tells a lower limit tells none (ours)
COLDEST = 2.0  # C, at and below which a part of a running node is not measured: broken sensors show 0 or -128 (ours)
WATCHES: Mapping[str, float] = dict.fromkeys((OPTIC, OPTIC_LIMIT, HOST, HOST_LIMIT, CARD, FLOW), 60.0)


class Headroom(msgspec.Struct, frozen=True):
    """The least room found, and what stands against a shed; nothing does when `against` is empty."""

    least_c: float | None
    against: tuple[str, ...]


class Cooling(msgspec.Struct, frozen=True):
    """What a PDU's shed leaves to the air, and which loops have to flow meanwhile."""

    nodes: tuple[str, ...]
    loops: tuple[str, ...]  # subjects
    air_cards: tuple[str, ...]  # cards that hang in no loop

    @classmethod
    def of(cls, site: Topology, pdu: str) -> Cooling:
        """Of a PDU, by its name."""
        names = frozenset(list_shed_nodes(site, pdu))
        nodes = [node for node in site.nodes if node.name in names]
        subjects = {loop.name: loop.subject for loop in site.loops}
        return cls(
            tuple(node.name for node in nodes),
            tuple(dict.fromkeys(subjects.get(node.loop, node.loop) for node in nodes if node.loop)),
            tuple(card for node in nodes if not node.loop for card in node.list_cards()),
        )


def find_headroom(seen: View, cooling: Cooling, settings: PowerSettings) -> Headroom:
    """What is not measured counts against it."""
    rooms = [room for node in cooling.nodes for room in _list_rooms(seen, node, settings)]
    rooms += [(settings.card_c - hot, card) for card in cooling.air_cards if (hot := find_most(seen, CARD, card)) is not None]
    least = min(rooms, default=None)
    against = [*_list_still_loops(seen, cooling.loops), *_list_unmeasured(seen, cooling)]
    if least is not None and least[0] < settings.headroom_c:
        against.append(f"{least[1]} is {least[0]:.0f} K below its limit, where {settings.headroom_c:g} K are needed")
    return Headroom(None if least is None else least[0], tuple(against))


def _list_rooms(seen: View, node: str, settings: PowerSettings) -> Iterator[tuple[float, str]]:
    for optic in _list_below(seen, OPTIC, node):
        hot, told = _measure(seen, OPTIC, optic), _find_limit(seen, OPTIC_LIMIT, optic)
        if hot is not None:
            yield min(settings.optic_c if told is None else told, settings.optic_c) - hot, optic
    for part in _list_below(seen, HOST, node):
        hot, told = _measure(seen, HOST, part), _find_limit(seen, HOST_LIMIT, part)
        if hot is not None:
            ours, most = _choose_limits(part.lower(), settings)
            yield (ours if told is None else min(told, most)) - hot, part


def _choose_limits(name: str, settings: PowerSettings) -> tuple[float, float]:
    """Of a part by the name of its sensor: its limit where it tells none, and the most that is believed of what it tells."""
    if any(word in name for word in MODULES):
        return settings.optic_c, settings.optic_c
    return settings.regulator_c if REGULATOR in name else settings.host_c, settings.regulator_c


def _measure(seen: View, quantity: str, part: str) -> float | None:
    hot = find_most(seen, quantity, part)
    return None if hot is None or hot <= COLDEST else hot


def _find_limit(seen: View, quantity: str, part: str) -> float | None:
    told = find_least(seen, quantity, part)
    return None if told is None or told < LEAST_LIMIT else told


def _list_below(seen: View, quantity: str, node: str) -> list[str]:
    return [subject for subject in seen.subjects(quantity) if subject == node or subject.startswith(f"{node}/")]


def _list_still_loops(seen: View, loops: Sequence[str]) -> Iterator[str]:
    for loop in loops:
        flow = find_least(seen, FLOW, loop)
        if flow is None:
            yield f"whether {loop} flows is not known ({say_why(seen, FLOW, loop)})"
        elif flow <= 0.0:
            yield f"{loop} does not flow"


def _list_unmeasured(seen: View, cooling: Cooling) -> Iterator[str]:
    """A part that was measured and is no longer counts as well as a node of which nothing is."""
    for node in cooling.nodes:
        parts = [(quantity, part) for quantity in (OPTIC, HOST) for part in _list_below(seen, quantity, node)]
        lost = [(quantity, part) for quantity, part in parts if _measure(seen, quantity, part) is None]
        if not parts:
            yield f"no part of {node} that the air cools is measured"
        elif len(lost) == len(parts):
            yield f"{say_why(seen, *lost[0])}, and nothing else of {node}"
    for card in cooling.air_cards:
        if find_most(seen, CARD, card) is None:
            yield say_why(seen, CARD, card) if is_read(seen, CARD, card) else f"{card} hangs in no loop and is not measured"
