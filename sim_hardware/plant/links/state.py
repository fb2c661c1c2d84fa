"""The state of all links, and what they are given."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from sim_hardware.plant.links.ports import Port
from sim_hardware.plant.links.rings import RingState
from sim_hardware.plant.links.site import Site
from sim_hardware.plant.links.switches import Switching
from sim_hardware.plant.words import Happening

MILD = 40.0  # C of optics that nobody tells of


class Inputs(msgspec.Struct, frozen=True):
    """What the links are given, constant until the next update."""

    traffic: Sequence[float] = ()  # of each card in the rack's order: share (0 to 1) of the line rate that it sends; empty = none
    dark: frozenset[str] = frozenset()  # without power: nodes, cards, switches, as `n0`, `n0/card3`, `switch/s1`
    optics: Sequence[float] = ()  # C of each node's modules in the rack's order; empty = 40


class State(msgspec.Struct, frozen=True):
    """All links at `at` seconds. Tuples go by the numbers of the site."""

    site: Site
    ports: tuple[Port, ...]
    peers: tuple[int, ...]  # the port at the other end; -1: no plug
    plugs: tuple[int, ...]  # twice the number of the cable, and 1 more for its other end; -1: none
    radii: tuple[float | None, ...]  # of each cable, mm
    slow: tuple[float, ...]  # of each cable, us
    switches: tuple[Switching, ...]
    rings: tuple[RingState, ...]
    factors: tuple[float, ...]  # how much longer a collective over each ring takes
    moved: tuple[float, ...]  # what each card has sent, in seconds at full rate
    hot: tuple[float, ...]  # of each node's modules: kelvin over what they stand, in quarters
    optics: Sequence[float] = ()
    dark: frozenset[str] = frozenset()
    busy: Mapping[int, float] = {}  # ports of which something is due, and when
    at: float = 0.0
    next_time: float = math.inf
    happened: tuple[Happening, ...] = ()


def average_moved(site: Site, moved: Sequence[float], number: int, peer: int) -> float:
    """What the sender at the other end of a port has sent, s at full rate; a switch sends a node as much as the node sends."""
    sender = site.places[peer if peer >= 0 and site.places[peer].node >= 0 else number]
    first, last = sender.cards
    return moved[first] if last - first == 1 else sum(moved[first:last]) / max(1, last - first)
