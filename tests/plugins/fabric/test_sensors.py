"""The sensors of the two trees: live, refused, gone, unlisted; and what the settings leave on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import pytest

import supernoded_fabric
from supernoded.limits import Limits
from supernoded.plugin import Node, State, WireError
from supernoded.testing import ManualClock, MemoryHost, MemoryTree, MemoryWires
from supernoded.topology import Topology
from supernoded.wire import Pen
from supernoded.wire.tree import FileTree
from supernoded_fabric.adapters import Adapters
from supernoded_fabric.infiniband import parse_tree
from supernoded_fabric.naming import Naming
from supernoded_fabric.sensors import EthernetSensor, InfinibandSensor
from supernoded_fabric.settings import FabricSettings


def make_port(device: str = "mlx5_0", /, **counters: str | WireError) -> dict[str, str | WireError]:
    base = f"{device}/ports/1"
    return {f"{base}/state": "4: ACTIVE", **{f"{base}/counters/{name}": text for name, text in counters.items()}}


def make_node(folder: Path) -> Node:
    return Node(name="n0", topology=Topology(), limits=Limits(), wires=MemoryWires(), clock=ManualClock(), host=MemoryHost(), state=folder)


async def test_the_live_tree_gives_what_the_parser_gives(tmp_path: Path) -> None:
    files = make_port(symbol_error="3", VL15_dropped="1") | make_port("mlx5_9", symbol_error="1") | {"mlx5_0/fw_ver": "28.41"}
    for name, text in files.items():
        path = tmp_path / "devices" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    (tmp_path / "class").mkdir()
    for device in ("mlx5_0", "mlx5_9"):
        (tmp_path / "class" / device).symlink_to(tmp_path / "devices" / device)
    tree = FileTree(tmp_path / "class", Pen(lambda scope: None), 30.0)
    node = make_node(tmp_path)
    adapters = Adapters(node, FabricSettings(exclude=("*_9",)))
    adapters.infiniband = tree
    sensors = [InfinibandSensor(adapters, node, FabricSettings(), own=own) for own in (False, True)]
    expected = parse_tree(make_port(symbol_error="3", VL15_dropped="1").items(), node.clock.now(), Naming("n0", {}).port)
    by_name = {(reading.subject, reading.quantity): reading for sensor in sensors for reading in await sensor.read()}
    assert by_name == {(reading.subject, reading.quantity): reading for reading in expected}


async def test_a_counter_refused_for_good_is_asked_again_only_much_later(tmp_path: Path) -> None:
    refused = WireError("VL15_dropped: Invalid argument")
    refused.__cause__ = OSError(22, "Invalid argument")
    flaky = WireError("link_downed: Input/output error")
    flaky.__cause__ = OSError(5, "Input/output error")
    node = make_node(tmp_path)
    assert isinstance(node.wires, MemoryWires)
    assert isinstance(node.clock, ManualClock)
    tree = node.wires.tree("/sys/class/infiniband")
    tree.files = dict(make_port(symbol_error="3", VL15_dropped=refused, link_downed=flaky))
    sensors = [InfinibandSensor(Adapters(node, FabricSettings()), node, FabricSettings(), own=own) for own in (False, True)]

    async def look() -> dict[str, object]:
        readings = [reading for sensor in sensors for reading in await sensor.read()]
        return {reading.quantity: reading.value if reading.value is not None else reading.note for reading in readings}

    for _ in range(2):
        found = await look()
        assert (found["link.symbol_errors"], found["x.infiniband.VL15_dropped"]) == (3.0, "VL15_dropped: Invalid argument")
        tree.files |= {"mlx5_0/ports/1/counters/VL15_dropped": "7", "mlx5_0/ports/1/counters/link_downed": "2"}  # refused: not looked at
    assert found["link.downed"] == 2.0
    await node.clock.advance(601.0)
    assert (await look())["x.infiniband.VL15_dropped"] == 7.0


async def test_no_infiniband_is_no_failure(tmp_path: Path) -> None:
    node = make_node(tmp_path)
    adapters = Adapters(node, FabricSettings())
    adapters.infiniband = FileTree(tmp_path / "none", Pen(lambda scope: None), 30.0)
    assert await InfinibandSensor(adapters, node, FabricSettings()).read() == []


async def test_a_folder_that_cannot_be_listed_once_makes_no_device_gone(tmp_path: Path) -> None:
    node = make_node(tmp_path)
    assert isinstance(node.wires, MemoryWires)
    tree = node.wires.tree("/sys/class/infiniband")
    healthy = dict(make_port(symbol_error="3"))
    tree.files = healthy

    class Unlisted(MemoryTree):
        async def read_all(self, patterns: Sequence[str]) -> Mapping[str, str | WireError]:
            return {"mlx5_0/ports": WireError("mlx5_0/ports: Input/output error")}

    adapters = Adapters(node, FabricSettings())
    sensor = InfinibandSensor(adapters, node, FabricSettings())
    unlisted = Unlisted("/sys/class/infiniband", Pen(lambda scope: None))
    unlisted.files = healthy
    for place, value, note in ((tree, 1.0, ""), (unlisted, None, "mlx5_0/ports: Input/output error"), (tree, 1.0, "")):
        adapters.infiniband = place
        (state,) = [one for one in await sensor.read() if one.quantity == "link.state"]
        assert (state.subject, state.value, state.note) == ("n0/nic/mlx5_0/port1", value, note)


async def test_interfaces_that_cannot_be_listed_are_not_gone(tmp_path: Path) -> None:
    node = make_node(tmp_path)
    assert isinstance(node.wires, MemoryWires)

    class Unlisted(MemoryTree):
        async def read_all(self, patterns: Sequence[str]) -> Mapping[str, str | WireError]:
            return {".": WireError("/sys/class/net: Input/output error")}

    adapters = Adapters(node, FabricSettings())
    adapters.ethernet = Unlisted("/sys/class/net", Pen(lambda scope: None))
    with pytest.raises(WireError, match="Input/output error"):
        await EthernetSensor(adapters, node, FabricSettings()).read()


async def test_a_device_that_is_gone_is_told_of(tmp_path: Path) -> None:
    node = make_node(tmp_path)
    assert isinstance(node.wires, MemoryWires)
    tree = node.wires.tree("/sys/class/infiniband")
    tree.files = dict(make_port(symbol_error="3") | make_port("mlx5_9", symbol_error="1"))
    sensor = InfinibandSensor(Adapters(node, FabricSettings()), node, FabricSettings())
    await sensor.read()
    tree.files = dict(make_port(symbol_error="3"))
    gone = [reading for reading in await sensor.read() if reading.subject == "n0/nic/mlx5_9/port1"]
    assert [(reading.quantity, reading.state) for reading in gone] == [("link.state", State.UNKNOWN)]
    assert gone[0].note == "the kernel no longer lists port 1 of mlx5_9: it left the bus, or its driver was unloaded"


def test_the_hooks(tmp_path: Path) -> None:
    settings = supernoded_fabric.supernoded_settings()()
    sensors = supernoded_fabric.supernoded_sensors(settings, make_node(tmp_path))
    assert {sensor.name: sensor.period for sensor in sensors} == {
        "fabric.infiniband": 5.0,  # L1
        "fabric.infiniband_own": 60.0,
        "fabric.ethernet": 5.0,
        "fabric.ethtool": 5.0,
        "fabric.module": 60.0,
        "fabric.mlxlink": 30.0,
        "fabric.lldp": 15.0,
        "fabric.kernel": 5.0,
    }
    assert set(supernoded_fabric.supernoded_formats()) == {"ethtool", "kernel-log", "lldp", "mlxlink", "sysfs-infiniband"}


def test_a_switch_that_is_named_is_fitted(tmp_path: Path) -> None:
    settings = msgspec.convert({"switches": {"s1": {"argv": ["ssh", "admin@s1"]}}}, FabricSettings)
    names = [sensor.name for sensor in supernoded_fabric.supernoded_sensors(settings, make_node(tmp_path))]
    assert [name for name in names if "s1" in name] != []


def test_what_is_switched_off_is_not_fitted(tmp_path: Path) -> None:
    off = FabricSettings(ethtool=(), mlxlink=(), lldp=(), kernel_log=False)
    sensors = supernoded_fabric.supernoded_sensors(off, make_node(tmp_path))
    assert [sensor.name for sensor in sensors] == ["fabric.infiniband", "fabric.infiniband_own", "fabric.ethernet"]
