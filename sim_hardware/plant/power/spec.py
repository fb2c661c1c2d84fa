"""What the power plant of a rack is made of, by number. Nothing here changes while it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from sim_hardware.plant.power import figures
from sim_hardware.rack import Rack
from sim_hardware.rack.shape import Node, Pdu, SimUps

FAN = "/fan*"
UTILITIES = ("A", "B")
PHASES = ("L1", "L2", "L3")


class UpsSpec(msgspec.Struct, frozen=True):
    """A UPS. `watts` is what it can give, `full_j` a new battery."""

    name: str
    feed: int
    rated_va: float
    build: SimUps

    @property
    def watts(self) -> float:
        """Rated output, W."""
        return self.rated_va * figures.POWER_FACTOR

    @property
    def full_j(self) -> float:
        """The energy that lasts `minutes` at rated load."""
        return self.watts * self.build.minutes * 60.0 / (self.build.efficiency * (1.0 - figures.BATTERY_DROP))


class PduSpec(msgspec.Struct, frozen=True):
    """A PDU: its outlets by their numbers, and the UPSes whose contacts it sees."""

    name: str
    feed: int
    outlets: dict[int, int]
    watts: float  # of its breaker
    short_watts: float  # at which its breaker opens at once
    contacts: tuple[int, ...]


class NodeSpec(msgspec.Struct, frozen=True):
    """A node: its own load, that of its fans, and its shelf. Fans without an outlet of their own hang on the shelf."""

    name: str
    load: int
    fans: int
    shelf_j: float


class Spec(msgspec.Struct, frozen=True):
    """All of it. An outlet is (PDU, number on it, load, sheddable)."""

    volts: float
    hertz: float
    generator: bool
    start_s: float
    feeds: tuple[str, ...]
    ups: tuple[UpsSpec, ...]
    ups_of_feed: tuple[int, ...]  # -1: none
    pdus: tuple[PduSpec, ...]
    outlets: tuple[tuple[int, int, int, bool], ...]
    loads: tuple[str, ...]
    rated: tuple[float, ...]  # W, of each load
    cords: tuple[tuple[int, ...], ...]  # the outlets of each load
    nodes: tuple[NodeSpec, ...]  # those with an outlet
    others: tuple[int, ...]  # loads without a shelf
    first_feed: dict[str, int]  # of each node
    index: dict[str, int]  # ups/A, pdu/A1, load/n0, node/n0 (-1: no outlet) ... -> its number

    def name_outlet(self, outlet: int) -> str:
        """The subject of an outlet."""
        pdu, number, _, _ = self.outlets[outlet]
        return f"pdu/{self.pdus[pdu].name}/outlet{number}"


def read_rack(rack: Rack) -> Spec:
    """The power plant of a rack."""
    feeds = tuple(dict.fromkeys([*(ups.name for ups in rack.ups), *(feed.name for feed in rack.feeds), *(pdu.feed for pdu in rack.pdus)]))
    rows = [(p, outlet.number, outlet.load, outlet.sheddable) for p, pdu in enumerate(rack.pdus) for outlet in pdu.outlets]
    plugged = dict.fromkeys(row[2] for row in rows)
    loads = tuple(dict.fromkeys([*plugged, *(node.name + FAN for node in rack.nodes if node.name in plugged)]))
    number = {load: at for at, load in enumerate(loads)}
    cords: list[list[int]] = [[] for _ in loads]
    for outlet, row in enumerate(rows):
        cords[number[row[2]]].append(outlet)
    rated = tuple(_rate(load, rack) for load in loads)
    pdus = tuple(_list_pdus(rack, feeds, rows, rated, number))
    nodes = tuple(_list_nodes(rack, number))
    shelved = {node.load for node in nodes} | {node.fans for node in nodes}
    ups = tuple(_list_ups(rack, feeds, pdus, cords))
    return Spec(
        volts=rack.sim.power.volts,
        hertz=rack.sim.power.hertz,
        generator=rack.sim.power.generator,
        start_s=rack.sim.power.generator_start_s,
        feeds=feeds,
        ups=ups,
        ups_of_feed=tuple(next((u for u, one in enumerate(ups) if one.feed == feed), -1) for feed in range(len(feeds))),
        pdus=pdus,
        outlets=tuple((p, outlet, number[load], shed) for p, outlet, load, shed in rows),
        loads=loads,
        rated=rated,
        cords=tuple(map(tuple, cords)),
        nodes=nodes,
        others=tuple(load for load in range(len(loads)) if load not in shelved),
        first_feed={node.name: feeds.index(node.feeds[0]) for node in rack.nodes if node.feeds and node.feeds[0] in feeds},
        index=dict(_list_subjects(rack, feeds, rows, loads)),
    )


def _rate_node(node: Node, rack: Rack) -> float:
    return node.cards * rack.sim.node.card_watts + rack.sim.node.other_watts


def _rate(load: str, rack: Rack) -> float:
    """The watts of a load at its fullest."""
    if load.endswith(FAN):
        return rack.sim.node.fan_watts
    if load.startswith("cdu/"):
        return rack.sim.power.cdu_watts
    if load.startswith("switch/"):
        return rack.sim.power.switch_watts
    return next((_rate_node(node, rack) for node in rack.nodes if node.name == load), figures.OTHER_WATTS)


def _list_nodes(rack: Rack, number: dict[str, int]) -> Iterator[NodeSpec]:
    """Nodes with an outlet somewhere."""
    for node in rack.nodes:
        if node.name in number:
            full = _rate_node(node, rack) + rack.sim.node.fan_watts
            yield NodeSpec(node.name, number[node.name], number[node.name + FAN], full * rack.sim.node.hold_up_s)


def _list_pdus(
    rack: Rack, feeds: Sequence[str], rows: Sequence[tuple[int, int, str, bool]], rated: Sequence[float], number: dict[str, int]
) -> Iterator[PduSpec]:
    """Each is wired to the contacts of all UPSes that its loads hang on, or none is."""
    reach: dict[str, set[str]] = {}
    for p, _, load, _ in rows:
        reach.setdefault(load, set()).add(rack.pdus[p].feed)
    first = 0
    for pdu in rack.pdus:
        reached = {pdu.feed}.union(*(reach[outlet.load] for outlet in pdu.outlets))
        contacts = tuple(u for u, ups in enumerate(rack.ups) if ups.name in reached and rack.sim.power.direct_lines)
        yield PduSpec(
            name=pdu.name,
            feed=feeds.index(pdu.feed),
            outlets={outlet.number: first + place for place, outlet in enumerate(pdu.outlets)},
            watts=_sum_rated(pdu, rated, number) * figures.BREAKER_MARGIN,
            short_watts=_choose_short(pdu, rated, number),
            contacts=contacts,
        )
        first += len(pdu.outlets)


def _sum_rated(pdu: Pdu, rated: Sequence[float], number: dict[str, int]) -> float:
    return sum(rated[number[outlet.load]] for outlet in pdu.outlets) or figures.OTHER_WATTS


def _choose_short(pdu: Pdu, rated: Sequence[float], number: dict[str, int]) -> float:
    """So that the largest load can start alone while all others run; but no breaker opens at once below its type's lower bound."""
    every = _sum_rated(pdu, rated, number)
    largest = max((rated[number[outlet.load]] for outlet in pdu.outlets), default=0.0)
    return figures.BREAKER_MARGIN * max(figures.BREAKER_SHORT * every, every + figures.INRUSH * largest)


def _list_ups(rack: Rack, feeds: Sequence[str], pdus: Sequence[PduSpec], cords: Sequence[Sequence[int]]) -> Iterator[UpsSpec]:
    """One without a rating can carry all that hangs on its feed, with the breakers' margin."""
    for ups in rack.ups:
        feed = feeds.index(ups.name)
        watts = sum(pdu.watts for pdu in pdus if pdu.feed == feed) if cords else 0.0
        yield UpsSpec(ups.name, feed, ups.rated_va or (watts or figures.OTHER_WATTS) / figures.POWER_FACTOR, rack.sim.power.ups)


def _list_subjects(
    rack: Rack, feeds: Sequence[str], rows: Sequence[tuple[int, int, str, bool]], loads: Sequence[str]
) -> Iterator[tuple[str, int]]:
    yield from ((f"utility/{name}", at) for at, name in enumerate(UTILITIES))
    yield from ((f"feed/{name}", at) for at, name in enumerate(feeds))
    yield from ((f"ups/{ups.name}", at) for at, ups in enumerate(rack.ups))
    for at, pdu in enumerate(rack.pdus):
        yield f"pdu/{pdu.name}", at
        yield f"breaker/{pdu.name}", at
    yield from ((f"pdu/{rack.pdus[p].name}/outlet{outlet}", at) for at, (p, outlet, _, _) in enumerate(rows))
    yield from ((f"load/{load}", at) for at, load in enumerate(loads))
    yield from ((f"node/{node.name}", -1) for node in rack.nodes)
    yield from ((f"node/{name}", at) for at, name in enumerate(node.name for node in rack.nodes if node.name in loads))
