"""The log as it is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from supernoded.limits import Limits
from supernoded.plugin import Node, Sensor, WireError
from supernoded.testing import Answer, ManualClock, MemoryHost, MemoryWires
from supernoded.topology import Ring, RingLevel, Supernode, Topology
from supernoded.wire import Pen
from supernoded.wire.tree import FileTree
from supernoded_ascend.fitting import fit_sensors
from supernoded_ascend.log_sensor import LogSensor, find_own_ring
from supernoded_ascend.settings import AscendSettings

BACKPLANE = Ring(name="b0", level=RingLevel.BACKPLANE, order=("n0/card0", "n0/card1"))
CLUSTER = Ring(name="c", level=RingLevel.CLUSTER, order=("n0", "n1"))
HEAD = "HCCL(1,python3):2026-01-01-00:00:01.123.456 [x.cc:1][1]"


def make_node(folder: Path, *rings: Ring) -> Node:
    topology = Topology(nodes=(Supernode(name="n0", cards=2), Supernode(name="n1", cards=2)), rings=rings)
    return Node(name="n0", topology=topology, limits=Limits(), wires=MemoryWires(), clock=ManualClock(), host=MemoryHost(), state=folder)


def make_sensor(node: Node) -> Sensor:
    (sensor,) = (sensor for sensor in fit_sensors(AscendSettings(), node) if sensor.name == "ascend.log")
    return sensor


async def look(sensor: Sensor) -> dict[tuple[str, str], object]:
    return {(reading.subject, reading.quantity): reading.value for reading in await sensor.read()}


async def test_a_log_is_followed_over_its_rotation(tmp_path: Path) -> None:
    node = make_node(tmp_path, BACKPLANE, CLUSTER)
    assert isinstance(node.wires, MemoryWires)
    files, sensor = node.wires.tree("/var/log/hccl").files, make_sensor(node)
    with pytest.raises(WireError, match=r"hccl\.log: no such file"):
        await sensor.read()
    files["hccl.log"] = f"[ERROR] {HEAD} timeout 1\n"
    assert await look(sensor) == {("n0", "comm.timeouts"): 1.0, ("n0", "comm.last_error"): f"[ERROR] {HEAD} timeout 1"}
    files["hccl.log"] = f"[ERROR] {HEAD} timeout 1\n[WARNING] {HEAD} falls back to allreduce\n[INFO] {HEAD} x"
    assert (await look(sensor))["ring/c", "ring.mode"] == "allreduce"
    files["hccl.log"] = f"[ERROR] {HEAD} timeout 2\n[WARNING] {HEAD} ring/b0 runs as star\n"
    assert await look(sensor) == {
        ("n0", "comm.timeouts"): 2.0,
        ("n0", "comm.last_error"): f"[ERROR] {HEAD} timeout 2",
        ("ring/c", "ring.mode"): "allreduce",
        ("ring/b0", "ring.mode"): "star",
    }
    del files["hccl.log"]
    with pytest.raises(WireError):
        await sensor.read()
    files["hccl.log"] = ""
    assert (await look(sensor))["n0", "comm.timeouts"] == 2.0


async def test_a_log_without_trouble_has_no_last_error(tmp_path: Path) -> None:
    node = make_node(tmp_path)
    assert isinstance(node.wires, MemoryWires)
    node.wires.tree("/var/log/hccl").files["hccl.log"] = f"[INFO] {HEAD} fine\n"
    assert await look(make_sensor(node)) == {("n0", "comm.timeouts"): 0.0}


async def test_of_a_long_log_the_end_is_read(tmp_path: Path) -> None:
    node = make_node(tmp_path)
    assert isinstance(node.wires, MemoryWires)
    log = tmp_path / "hccl.log"
    settings = AscendSettings(log_folder=str(tmp_path))
    tail = node.wires.command(settings.log_tail)
    tail.answer = lambda words: Answer(0, log.read_text()[-60_000:], "", truncated=False)
    sensor = LogSensor(FileTree(tmp_path, Pen(lambda scope: None), 30.0), tail, node, settings)
    lines = [f"[INFO] {HEAD} line {number}\n" for number in range(2000)]
    log.write_text("".join(lines))
    assert log.stat().st_size > 65_536
    assert (await look(sensor))["n0", "comm.timeouts"] == 0.0
    for number in range(1, 4):
        with log.open("a") as file:
            file.write(f"[ERROR] {HEAD} timeout {number}\n")
        assert (await look(sensor))["n0", "comm.timeouts"] == float(number)
    assert tail.runs == [(str(log),)] * 4


@pytest.mark.parametrize(
    ("rings", "own"),
    [
        ((), ""),
        ((BACKPLANE,), "b0"),
        ((CLUSTER,), "c"),
        ((BACKPLANE, CLUSTER), "c"),
        ((BACKPLANE, Ring(name="b1", level=RingLevel.BACKPLANE, order=("n0/card2", "n0/card3"))), ""),
    ],
)
def test_the_ring_that_is_meant(rings: tuple[Ring, ...], own: str, tmp_path: Path) -> None:
    assert find_own_ring(make_node(tmp_path, *rings)) == own
