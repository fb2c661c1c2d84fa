"""How long a hop takes, and what a ring is worth to the job that uses it."""

from __future__ import annotations

import math

from sim_hardware.plant.chance import draw, start_chance
from sim_hardware.plant.links.optics import LANES
from sim_hardware.plant.links.ports import find_after
from sim_hardware.plant.links.rings import ALLREDUCE, STAR, name_uplink
from sim_hardware.plant.links.state import State
from sim_hardware.plant.links.switches import Switching, share_queue, wait_in_queue

HOP_US = 1.7  # L13
JITTER_US = 0.3  # N2; at most so much to either side, so that a good ring stays within 2.1 (R8)
STAR_US, ALLREDUCE_US = 18.0, 25.0  # R7; three hops over switches (ours)
GOOD_US = 2.1  # R8
FALLBACK_FACTOR, STAR_FACTOR = 312.0 / 89.0, 3.0  # R9; ours

_METRE_US = 0.005  # of fibre
_FRAME_BITS, _RETRY_US = 4096 * 8, 500.0  # a lost frame costs its sender's timer (ours)
_DROPS = 50.0  # frames a second and port, at which going back for them doubles a collective's time (ours)
_LOOK_S = 0.5  # jitter is another one so often


def find_latency(state: State, cable: int) -> float | None:
    """A cable's hop, us, without jitter; None when its link is down."""
    ends = _find_ends(state, cable)
    if len(ends) < 2 or not all(state.ports[end].up for end in ends):
        return None
    base = max((_slow_down(state, ring) for ring in _find_rings(state, ends)), default=HOP_US)
    length = state.site.lines[cable].length_m
    return base + _METRE_US * length + state.slow[cable] + _lose(state, ends) * _RETRY_US + _queue(state, ends)


def measure_latency(state: State, cable: int) -> float | None:
    """The same as one would measure it now."""
    latency = find_latency(state, cable)
    if latency is None:
        return None
    _, level = draw(start_chance(state.site.seed, f"jitter/{cable}/{state.at // _LOOK_S:g}"))
    return latency + JITTER_US * (2.0 * level - 1.0)


def measure_jitter(state: State, cable: int) -> float | None:
    """How far a hop's latency goes to either side, us: more where frames are lost and sent again, and where they queue."""
    ends = _find_ends(state, cable)
    if find_latency(state, cable) is None:
        return None
    lost = _lose(state, ends)
    return math.hypot(JITTER_US, _RETRY_US * math.sqrt(lost * (1.0 - lost)), _queue(state, ends) / 2.0)


def measure_ring(state: State, ring: int) -> float | None:
    """The worst hop of a ring, us."""
    if state.rings[ring].mode == ALLREDUCE:
        return ALLREDUCE_US
    hops = [measure_latency(state, cable) for cable in _list_cables(state, ring)]
    return max((hop for hop in hops if hop is not None), default=None)


def ring_factor(state: State, node: str) -> float:
    """How much longer a collective of this node takes than over good rings: at least 1, 3 over a star, 312/89 over an all-reduce.

    The node's own ring and the one between nodes count, the worse of the two. Lost lanes and slow hops slow a ring too.
    """
    return max((state.factors[ring] for ring in state.site.rings_at.get(node, ())), default=1.0)


def rate_ring(state: State, ring: int) -> float:
    """The factor of one ring, as its links are now."""
    if state.rings[ring].mode == ALLREDUCE:
        return FALLBACK_FACTOR
    cables = _list_cables(state, ring)
    worst = max((hop for cable in cables if (hop := find_latency(state, cable)) is not None), default=HOP_US)
    lanes = min((state.ports[end].width for cable in cables for end in _find_ends(state, cable)), default=LANES)
    drops = max((share_queue(switch)[0] for cable in cables for switch in _find_switches(state, _find_ends(state, cable))), default=0.0)
    slow = 1.0 + drops / _DROPS + (STAR_FACTOR - 1.0) * max(0.0, worst - GOOD_US) / (STAR_US - GOOD_US)
    return slow * LANES / max(1, lanes)


def _lose(state: State, ends: tuple[int, ...]) -> float:
    """The share of frames that bit errors spoil."""
    return min(1.0, max(find_after(state.ports[end], state.at) for end in ends) * _FRAME_BITS)


def _queue(state: State, ends: tuple[int, ...]) -> float:
    """How long a frame stands in a switch's queue under bursts, us."""
    switches = _find_switches(state, ends)
    return max((wait_in_queue(switch) for switch in switches), default=0.0)


def _find_switches(state: State, ends: tuple[int, ...]) -> list[Switching]:
    return [state.switches[state.site.places[end].switch] for end in ends if state.site.places[end].switch >= 0]


def _slow_down(state: State, ring: int) -> float:
    return STAR_US if state.rings[ring].mode == STAR else HOP_US


def _find_ends(state: State, cable: int) -> tuple[int, ...]:
    """The ports that a cable is in."""
    first, last = state.site.lines[cable].ends
    if state.plugs[first] == 2 * cable and state.plugs[last] == 2 * cable + 1:
        return first, last
    return tuple(number for number, plug in enumerate(state.plugs) if plug // 2 == cable)


def _find_rings(state: State, ends: tuple[int, ...]) -> list[int]:
    members = [state.site.places[end].owners[-1] for end in ends]
    return [ring for member in members for ring in state.site.rings_of.get(member, ())]


def _list_cables(state: State, ring: int) -> list[int]:
    """The cables in port 0 of the members, or to their switches."""
    name = _name_first if state.site.is_wired(ring) else name_uplink
    ports = (state.site.ports.get(name(member), -1) for member in state.site.rings[ring].order)
    return [state.plugs[port] // 2 for port in ports if port >= 0 and state.plugs[port] >= 0]


def _name_first(member: str) -> str:
    return f"{member}/port0"
