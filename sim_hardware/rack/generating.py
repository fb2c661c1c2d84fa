"""Racks by arithmetic: `rack-4x8`, `pod-128x8` and the like.

Nodes of one rack share two PDUs, one on each feed; 48 nodes share a switch; 128 nodes share a coolant loop. With four nodes or more
the last one is all spares. Each UPS can carry the whole site (2N).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sim_hardware.rack.shape import Cable, Card, Loop, Node, Outlet, Pdu, Rack, Ring, Sim, SimNode, SimPower, Spare, Switch, Ups

GENERATED = ("rack-1x8", "rack-4x8", "pod-5x8", "pod-16x8", "pod-128x8", "pod-1024x8")

_NAME = re.compile(r"(?:rack|pod)-([1-9][0-9]{0,3})x([1-9][0-9]?)")
_FEEDS = ("A", "B")
_NODES_A_RACK, _NODES_A_SWITCH, _NODES_A_LOOP = 8, 48, 128
_POWER_FACTOR, _MARGIN = 0.9, 1.25  # a UPS carries all nodes at full load with a quarter to spare


def match_name(name: str) -> tuple[int, int] | None:
    """Nodes and cards a node of a generated rack's name; None when it is no such name."""
    found = _NAME.fullmatch(name)
    return (int(found[1]), int(found[2])) if found and int(found[2]) <= 64 else None


def generate_rack(nodes: int, cards: int, text: str = "") -> Rack:
    """A rack of so many nodes with so many cards each."""
    loops = tuple(f"cdu{number}" for number in range(_share(nodes, _NODES_A_LOOP)))
    switches = tuple(f"s{number + 1}" for number in range(_share(nodes, _NODES_A_SWITCH)))
    all_nodes = tuple(Node(name=f"n{number}", cards=cards, feeds=_FEEDS, loop=loops[number // _NODES_A_LOOP]) for number in range(nodes))
    slots = [slot for node in all_nodes for slot in node.list_cards()]
    rings = tuple(Ring(name=f"backplane-{node.name}", level="backplane", order=node.list_cards()) for node in all_nodes if cards > 1)
    cluster = (Ring(name="cluster", level="cluster", order=tuple(node.name for node in all_nodes)),) if nodes > 1 else ()
    power = SimPower()
    watts = nodes * _rate_node(cards) + len(loops) * power.cdu_watts + len(switches) * power.switch_watts
    return Rack(
        nodes=all_nodes,
        rings=(*rings, *cluster),
        cards=tuple(Card(card=slot, serial=f"SN{number:05d}") for number, slot in enumerate(slots)),
        cables=tuple(cable for ring in rings for cable in _close(ring.order)),
        ups=tuple(Ups(name=feed, rated_va=round(watts / _POWER_FACTOR * _MARGIN, -2)) for feed in _FEEDS),
        pdus=tuple(_list_pdus(all_nodes, loops, switches)),
        loops=tuple(Loop(name=loop) for loop in loops),
        switches=tuple(Switch(name=switch, model="CloudEngine 6881-48S6CQ") for switch in switches),
        spares=tuple(Spare(card=slot) for slot in all_nodes[-1].list_cards()) if nodes >= 4 else (),
        sim=Sim(text=text or f"{nodes} nodes with {cards} cards each, generated"),
    )


def _share(nodes: int, most: int) -> int:
    return -(-nodes // most)


def _rate_node(cards: int) -> float:
    """The watts of a node at full load."""
    figures = SimNode()
    return cards * figures.card_watts + figures.other_watts + figures.fan_watts


def _close(order: Sequence[str]) -> Iterator[Cable]:
    """Port 0 of each card to port 1 of the next (L11)."""
    for place, card in enumerate(order):
        yield Cable(a=f"{card}/port0", b=f"{order[(place + 1) % len(order)]}/port1", length_m=1.5, bend_radius_mm=60.0)


def _list_pdus(nodes: Sequence[Node], loops: Sequence[str], switches: Sequence[str]) -> Iterator[Pdu]:
    """The first pair of PDUs also carries the CDUs' controls and pumps, and the switches."""
    shared = [*(Loop(name=loop).subject for loop in loops), *(f"switch/{switch}" for switch in switches)]
    for rack in range(_share(len(nodes), _NODES_A_RACK)):
        here = nodes[rack * _NODES_A_RACK : (rack + 1) * _NODES_A_RACK]
        loads = [*((node.name, False) for node in here), *((f"{node.name}/fan*", True) for node in here)]
        loads += [(load, False) for load in shared] if rack == 0 else []
        outlets = tuple(Outlet(number=number, load=load, sheddable=shed) for number, (load, shed) in enumerate(loads, start=1))
        for feed in _FEEDS:
            yield Pdu(name=f"{feed}{rack + 1}", feed=feed, outlets=outlets)
