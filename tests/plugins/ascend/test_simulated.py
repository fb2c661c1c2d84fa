"""Against the simulator's tools over its whole plant, on a clock turned by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from sim_hardware.devices.tools import ToolState, run_tool
from sim_hardware.devices.tools.logs import NodeLogs
from sim_hardware.plant.cards.orders import FallOff, HangCard, RaiseCode
from sim_hardware.plant.links.orders import CutLink, Flap, MovePlug, Unplug
from sim_hardware.plant.words import Order
from sim_hardware.rack import generate_rack
from sim_hardware.rack.reading import write_topology
from sim_hardware.world import World
from supernoded.limits import Limits
from supernoded.plugin import NODE, Node, Reading, State, WireError
from supernoded.quantities import find_fault
from supernoded.testing import Answer, ManualClock, MemoryCommand, MemoryHost, MemoryWires
from supernoded.topology import read_topology
from supernoded_ascend.closer_look import LOOKS
from supernoded_ascend.fitting import fit_sensors
from supernoded_ascend.settings import AscendSettings

SETTINGS = AscendSettings(
    second_port=("-port", "1"),
    ring_check=("hccl_ring_check", "--ring", "{ring}"),
    ring_latency=("hccl_ring_latency", "--ring-size", "{size}", "--ring-order", "{order}", "--ring", "{ring}"),
)
RING = "ring/backplane-n0"


class PlantWires(MemoryWires):
    """Tools over the plant that take no time; one that hangs is killed at once."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world, self.state = world, ToolState()

    def command(self, argv: Sequence[str]) -> MemoryCommand:
        command = super().command(argv)
        command.answer = lambda words: self._run((*argv, *words))
        return command

    def _run(self, argv: Sequence[str]) -> Answer:
        run = run_tool(Path(argv[0]).name, argv[1:], self._world, "n0", self.state)
        if run.seconds == float("inf"):
            raise WireError(f"{' '.join(argv)}: did not end and was killed")
        return Answer(run.rc, run.out, run.err, truncated=False)


class Bench:
    """A node over a plant, after its first five minutes."""

    def __init__(self, folder: Path) -> None:
        rack = generate_rack(1, 8)
        self._now = 300.0
        self.world = World(rack, 1, lambda: self._now)
        self.wires = PlantWires(self.world)
        self.logs = NodeLogs(rack)
        self.world.watches.append(self.logs.note)
        topology = read_topology(write_topology(rack), "rack")
        self.node = Node(
            name="n0", topology=topology, limits=Limits(), wires=self.wires, clock=ManualClock(), host=MemoryHost(), state=folder
        )
        self.sensors = {sensor.name: sensor for sensor in fit_sensors(SETTINGS, self.node)}

    def play(self, seconds: float, *orders: Order) -> None:
        for order in orders:
            self.world.order(order)
        self._now += seconds

    async def read(self, *names: str) -> dict[tuple[str, str], Reading]:
        self.wires.tree("/var/log/hccl").files["hccl.log"] = self.logs.read("n0", "hccl.log")
        readings = [reading for name in names or self.sensors for reading in await self.sensors[name].read()]
        faults = [f"{reading}: {why}" for reading in readings if reading.state is State.GOOD and (why := find_fault(reading))]
        assert faults == []
        return {(reading.subject, reading.quantity): reading for reading in readings}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def test_a_healthy_node(bench: Bench) -> None:
    found = await bench.read()
    unknown = {quantity for (_, quantity), reading in found.items() if reading.state is State.UNKNOWN}
    assert unknown <= {"x.ascend.host_snr", "ring.broken_at", "hop.jitter", "link.state"}
    for card in range(8):
        for port in (0, 1):
            subject, peer = f"n0/card{card}/port{port}", f"n0/card{(card + 1 - 2 * port) % 8}/port{1 - port}"
            assert {
                quantity: found[subject, quantity].value for quantity in ("link.neighbour", "link.speed", "link.fec", "link.probe")
            } == {
                "link.neighbour": peer,
                "link.speed": 200.0,
                "link.fec": "rs-fec",
                "link.probe": "success",
            }
            assert found[f"{subject}/lane3", "link.los"].value == frozenset()
            assert isinstance(found[subject, "link.bits"].value, float)
        assert found[f"n0/card{card}", "card.health"].value == frozenset()
        assert found[f"n0/card{card}", "card.serial"].value == f"SN{card:05d}"
        assert found[f"n0/card{card}", "card.present"].value == 1.0
        latency = found[f"n0/card{card}/port0", "hop.latency"].value
        assert isinstance(latency, float)
        assert latency < bench.node.limits.ring.hop_bad_us
    assert found[RING, "ring.closed"].value == 1.0
    assert found["n0", "comm.timeouts"].value == 0.0


async def test_a_link_that_flaps_between_two_polls(bench: Bench) -> None:
    bench.play(20.0, Flap("n0/card3/port0", 4.0, 0.2, 3))
    states = await bench.read("ascend.link")
    records = await bench.read("ascend.records")
    port = "n0/card3/port0"
    assert [found[port, "link.state"].value for found in (states, records)] == [1.0, 1.0]
    assert (records[port, "link.downed"].value, records[port, "link.recent_downs"].value) == (3.0, 3.0)
    assert records["n0/card5/port0", "link.downed"].value == 0.0
    bench.play(3700.0)
    assert (await bench.read("ascend.records"))[port, "link.recent_downs"].value == 0.0


async def test_a_module_that_is_out(bench: Bench) -> None:
    bench.play(10.0, Unplug("n0/card3/port0", absent=True))
    found = await bench.read("ascend.link", "ascend.optical", "ascend.probe")
    port = "n0/card3/port0"
    assert (found[port, "link.state"].value, found[port, "link.present"].value, found[port, "link.probe"].value) == (0.0, 0.0, "fault")
    assert found["n0/card4/port1", "link.state"].value == 0.0


async def test_a_broken_ring_in_the_tools_and_in_the_log(bench: Bench) -> None:
    await bench.read("ascend.log")
    bench.play(30.0, CutLink("n0/card6/port0", cut=True))
    check = await bench.read("ascend.ring_check.backplane-n0")
    assert (check[RING, "ring.closed"].value, check[RING, "ring.broken_at"].value) == (0.0, "n0/card6")
    assert (await bench.read("ascend.log"))[RING, "ring.mode"].value in {"star", "allreduce"}


async def test_two_ports_exchanged(bench: Bench) -> None:
    bench.play(10.0, MovePlug("n0/card3/port0", "n0/card3/port1"))
    found = await bench.read("ascend.neighbours")
    assert found["n0/card3/port0", "link.neighbour"].value == "n0/card2/port0"
    assert found["n0/card3/port1", "link.neighbour"].value == "n0/card4/port1"


async def test_a_card_off_its_bus(bench: Bench) -> None:
    await bench.read()
    bench.play(1.0, FallOff("n0/card3", off=True))
    table, health = await bench.read("ascend.cards"), await bench.read("ascend.health")
    for found in (table, health):
        present = {subject: reading.value for (subject, quantity), reading in found.items() if quantity == "card.present"}
        assert present == {f"n0/card{card}": float(card != 3) for card in range(8)}
    ports = await bench.read("ascend.link")
    assert ports["n0/card3/port0", "link.state"].state is State.UNKNOWN
    assert ports["n0/card4/port1", "link.state"].state is State.GOOD


async def test_a_card_that_hangs_takes_no_other_with_it(bench: Bench) -> None:
    bench.play(1.0, HangCard("n0/card3", hung=True))
    found = await bench.read("ascend.cards")  # the driver's table waits for it
    assert {subject for (subject, quantity), one in found.items() if quantity == "card.temperature" and one.state is State.GOOD} == {
        f"n0/card{card}" for card in range(8) if card != 3
    }
    found = await bench.read("ascend.health", "ascend.link")
    for card in range(8):
        wanted = State.UNKNOWN if card == 3 else State.GOOD
        assert found[f"n0/card{card}", "card.present"].state is wanted
        assert found[f"n0/card{card}", "card.health"].state is wanted
        assert found[f"n0/card{card}/port0", "link.state"].state is wanted


async def test_a_code(bench: Bench) -> None:
    bench.play(1.0, RaiseCode("n0/card3", "80E01801", present=True))
    assert (await bench.read("ascend.health"))["n0/card3", "card.health"].value == frozenset({"80E01801"})


async def test_a_word_that_turns_bad_is_looked_at_closely_for_a_while(bench: Bench) -> None:
    """A code that takes a card out has no time to wait until all cards are asked for theirs."""
    assert (await bench.read("ascend.cards"))["n0/card3", "card.health"].value == frozenset()
    for _ in range(2):
        bench.play(1.0, RaiseCode("n0/card3", "8C03A000", present=True))
        told = [(await bench.read("ascend.cards"))["n0/card3", "card.health"].value for _ in range(LOOKS + 1)]
        assert told == [frozenset({"8C03A000"})] * LOOKS + [frozenset({"alarm"})]
        bench.play(1.0, RaiseCode("n0/card3", "8C03A000", present=False))
        assert (await bench.read("ascend.cards"))["n0/card3", "card.health"].value == frozenset()


@pytest.mark.parametrize("tool", ["hccn_tool", "npu-smi", "hccl_ring_check", "hccl_ring_latency"])
@pytest.mark.parametrize("how", ["garbage", "rc", "hang"])
async def test_a_sick_tool_is_no_sick_card(tool: str, how: str, bench: Bench) -> None:
    await bench.read()
    impairment = bench.wires.state.impair(tool)
    impairment.garbage, impairment.rc, impairment.hang = how == "garbage", 3 if how == "rc" else None, how == "hang"
    told = 0
    for sensor in bench.sensors.values():
        if sensor.name == "ascend.log":
            continue
        try:
            readings = await sensor.read()
        except WireError:
            told += 1
            continue
        told += any(reading.state is State.UNKNOWN for reading in readings)
        assert [one for one in readings if one.quantity in {"card.present", "link.state", "ring.closed"} and one.value == 0.0] == []
    assert told >= 1


def test_scopes(bench: Bench) -> None:
    assert {sensor.scope for sensor in bench.sensors.values()} == {NODE, RING}
