"""The library's own view of rings."""

from __future__ import annotations

from pathlib import Path
from statistics import stdev

import pytest

from supernoded.limits import Limits
from supernoded.plugin import Node, Sensor, State, WireError
from supernoded.testing import Answer, ManualClock, MemoryHost, MemoryWires
from supernoded.topology import Ring, RingLevel, Supernode, Topology
from supernoded_ascend.fitting import fit_sensors
from supernoded_ascend.settings import AscendSettings

RINGS = (
    Ring(name="b0", level=RingLevel.BACKPLANE, order=("n0/card0", "n0/card1", "n0/card2")),
    Ring(name="c", level=RingLevel.CLUSTER, order=("n0", "n1", "n2")),
)
SETTINGS = AscendSettings(
    ring_check=("hccl_ring_check", "--ring", "{ring}"),
    ring_latency=("hccl_ring_latency", "--ring-size", "{size}", "--ring-order", "{order}", "--ring", "{ring}"),
)


@pytest.fixture
def node(tmp_path: Path) -> Node:
    topology = Topology(nodes=tuple(Supernode(name=f"n{number}", cards=3) for number in range(3)), rings=RINGS)
    return Node(name="n0", topology=topology, limits=Limits(), wires=MemoryWires(), clock=ManualClock(), host=MemoryHost(), state=tmp_path)


def fit(node: Node, name: str) -> tuple[Sensor, MemoryWires]:
    assert isinstance(node.wires, MemoryWires)
    return next(sensor for sensor in fit_sensors(SETTINGS, node) if sensor.name == name), node.wires


def latency(wires: MemoryWires, ring: str, *hops: str) -> None:
    count = len(hops)
    command = wires.command(["hccl_ring_latency", "--ring-size", "3", "--ring-order", "0,1,2", "--ring", ring])
    text = "".join(f"Hop {one}->{(one + 1) % count}: {hop}\n" for one, hop in enumerate(hops))
    command.answer = lambda words: Answer(int("timeout" in text), text, "", truncated=False)


def test_off_unless_named(node: Node) -> None:
    assert not [sensor for sensor in fit_sensors(AscendSettings(), node) if sensor.scope != "node"]
    assert sorted((sensor.name, sensor.scope) for sensor in fit_sensors(SETTINGS, node) if sensor.scope != "node") == [
        ("ascend.ring_check.b0", "ring/b0"),
        ("ascend.ring_check.c", "ring/c"),
        ("ascend.ring_latency.b0", "ring/b0"),
        ("ascend.ring_latency.c", "ring/c"),
    ]


async def test_a_check_by_name(node: Node) -> None:
    sensor, wires = fit(node, "ascend.ring_check.c")
    command = wires.command(["hccl_ring_check", "--ring", "c"])
    command.answer = lambda words: Answer(1, "Ring broken at node 1\n", "", truncated=False)
    assert {reading.quantity: reading.value for reading in await sensor.read()} == {"ring.closed": 0.0, "ring.broken_at": "n1"}
    command.answer = lambda words: Answer(2, "", "usage", truncated=False)
    with pytest.raises(WireError, match="ended with code 2 and said 'usage'"):
        await sensor.read()


async def test_hops_are_those_of_the_side_that_sends(node: Node) -> None:
    for ring, senders in (("b0", [f"n0/card{card}/port0" for card in range(3)]), ("c", ["n0", "n1", "n2"])):
        sensor, wires = fit(node, f"ascend.ring_latency.{ring}")
        latency(wires, ring, "2.00 us", "2.10 us", "timeout")
        found = {reading.subject: reading for reading in await sensor.read() if reading.quantity == "hop.latency"}
        assert [(subject, reading.value) for subject, reading in found.items()] == list(zip(senders, [2.0, 2.1, None], strict=True))
        assert found[senders[2]].state is State.UNKNOWN


async def test_jitter_is_the_spread_of_the_last_five_minutes(node: Node) -> None:
    assert isinstance(node.clock, ManualClock)
    sensor, wires = fit(node, "ascend.ring_latency.c")
    values = [50.0, 2.0, 2.5, 2.0, 3.0, 2.0]
    spreads = []
    for value in values:
        latency(wires, "c", f"{value} us", "2 us", "2 us")
        spreads.append(next(one for one in await sensor.read() if (one.subject, one.quantity) == ("n0", "hop.jitter")))
        await node.clock.advance(70.0 if value == 50.0 else 60.0)
    assert [one.value is None for one in spreads[:4]] == [True] * 4
    assert spreads[3].note == "4 polls in 300 s, 5 are needed"
    assert spreads[4].value == pytest.approx(stdev(values[:5]))
    assert spreads[5].value == pytest.approx(stdev(values[1:]))  # the first one has become too old


async def test_hops_that_are_none_of_the_ring(node: Node) -> None:
    sensor, wires = fit(node, "ascend.ring_latency.c")
    command = wires.command(["hccl_ring_latency", "--ring-size", "3", "--ring-order", "0,1,2", "--ring", "c"])
    command.answer = lambda words: Answer(0, "Hop 0->2: 1 us\nHop 7->8: 1 us\nHop 2->0: 3 us\n", "", truncated=False)
    assert {one.subject for one in await sensor.read()} == {"n2"}
    command.answer = lambda words: Answer(0, "Ring latency: 2 us", "", truncated=False)
    with pytest.raises(WireError, match="no hop is told: 'Ring latency: 2 us'"):
        await sensor.read()
