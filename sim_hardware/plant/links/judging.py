"""What light, faults and power make of a port."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from sim_hardware.plant.links import optics
from sim_hardware.plant.links.coding import correct
from sim_hardware.plant.links.ports import DEGRADED, Light, Port
from sim_hardware.plant.links.site import Site

UNSTEADY = 1e-6  # after correction: from here on a link drops out now and then (ours)

_LOST = 3e-3  # before correction: the receiver finds no block in it (ours, a little over the 2.4e-4 of IEEE 802.3 clause 121)
_HOLDS_S, _DROPS_S = 15.0, 2.0  # an unsteady link holds so long on average, and is down so long (ours)


class Links(Protocol):
    """What has to be known of all links to judge one."""

    @property
    def site(self) -> Site:
        """What stands where."""
        ...

    @property
    def dark(self) -> frozenset[str]:
        """What has no power."""
        ...

    @property
    def ports(self) -> Sequence[Port]:
        """By number."""
        ...

    @property
    def peers(self) -> Sequence[int]:
        """The other end of each."""
        ...

    @property
    def plugs(self) -> Sequence[int]:
        """Twice the number of the cable in each, and 1 more for its other end."""
        ...

    @property
    def radii(self) -> Sequence[float | None]:
        """Of the cables, mm."""
        ...

    @property
    def hot(self) -> Sequence[float]:
        """Of each node's modules, kelvin over what they stand."""
        ...


def is_dark(links: Links, number: int) -> bool:
    """Whether a port has no power."""
    return bool(links.dark) and not links.dark.isdisjoint(links.site.places[number].owners)


def send(links: Links, number: int) -> float:
    """The light that a port sends on each lane, mW."""
    faults = links.ports[number].faults
    if is_dark(links, number) or faults.absent or not faults.enabled:
        return 0.0
    node = links.site.places[number].node
    lost = optics.lose_by_seat(faults.loose) + (optics.lose_by_heat(links.hot[node]) if node >= 0 else 0.0)
    return optics.SENT_MW * (1.0 - faults.aged) * optics.to_share(lost)


def find_width(links: Links, number: int) -> int:
    """The lanes that both ends have."""
    peer, own = links.peers[number], links.ports[number].faults.lanes
    return own if peer < 0 else min(own, links.ports[peer].faults.lanes)


def judge_light(links: Links, number: int) -> Light:
    """What a port receives, and how well it can be read."""
    faults, peer = links.ports[number].faults, links.peers[number]
    if peer < 0 or faults.absent or faults.cut or links.ports[peer].faults.cut or is_dark(links, number):
        return Light()
    sent = send(links, peer)
    if sent <= 0.0:
        return Light()
    cable = links.plugs[number] // 2
    lost = optics.lose_by_fibre(links.site.lines[cable].length_m) + optics.lose_by_bend(links.radii[cable])
    lost += faults.decibels + optics.lose_by_seat(faults.loose)
    lanes = find_width(links, number)
    received = tuple(
        sent * optics.to_share(lost + own) if lane < lanes else 0.0 for lane, own in enumerate(links.site.places[number].lanes_db)
    )
    before = optics.misread_all(received, lanes)
    return Light(received, before, correct(sum(before) / max(1, lanes)))


def judge_up(links: Links, number: int) -> bool:
    """Whether a port's link is up: both ends are ready and can read each other."""
    peer = links.peers[number]
    return peer >= 0 and all(_is_ready(links, end) and _holds(links.ports[end]) for end in (number, peer))


def _is_ready(links: Links, number: int) -> bool:
    port, faults = links.ports[number], links.ports[number].faults
    away = faults.absent or faults.cut or (faults.flapping is not None and faults.flapping.down)
    return faults.enabled and not away and faults.lanes > 0 and not port.dropped and not is_dark(links, number)


def _holds(port: Port) -> bool:
    lit = [light for light in port.light.received if light > 0.0]
    if not lit or sum(lit) / len(lit) < optics.DARK_MW:
        return False
    return port.faults.override is not None or sum(port.light.before) / len(lit) < _LOST


def is_degraded(port: Port, after: float, *, up: bool) -> bool:
    """Whether it receives with more errors than L2 allows; what is down keeps what it had."""
    return after >= DEGRADED if up else port.degraded


def name_physical(links: Links, number: int, *, up: bool) -> str:
    """The physical state, as an HCA calls it; without power it sleeps."""
    if is_dark(links, number):
        return "Sleep"
    if not links.ports[number].faults.enabled:
        return "Disabled"
    return "LinkUp" if up else "Polling"


def draw_pause(level: float, *, dropped: bool) -> float:
    """How long an unsteady link stays as it is, s, by a number in [0, 1)."""
    return _DROPS_S if dropped else -_HOLDS_S * math.log(1.0 - level) + 0.1
