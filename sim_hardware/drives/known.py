"""What the drives know of racks: their names, their subjects by family, the conditions that stand for a healthy site."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType

from sim_hardware.devices.tools import TOOLS
from sim_hardware.drives.stage import DRAINED
from sim_hardware.plant import site as plant
from sim_hardware.plant.kinds import KINDS
from sim_hardware.rack import Rack, RackError, load_rack
from sim_hardware.stand_ins import STAND_INS
from supernoded.chaos.catalogue import RackView, Redundancy
from supernoded.chaos.condition import Condition
from supernoded.chaos.drive import ACTION
from supernoded.clock import SystemClock
from supernoded.errors import ChaosError
from supernoded.job.parts import JobActuator
from supernoded.job.troubles import TROUBLE
from supernoded.limits import Limits
from supernoded.outlets import SWITCH_KINDS
from supernoded.registry import collect, discover
from supernoded.settings import SITE
from supernoded.topology import CoolantLoop, Ring, RingLevel, Supernode, Topology
from supernoded.wire import Node, Pen
from supernoded.wire.system import Devices, SystemHost, SystemWires

SCENARIOS = Path(__file__).parents[1] / "scenarios"
PORTS = ("port0", "port1")  # of every card (L11)
FANS = 8  # of every node (T3)
COOLING = frozenset({"coolant.flow", "coolant.close", "coolant.open", "fan.full", "fan.auto"})
CARDS = frozenset({"card.hold", "card.unhold", "card.isolate", "card.release", "card.test", "card.capture"})
ORDERS = (
    SWITCH_KINDS | JobActuator.kinds | COOLING | CARDS | {"power.shed", "power.restore", "power.cap", "node.drain", "node.release"}
)  # to devices, which a plugin offers where it is told of one

CONDITIONS: Mapping[str, Sequence[Condition]] = MappingProxyType(
    {
        "nodes_online": (Condition(truth="node.power", on="node", equals="on"),),
        "ring_closed": (Condition(truth="ring.closed", on="ring", equals=1.0),),
        "job_running": (Condition(truth="job.state", on="job", one_of=("running", "saving")),),
        "flow_ok": (Condition(truth="coolant.flow", on="node", above=1.0),),
        "feeds_redundant": (Condition(truth="ups.output_voltage", on="ups", above=200.0),),
        "power_normal": (Condition(truth="ups.status", on="ups", has="OL"),),
        "temp_margin": (Condition(truth="card.temperature.median", on="card", below=85.0),),
        "outlets_on": (Condition(truth="outlet.state", on="outlet", equals="on"),),
    }
)


def load_known_rack(name: str) -> Rack:
    """A rack. Raises ChaosError."""
    try:
        return load_rack(name)
    except RackError as error:
        raise ChaosError(str(error)) from error


def list_stand_ins() -> Mapping[str, str]:
    """The policies, each with its sentence."""
    return {name: (make.__doc__ or "").partition("\n")[0] for name, make in STAND_INS.items()}


@cache
def list_tellings() -> frozenset[str]:
    """The kinds that the rules of the installed plugins judge, and `action.<kind>` of what they can do, asked as a daemon asks."""
    pen, clock = Pen(lambda scope: f"{scope} only looks on"), SystemClock()
    ring = Ring(name="any", level=RingLevel.BACKPLANE, order=("n0/card0", "n0/card1"))  # judged ring by ring
    loop = CoolantLoop(name="cdu0")
    topology = Topology(nodes=(Supernode(name="n0", cards=2, loop="cdu0"),), rings=(ring,), loops=(loop,))

    def node_for(plugin: str) -> Node:
        wires = SystemWires(pen, plugin, Devices())
        return Node("n0", topology, Limits(), wires, clock, SystemHost(), Path("/nonexistent"))

    parts = collect(discover(), {}, node_for)
    kinds = ORDERS.union(*(actuator.kinds for actuator in parts.actuators))
    return frozenset({rule.kind for rule in parts.rules} | {TROUBLE} | {f"{ACTION}{kind}" for kind in kinds})


@cache
def view_rack(name: str) -> RackView:
    """See `supernoded.chaos.drive.Drive.view`."""
    rack = load_known_rack(name)
    sensors = {(sensor.subject, sensor.quantity): sensor.unit for sensor in plant.sensors(plant.start(rack, 0))}
    sensors |= {(node.name, DRAINED): "text" for node in rack.nodes}
    subjects = {family: tuple(members) for family, members in _list_subjects(rack, {subject for subject, _ in sensors}).items()}
    return RackView(
        name=name,
        subjects=subjects,
        attributes=dict(_list_attributes(rack)),
        sensors=sensors,
        happenings=KINDS,
        tellings=list_tellings(),
        redundancy=dict(_list_redundancy(rack)),
    )


def _list_subjects(rack: Rack, measured: set[str]) -> Mapping[str, Sequence[str]]:
    nodes = [node.name for node in rack.nodes]
    cards = list(rack.list_cards())
    feeds = list(dict.fromkeys((*(ups.name for ups in rack.ups), *(pdu.feed for pdu in rack.pdus))))
    pumps = [subject for subject in sorted(measured) if "/pump" in subject]
    ranks = sorted((subject for subject in measured if "/rank" in subject), key=lambda subject: int(subject.rpartition("rank")[2]))
    families: dict[str, Sequence[str]] = {
        "node": nodes,
        "card": cards,
        "port": [f"{card}/{port}" for card in cards for port in PORTS],
        "nic": [subject for subject in (f"{node}/nic/mlx5_0" for node in nodes) if subject in measured],
        "fan": [f"{node}/fan{number}" for node in nodes for number in range(FANS)],
        "ring": [f"ring/{ring.name}" for ring in rack.rings],
        "cable": sorted(subject for subject in measured if subject.startswith("cable/")),
        "utility": [subject for subject in sorted(measured) if subject.startswith("utility/")],
        "generator": ["generator"],
        "feed": [f"feed/{feed}" for feed in feeds],
        "power": [f"power/{SITE}"] if feeds else [],  # all feeds together, as daemons tell of them
        "ups": [f"ups/{ups.name}" for ups in rack.ups],
        "pdu": [f"pdu/{pdu.name}" for pdu in rack.pdus],
        "breaker": [f"breaker/{pdu.name}" for pdu in rack.pdus],
        "outlet": [f"pdu/{pdu.name}/outlet{outlet.number}" for pdu in rack.pdus for outlet in pdu.outlets],
        "cdu": [loop.subject for loop in rack.loops],
        "pump": pumps,
        "switch": [f"switch/{switch.name}" for switch in rack.switches],
        "pool": [f"pool/{node}" for node in nodes],
        "job": [f"job/{rack.sim.job.name}"] if rack.sim.job is not None else [],
        "rank": ranks,
        "line": [
            *(f"line/{loop.name}" for loop in rack.loops),
            *(f"line/feed-{feed}" for feed in dict.fromkeys(pdu.feed for pdu in rack.pdus)),
        ],
        "broker": ["broker"],
        "database": ["database"],
        "storage": ["storage"],  # of checkpoints
        "tool": [f"{node}/{tool}" for node in nodes for tool in TOOLS],
        "network": ["network"],  # between nodes, broker and database
        "fleet": ["fleet"],  # all nodes together, as daemons tell of them
        "device": list(_list_devices(rack)),
    }
    return {family: members for family, members in families.items() if members}


def _list_devices(rack: Rack) -> Iterator[str]:
    """What speaks for the rack's things, each in all its ways."""
    ways = (
        (("", "/modbus", "/snmp"), (f"ups/{ups.name}" for ups in rack.ups)),
        (("", "/redfish", "/snmp"), (f"pdu/{pdu.name}" for pdu in rack.pdus)),
        (("", "/redfish", "/rtu"), (loop.subject for loop in rack.loops)),
        (("/bmc",), (node.name for node in rack.nodes)),
    )
    yield from (f"{subject}{way}" for kinds, subjects in ways for subject in subjects for way in kinds)
    yield from ("kubernetes",) if rack.sim.kubernetes else ()


def _list_attributes(rack: Rack) -> Iterator[tuple[str, Mapping[str, tuple[str, ...]]]]:
    for node in rack.nodes:
        own = {"node": (node.name,), "feed": node.feeds, "loop": (node.loop,)}
        yield node.name, own
        for slot, card in enumerate(node.list_cards()):
            yield card, {**own, "slot": (str(slot),)}
            yield from ((f"{card}/{port}", {**own, "card": (card,), "port": (port,)}) for port in PORTS)
    for ups in rack.ups:
        yield f"ups/{ups.name}", {"feed": (ups.name,)}
    for pdu in rack.pdus:
        yield f"pdu/{pdu.name}", {"feed": (pdu.feed,)}
        for outlet in pdu.outlets:
            yield f"pdu/{pdu.name}/outlet{outlet.number}", {"feed": (pdu.feed,), "load": (outlet.load,), "pdu": (pdu.name,)}


def _list_redundancy(rack: Rack) -> Iterator[tuple[str, tuple[Redundancy, ...]]]:
    upses = tuple(f"ups/{ups.name}" for ups in rack.ups)
    if len(upses) > 1:
        yield "one_feed", (Redundancy(members=upses, least=1, text="UPSes of the feeds"),)
    pumps = tuple(
        Redundancy(members=(f"{loop.subject}/pump0", f"{loop.subject}/pump1"), least=1, text=f"pumps of {loop.subject}")
        for loop in rack.loops
    )
    if pumps:
        yield "one_pump", pumps
    rings = tuple(Redundancy(members=node.list_cards(), least=len(node.list_cards()), text=f"ring of {node.name}") for node in rack.nodes)
    yield "ring_closed", rings
