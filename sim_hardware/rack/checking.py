"""Whether everything that a rack names is there, once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from sim_hardware.rack.shape import Rack

_PORT = re.compile(r"(.+)/(?:port\d+|nic/[^/]+)")


def find_faults(rack: Rack) -> Iterator[str]:
    """A line for everything that is named and not there, or there twice."""
    yield from _find_doubles(rack)
    nodes = [node.name for node in rack.nodes]
    cards = rack.list_cards()
    feeds = [ups.name for ups in rack.ups]
    feeds += [feed.name for feed in rack.feeds] or [
        feed for node in rack.nodes for feed in node.feeds
    ]  # the nodes' word, where there are none
    places = (*cards, *nodes, *(f"switch/{switch.name}" for switch in rack.switches))
    yield from _miss("loop", [(f"node {node.name}", node.loop) for node in rack.nodes if node.loop], [loop.name for loop in rack.loops])
    yield from _miss("feed", [(f"node {node.name}", feed) for node in rack.nodes for feed in node.feeds], feeds)
    yield from _miss("feed", [(f"PDU {pdu.name}", pdu.feed) for pdu in rack.pdus], feeds)
    yield from _miss("load", list(_list_loads(rack)), _name_loads(rack))
    for ring in rack.rings:
        yield from _miss(
            "card" if ring.level == "backplane" else "node",
            [(f"ring {ring.name}", one) for one in ring.order],
            cards if ring.level == "backplane" else nodes,
        )
    yield from _miss("card", [("a spare", spare.card) for spare in rack.spares], cards)
    yield from _miss("card", [(f"serial {card.serial}", card.card) for card in rack.cards], cards)
    yield from _miss("port", [(cable.subject, _strip(end)) for cable in rack.cables for end in (cable.a, cable.b)], places)
    yield from _miss("loop", [("[sim.loops]", name) for name in rack.sim.loops], [loop.name for loop in rack.loops])
    yield from _miss("UPS", [("[sim.power] bypass_sites", name) for name in rack.sim.power.bypass_sites], [ups.name for ups in rack.ups])


def _miss(kind: str, named: Iterable[tuple[str, str]], there: Iterable[str]) -> Iterator[str]:
    known = list(dict.fromkeys(there))
    found = set(known)
    for who, name in named:
        if name not in found:
            yield f"{who}: no {kind} {name!r}; there are {', '.join(known[:6]) or 'none'}{' ...' if len(known) > 6 else ''}"


def _list_loads(rack: Rack) -> Iterator[tuple[str, str]]:
    for pdu in rack.pdus:
        yield from (
            (f"outlet {outlet.number} of PDU {pdu.name}", outlet.load) for outlet in pdu.outlets if not outlet.load.startswith("aux/")
        )


def _name_loads(rack: Rack) -> Iterator[str]:
    for node in rack.nodes:
        yield from (node.name, f"{node.name}/fan*")
    yield from (loop.subject for loop in rack.loops)
    yield from (f"switch/{switch.name}" for switch in rack.switches)


def _strip(port: str) -> str:
    """What a port is at."""
    found = _PORT.fullmatch(port)
    return found[1] if found else port


def _find_doubles(rack: Rack) -> Iterator[str]:
    families = {
        "node": [node.name for node in rack.nodes],
        "feed": [*(feed.name for feed in rack.feeds), *(ups.name for ups in rack.ups)],
        "PDU": [pdu.name for pdu in rack.pdus],
        "loop": [loop.subject for loop in rack.loops],
        "switch": [switch.name for switch in rack.switches],
        "ring": [ring.name for ring in rack.rings],
        "serial of a card": [card.serial for card in rack.cards],
        "slot of a card": [card.card for card in rack.cards],
        "end of a cable": [end for cable in rack.cables for end in (cable.a, cable.b)],
        **{f"outlet of PDU {pdu.name}": [str(outlet.number) for outlet in pdu.outlets] for pdu in rack.pdus},
    }
    for family, names in families.items():
        yield from (
            f"{family} {name!r} is there {count} times; it can be there once" for name, count in Counter(names).items() if count > 1
        )
