"""Faults of cabling, hops and switches."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Annotated, Any

from sim_hardware.faults.kind import Kind, Nothing, Parameters, about, give, lift
from sim_hardware.faults.place import Place
from sim_hardware.faults.probing import COUNTED_S
from sim_hardware.faults.reading import GarbledError, ReadingError, run_tool
from sim_hardware.faults.views import hca_counter, read_neighbour
from sim_hardware.plant.links import orders, switches
from sim_hardware.plant.links.hops import JITTER_US
from sim_hardware.plant.links.site import SWITCH_PORTS
from sim_hardware.plant.words import OrderError
from sim_hardware.rack.shape import Ring

_HEARD = 5.0  # CNPs a second, from which a NIC hears of congestion


class OtherPort(Parameters, frozen=True):
    """Of plugs that change places."""

    other: Annotated[str, about("the port that its plug changes places with; empty: the same of the card two slots further", "text")] = ""


class Delay(Parameters, frozen=True):
    """Of a hop."""

    microseconds: Annotated[float, about("so much longer; below 0.9 the jitter of a good hop may hide it", "us", 0.05, 100_000.0)] = 10.0


class Burst(Parameters, frozen=True):
    """Of load."""

    share: Annotated[float, about("offered load as a share of the switch's capacity", "1", 0.8, 10.0)] = 1.5


class PfcThreshold(Parameters, frozen=True):
    """Of a wrong PFC threshold."""

    pfc_bytes: Annotated[float, about("threshold of priority 4 (120000 is right)", "B", 0.0, 1e6)] = 60_000.0
    burst: Annotated[float, about("offered load as a share of capacity, under which it shows", "1", 0.8, 10.0)] = 1.5


class EcnThreshold(Parameters, frozen=True):
    """Of a wrong ECN threshold."""

    ecn_bytes: Annotated[float, about("threshold of priority 4 (110000 is right, 10000 below PFC's)", "B", 0.0, 1e6)] = 119_000.0
    burst: Annotated[float, about("offered load as a share of capacity, under which it shows", "1", 0.8, 10.0)] = 1.5


def _swap(place: Place, ports: tuple[str, str]) -> None:
    """Let two plugs change places, and back those that did before."""
    _swap_back(place, None)
    place.order(orders.MovePlug(*ports))
    place.replace("swapped", ports)


def _swap_back(place: Place, _: object) -> None:
    ports = place.recall("swapped")
    place.forget("swapped")
    if ports is not None:
        place.order(orders.MovePlug(*ports))


def _choose(place: Place, parameters: OtherPort) -> tuple[str, str]:
    if parameters.other:
        return place.target, parameters.other
    card, _, side = place.target.rpartition("/")
    ring = next((ring for ring in place.rig.world.rack.rings if ring.level == "backplane" and card in ring.order), None)
    if ring is None or len(ring.order) < 3:
        raise OrderError(f"{place.target}: is in no ring of three or more; name the other port")
    return place.target, f"{ring.order[(ring.order.index(card) + 2) % len(ring.order)]}/{side}"


def _find_ring(place: Place) -> Ring:
    ring = next(ring for ring in place.rig.world.rack.rings if ring.name == place.short)
    if ring.level != "backplane" or len(ring.order) < 4:
        raise OrderError(f"{place.target}: only a ring of four or more cards with cables of their own can be split")
    return ring


def _split(place: Place, _: Nothing) -> None:
    """Two plugs of port 1, half a ring apart: each half closes upon itself."""
    order = _find_ring(place).order
    _swap(place, (f"{order[0]}/port1", f"{order[len(order) // 2]}/port1"))


async def _has_new_neighbour(place: Place, ports: tuple[str, ...]) -> bool:
    """Another port answers by LLDP than at first."""
    now = [await read_neighbour(place, port) for port in ports]
    before = place.remember("neighbours", now)
    return any(after and after != first for first, after in zip(before, now, strict=True))


async def _see_swap(place: Place, _: OtherPort) -> bool:
    return await _has_new_neighbour(place, (place.target,))


async def _see_port_swap(place: Place, _: Nothing) -> bool:
    return await _has_new_neighbour(place, (f"{place.target}/port0", f"{place.target}/port1"))


async def _see_split(place: Place, _: Nothing) -> bool:
    """Followed from neighbour to neighbour, the ring closes too early."""
    order = next(ring.order for ring in place.rig.world.rack.rings if ring.name == place.short)
    member = order[0]
    for steps in range(1, len(order) + 1):
        answer = await read_neighbour(Place(place.rig, place.kind, member), f"{member}/port0")
        member = answer.removesuffix("/port1")
        if member not in order:
            raise ReadingError(f"{place.target}: beyond port 0 of a member is {answer or 'nobody'}")
        if member == order[0]:
            return steps < len(order)
    return False


async def _read_hops(place: Place, node: str, ring: str) -> dict[tuple[int, int], float]:
    """What the latency tool prints of each hop, us."""
    run = await run_tool(place.rig, node, "hccl_ring_latency", "--ring", ring)
    hops: dict[tuple[int, int], float] = {}
    for line in run.out.splitlines():
        words = line.replace("->", " ").replace(":", " ").split()
        if line.startswith("Hop") and words[3:4] != ["timeout"]:
            hops[int(words[1]), int(words[2])] = float(words[3])
    if not hops:
        raise GarbledError(f"{node}: hccl_ring_latency prints no hop")
    return hops


async def _see_slow_hop(place: Place, parameters: Delay) -> bool:
    ends = place.short.split("--")
    for ring in place.rig.world.rack.rings:
        for at, (one, other) in enumerate(pairwise([*ring.order, ring.order[0]])):
            if sorted(ends) == sorted((f"{one}/port0", f"{other}/port1")):
                hops = await _read_hops(place, one.partition("/")[0], ring.name)
                now = hops[at, (at + 1) % len(ring.order)]
                return now - place.remember("latency", now) > max(2.0 * JITTER_US, parameters.microseconds / 2.0)
    raise ReadingError(f"{place.target}: is in no ring, so that nothing measures it")


def _congest(place: Place, pfc: float, ecn: float, burst: float) -> None:
    place.order(orders.SetThresholds(place.target, pfc, ecn))
    place.order(orders.Congest(place.target, burst))


def _relax(place: Place, _: object) -> None:
    """Thresholds are as they should be again (N4, N5), and nobody bursts."""
    _congest(place, switches.PFC_BYTES, switches.ECN_BYTES, 0.0)


def _find_nics(place: Place) -> list[str]:
    """The NICs on this switch: 48 nodes share one, in the rack's order."""
    rack = place.rig.world.rack
    at = [f"switch/{switch.name}" for switch in rack.switches].index(place.target)
    share = -(-len(rack.nodes) // len(rack.switches))
    return [f"{node.name}/nic/mlx5_0" for node in rack.nodes[at * share : (at + 1) * share]]


async def _count_notices(place: Place) -> float:
    """Congestion notices that a NIC hears, a second."""
    nics = _find_nics(place)
    if not nics:
        raise ReadingError(f"{place.target}: no NIC hangs on it")
    read, loop = hca_counter("hw_counters/np_cnp_sent", lambda _: nics[0]), asyncio.get_running_loop()
    first, begun = await read(place), loop.time()
    await asyncio.sleep(COUNTED_S)
    return (await read(place) - first) / (loop.time() - begun)


async def _see_congestion(place: Place, _: Burst) -> bool:
    return await _count_notices(place) > _HEARD


async def _see_wrong_marks(place: Place, burst: float) -> bool:
    """Frames queue, as hops tell, and NICs hear of it far less or more than with the right thresholds."""
    nics = _find_nics(place)
    cluster = next((ring.name for ring in place.rig.world.rack.rings if ring.level == "cluster"), "")
    if not nics or not cluster:
        raise ReadingError(f"{place.target}: no ring over switches, so that nothing measures it")
    latency = max((await _read_hops(place, nics[0].partition("/")[0], cluster)).values())
    right = switches.rate_queue(switches.Switching(burst=burst))[1] / SWITCH_PORTS
    heard = await _count_notices(place)
    queued = latency - place.remember("latency", latency) > _queue(burst) / 2.0
    return queued and not 0.8 * right < heard < 1.25 * right


def _queue(burst: float) -> float:
    """What frames wait with the right thresholds, us."""
    return switches.wait_in_queue(switches.Switching(burst=burst))


KINDS: tuple[Kind[Any], ...] = (
    Kind(
        kind="ring.cable_swap",
        text="The plugs of two ports have changed places; all counters stay good.",
        parameters=OtherPort,
        targets=("port",),
        inject=lambda place, parameters: _swap(place, _choose(place, parameters)),
        lift=_swap_back,
        probe=_see_swap,
        danger="physical",
    ),
    Kind(
        kind="ring.split",
        text="A ring is cabled as two, each closed and with every link up.",
        parameters=Nothing,
        targets=("ring",),
        inject=_split,
        lift=_swap_back,
        probe=_see_split,
        danger="physical",
        shows_within=3.0,
    ),
    Kind(
        kind="ring.port_swap",
        text="The plugs in the two ports of a card have changed places, so that the library takes the ring for a star.",
        parameters=Nothing,
        targets=("card",),
        inject=lambda place, _: _swap(place, (f"{place.target}/port0", f"{place.target}/port1")),
        lift=_swap_back,
        probe=_see_port_swap,
        takes_out=False,
        danger="physical",
    ),
    Kind(
        kind="hop.slow",
        text="The hop over a cable takes longer.",
        parameters=Delay,
        targets=("cable",),
        inject=give(lambda place, parameters: orders.SlowHop(place.target, parameters.microseconds)),
        lift=lift(lambda place: orders.SlowHop(place.target, 0.0)),
        probe=_see_slow_hop,
        takes_out=False,
        shows_within=3.0,
    ),
    Kind(
        kind="switch.congestion",
        text="Bursts on a switch; with good thresholds they are marked and nothing is lost.",
        parameters=Burst,
        targets=("switch",),
        inject=give(lambda place, parameters: orders.Congest(place.target, parameters.share)),
        lift=lift(lambda place: orders.Congest(place.target, 0.0)),
        probe=_see_congestion,
        takes_out=False,
    ),
    Kind(
        kind="switch.pfc",
        text="The PFC threshold of a switch is wrong, so that bursts are lost or noticed too late.",
        parameters=PfcThreshold,
        targets=("switch",),
        inject=lambda place, it: _congest(place, it.pfc_bytes, switches.ECN_BYTES, it.burst),
        lift=_relax,
        probe=lambda place, it: _see_wrong_marks(place, it.burst),
        takes_out=False,
        shows_within=4.0,
    ),
    Kind(
        kind="switch.ecn",
        text="The ECN threshold of a switch is wrong, so that bursts are lost before anybody hears of them.",
        parameters=EcnThreshold,
        targets=("switch",),
        inject=lambda place, it: _congest(place, switches.PFC_BYTES, it.ecn_bytes, it.burst),
        lift=_relax,
        probe=lambda place, it: _see_wrong_marks(place, it.burst),
        takes_out=False,
        shows_within=4.0,
    ),
)
