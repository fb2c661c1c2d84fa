"""What stands where and what hangs on what: frozen types in the shape of the TOML file, and the things that subjects share.

Subjects are paths: `n0`, `n0/card3`, `n0/card3/port0`, `ups/A`, `pdu/A1/outlet7`, `cdu/0`, `switch/s1/port12`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from functools import cached_property
from typing import Annotated

from supernoded.tables import Table, about

# First parts of subjects that are not nodes.
FAMILIES = frozenset(
    ["aux", "cable", "cdu", "feed", "fleet", "job", "line", "node", "pdu", "power", "reflex", "ring", "role", "spares", "switch", "ups"]
)
PORTS = ("port0", "port1")  # of every card: to the next and from the one before (R1, L11)


class RingLevel(Enum):
    """What the members of a ring are (Q9)."""

    BACKPLANE = "backplane"  # cards
    CLUSTER = "cluster"  # nodes


class Authority(Enum):
    """How far we may turn a coolant distribution unit (safety rule 15)."""

    SETPOINT = "setpoint"  # its own controller follows our temperature
    DIRECT = "direct"  # we turn valve and pump


class Supernode(Table, frozen=True, kw_only=True):
    """A node and its cards."""

    name: Annotated[str, about("name of the node, its subject")]
    cards: Annotated[int, about("number of cards", ge=0, le=1024)]
    feeds: Annotated[tuple[str, ...], about("feeds it hangs on")] = ()
    loop: Annotated[str, about("coolant loop it hangs in")] = ""
    address: Annotated[str, about("host:port that its machine answers on past the broker, such as its ssh; empty = it is not probed")] = ""

    def list_cards(self) -> tuple[str, ...]:
        """The subjects of its cards."""
        return tuple(f"{self.name}/card{slot}" for slot in range(self.cards))


class Ring(Table, frozen=True, kw_only=True):
    """A ring domain: a closed cycle in the order of its members, the last one wired to the first."""

    name: Annotated[str, about("name of the ring domain")]
    level: Annotated[RingLevel, about("a ring of cards, or of nodes")]
    order: Annotated[tuple[str, ...], about("members in the order of the wiring")]


class Card(Table, frozen=True, kw_only=True):
    """Which card is in a slot."""

    card: Annotated[str, about("slot")]
    serial: Annotated[str, about("serial number of the card in it")]


class Cable(Table, frozen=True, kw_only=True):
    """A cable between two ports."""

    a: Annotated[str, about("port at one end")]
    b: Annotated[str, about("port at the other end")]
    length_m: Annotated[float, about("length", unit="m", gt=0)] | None = None
    bend_radius_mm: Annotated[float, about("smallest bend radius as laid", unit="mm", source="L7", gt=0)] | None = None

    @property
    def subject(self) -> str:
        """The same whichever end is written first."""
        return "cable/" + "--".join(sorted((self.a, self.b)))


class Feed(Table, frozen=True, kw_only=True):
    """A feed without a UPS."""

    name: Annotated[str, about("name of the feed; without any [[feeds]] the nodes' word is taken")]


class Ups(Table, frozen=True, kw_only=True):
    """A UPS, and the feed of the same name behind it."""

    name: Annotated[str, about("name of the UPS and of its feed")]
    rated_va: Annotated[float, about("rated apparent power", unit="VA", gt=0)] | None = None
    energy_wh: Annotated[float, about("energy of the full battery as last tested; absent = not tested", unit="Wh", gt=0)] | None = None
    efficiency: Annotated[float, about("share of the battery's energy that reaches the load", source="safety 10", gt=0, le=1)] = 0.9
    wire: Annotated[str, about("URL of the device")] = ""


class Outlet(Table, frozen=True, kw_only=True):
    """An outlet of a PDU and what hangs on it."""

    number: Annotated[int, about("number of the outlet", ge=0)]
    load: Annotated[str, about("subject, or pattern over subjects, that it feeds")]
    sheddable: Annotated[bool, about("may be cut to save energy (safety rule 6)")] = False


class Pdu(Table, frozen=True, kw_only=True):
    """A power distribution unit."""

    name: Annotated[str, about("name of the PDU")]
    feed: Annotated[str, about("feed it hangs on")]
    restore_s: Annotated[
        float, about("after which it restores by itself what an armed shed opened", unit="s", source="safety 7", ge=0.5, le=60)
    ] = 10.0
    qualified: Annotated[bool, about("a restore time above 10 s has been qualified (safety rule 7)")] = False
    wire: Annotated[str, about("URL of the device")] = ""
    outlets: Annotated[tuple[Outlet, ...], about("its outlets")] = ()


class CoolantLoop(Table, frozen=True, kw_only=True):
    """A coolant loop and its distribution unit; loop `cdu0` is the subject and role `cdu/0`."""

    name: Annotated[str, about("name of the loop")]
    wire: Annotated[str, about("URL of the device")] = ""
    authority: Annotated[Authority, about("how far we may turn it (safety rule 15)")] = Authority.SETPOINT
    pipes: Annotated[str, about("pipe material", source="T8")] = ""

    @property
    def subject(self) -> str:
        """`cdu/0` of `cdu0`; a loop of another name keeps it: `cdu/west` of `west`."""
        return f"cdu/{self.name.removeprefix('cdu').lstrip('-_') or self.name}"


class Switch(Table, frozen=True, kw_only=True):
    """A switch between nodes."""

    name: Annotated[str, about("name of the switch")]
    model: Annotated[str, about("model", source="N3")] = ""
    wire: Annotated[str, about("URL of the device")] = ""


class Spare(Table, frozen=True, kw_only=True):
    """A card kept for replacing another."""

    card: Annotated[str, about("slot of the spare card; its node may be one that is not described here")]


class Topology(Table, frozen=True, kw_only=True, dict=True):
    """The whole site, or as much of it as is described."""

    nodes: Annotated[tuple[Supernode, ...], about("nodes")] = ()
    rings: Annotated[tuple[Ring, ...], about("ring domains")] = ()
    cards: Annotated[tuple[Card, ...], about("serial numbers")] = ()
    cables: Annotated[tuple[Cable, ...], about("cables")] = ()
    feeds: Annotated[tuple[Feed, ...], about("feeds without a UPS")] = ()
    ups: Annotated[tuple[Ups, ...], about("UPSes")] = ()
    pdus: Annotated[tuple[Pdu, ...], about("PDUs")] = ()
    loops: Annotated[tuple[CoolantLoop, ...], about("coolant loops")] = ()
    switches: Annotated[tuple[Switch, ...], about("switches")] = ()
    spares: Annotated[tuple[Spare, ...], about("spare cards")] = ()

    @classmethod
    def empty(cls, node: str, cards: int = 0) -> Topology:
        """One node of which nothing else is known."""
        return cls(nodes=(Supernode(name=node, cards=cards),))

    def list_feeds(self) -> tuple[str, ...]:
        """The feeds: of the UPSes, and those without one as [[feeds]] has them; where it is absent, as the nodes name them."""
        others = (feed.name for feed in self.feeds) if self.feeds else (feed for node in self.nodes for feed in node.feeds)
        return tuple(dict.fromkeys((*(ups.name for ups in self.ups), *others)))

    def subjects(self) -> tuple[str, ...]:
        """Everything described, as subjects."""
        return tuple(self._things)

    def shared(self, subject: str) -> tuple[str, ...]:
        """The things that `subject` shares with others, nearest first: cable, card, coolant loop, PDU, feeds, node.

        A subject that is not described shares what the nearest described one above it shares, and that one itself.
        """
        if subject in self._things:
            return self._things[subject]
        above = subject.rpartition("/")[0]
        while above and above not in self._things:
            above = above.rpartition("/")[0]
        return _below(above, self._things[above]) if above else ()

    def members(self, thing: str) -> tuple[str, ...]:
        """The described subjects that share `thing`."""
        return self._members.get(thing, ())

    def list_cards(self, node: str) -> tuple[str, ...]:
        """The slots of a node's cards; none of a node that is not described."""
        return self._cards.get(node, ())

    def serial(self, card: str) -> str:
        """The serial number of the card in a slot, empty when it is not described."""
        return self._serials.get(card, "")

    def peer(self, port: str) -> str:
        """The port at the other end of the cable, empty when no cable is described."""
        return self._peers.get(port, "")

    @cached_property
    def _things(self) -> Mapping[str, tuple[str, ...]]:
        return dict(_list_things(self))

    @cached_property
    def _members(self) -> Mapping[str, tuple[str, ...]]:
        members: dict[str, list[str]] = {}
        for subject, things in self._things.items():
            for thing in things:
                members.setdefault(thing, []).append(subject)
        return {thing: tuple(subjects) for thing, subjects in members.items()}

    @cached_property
    def _cards(self) -> Mapping[str, tuple[str, ...]]:
        return {node.name: node.list_cards() for node in self.nodes}

    @cached_property
    def _serials(self) -> Mapping[str, str]:
        return {entry.card: entry.serial for entry in self.cards}

    @cached_property
    def _peers(self) -> Mapping[str, str]:
        return {end: other for cable in self.cables for end, other in ((cable.a, cable.b), (cable.b, cable.a))}


def _list_things(site: Topology) -> Iterator[tuple[str, tuple[str, ...]]]:
    cables = {end: cable.subject for cable in site.cables for end in (cable.a, cable.b)}
    loops = {loop.name: loop.subject for loop in site.loops}
    pdus: dict[str, list[str]] = {}
    for pdu in site.pdus:
        for load in dict.fromkeys(outlet.load for outlet in pdu.outlets):
            pdus.setdefault(load, []).append(f"pdu/{pdu.name}")
    for node in site.nodes:
        loop = (loops[node.loop],) if node.loop in loops else ()
        yield from _list_node_things(node, (*loop, *pdus.get(node.name, ()), *(f"feed/{feed}" for feed in node.feeds)), cables)
    yield from ((loop.subject, ()) for loop in site.loops)
    yield from ((f"ups/{ups.name}", (f"feed/{ups.name}",)) for ups in site.ups)
    for pdu in site.pdus:
        yield f"pdu/{pdu.name}", (f"feed/{pdu.feed}",)
        yield from ((f"pdu/{pdu.name}/outlet{outlet.number}", (f"pdu/{pdu.name}", f"feed/{pdu.feed}")) for outlet in pdu.outlets)
    for switch in site.switches:
        subject = f"switch/{switch.name}"
        yield subject, ()
        yield from ((end, (cable, subject)) for end, cable in cables.items() if end.startswith(f"{subject}/"))


def _list_node_things(node: Supernode, things: tuple[str, ...], cables: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield node.name, things
    of_card = (*things, node.name)
    for card in node.list_cards():
        yield card, of_card
        for port in (f"{card}/{name}" for name in PORTS):
            yield port, (*((cables[port],) if port in cables else ()), card, *of_card)


def _below(above: str, things: tuple[str, ...]) -> tuple[str, ...]:
    """What hangs under a node shares it last; what hangs under anything else shares that first."""
    return (*things, above) if "/" not in above else (above, *things)
