"""What of a rack the links need, numbered: ports, cables, who stands where. Never changes while the plant runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from sim_hardware.plant.chance import draw_normal, start_chance
from sim_hardware.plant.links.optics import LANES
from sim_hardware.rack import Rack
from sim_hardware.rack.shape import Cable, Ring

SWITCH_PORTS = 48  # CloudEngine 6881-48S6CQ (N3)
UPLINK_M = 10.0  # of fibre from a NIC to its switch (ours)
_IMBALANCE_DB = 0.15  # standard deviation between lanes (ours; modules may differ by much more)


class Place(msgspec.Struct, frozen=True):
    """A port: what it belongs to, whose traffic it sends, and how its lanes differ, dB."""

    subject: str
    owners: tuple[str, ...]  # it is without power when one of them is
    node: int = -1
    cards: tuple[int, int] = (0, 0)  # the cards whose traffic it sends, from and to
    switch: int = -1
    lanes_db: tuple[float, ...] = ()


class Line(msgspec.Struct, frozen=True):
    """A cable as it is labelled, and the numbers of the ports in which it was laid."""

    subject: str
    ends: tuple[int, int]
    length_m: float
    radius_mm: float | None


class Site(msgspec.Struct, frozen=True):
    """The ports and cables of a rack by number."""

    seed: int
    places: tuple[Place, ...]
    lines: tuple[Line, ...]
    rings: tuple[Ring, ...]
    nodes: tuple[str, ...]
    switches: tuple[str, ...]  # subjects
    ports: Mapping[str, int]
    cables: Mapping[str, int]
    owned: Mapping[str, tuple[int, ...]]  # card, node or switch -> its ports
    rings_of: Mapping[str, tuple[int, ...]]  # member -> its rings
    rings_at: Mapping[str, tuple[int, ...]]  # node -> its rings, and those of its cards
    cards: int

    def is_wired(self, ring: int) -> bool:
        """Whether a ring has cables of its own between port 0 and port 1 of its members; else it runs over switches."""
        return any(f"{member}/port0" in self.ports for member in self.rings[ring].order)


def survey(rack: Rack, seed: int) -> Site:
    """Number everything: two ports a card, a NIC a node with a cable to its switch, and whatever else the rack's cables end in."""
    uplinks = list(_list_uplinks(rack))
    cables = [*rack.cables, *uplinks]
    switches = tuple(f"switch/{switch.name}" for switch in rack.switches)
    subjects = [f"{card}/port{port}" for card in rack.list_cards() for port in (0, 1)]
    subjects += [f"{node.name}/nic/mlx5_0" for node in rack.nodes]
    subjects += [f"{switch}/port{port}" for switch in switches for port in range(SWITCH_PORTS)]
    subjects = list(dict.fromkeys([*subjects, *(end for cable in cables for end in (cable.a, cable.b))]))
    spans = dict(_list_spans(rack))
    places = tuple(_place(subject, seed, rack, spans, switches) for subject in subjects)
    ports = {place.subject: number for number, place in enumerate(places)}
    lines = tuple(Line(c.subject, (ports[c.a], ports[c.b]), c.length_m or 1.5, c.bend_radius_mm) for c in cables)
    return Site(
        seed=seed,
        places=places,
        lines=lines,
        rings=rack.rings,
        nodes=tuple(node.name for node in rack.nodes),
        switches=switches,
        ports=ports,
        cables={line.subject: number for number, line in enumerate(lines)},
        owned=_group((owner, number) for number, place in enumerate(places) for owner in place.owners),
        rings_of=_group((member, number) for number, ring in enumerate(rack.rings) for member in ring.order),
        rings_at=_group((member.partition("/")[0], number) for number, ring in enumerate(rack.rings) for member in ring.order),
        cards=len(rack.list_cards()),
    )


def _list_uplinks(rack: Rack) -> Iterator[Cable]:
    """Each node's NIC straight to a switch, 48 to one (N3)."""
    for number, node in enumerate(rack.nodes):
        if number // SWITCH_PORTS < len(rack.switches):
            switch = rack.switches[number // SWITCH_PORTS].name
            yield Cable(a=f"{node.name}/nic/mlx5_0", b=f"switch/{switch}/port{number % SWITCH_PORTS}", length_m=UPLINK_M)


def _list_spans(rack: Rack) -> Iterator[tuple[str, tuple[int, tuple[int, int]]]]:
    """Every card and node, with the number of its node and the span of its cards."""
    first = 0
    for number, node in enumerate(rack.nodes):
        yield node.name, (number, (first, first + node.cards))
        for slot, card in enumerate(node.list_cards()):
            yield card, (number, (first + slot, first + slot + 1))
        first += node.cards


def _place(subject: str, seed: int, rack: Rack, spans: Mapping[str, tuple[int, tuple[int, int]]], switches: Sequence[str]) -> Place:
    owner = subject.rpartition("/")[0].removesuffix("/nic")
    chance, lanes = start_chance(seed, f"lanes/{subject}"), []
    for _ in range(LANES):
        chance, normal = draw_normal(chance)
        lanes.append(_IMBALANCE_DB * max(-2.5, min(2.5, normal)))
    if owner not in spans:
        switch = switches.index(owner) if owner in switches else -1
        return Place(subject, (owner,), switch=switch, lanes_db=tuple(lanes))
    node, cards = spans[owner]
    name = rack.nodes[node].name
    return Place(subject, (owner,) if owner == name else (name, owner), node=node, cards=cards, lanes_db=tuple(lanes))


def _group(pairs: Iterable[tuple[str, int]]) -> dict[str, tuple[int, ...]]:
    groups: dict[str, dict[int, None]] = {}
    for name, number in pairs:
        groups.setdefault(name, {})[number] = None
    return {name: tuple(numbers) for name, numbers in groups.items()}
