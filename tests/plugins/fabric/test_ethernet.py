"""Network interfaces: which are read, and what of them can be believed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.limits import Limits
from supernoded.plugin import Node, State, WireError
from supernoded.quantities import find_fault
from supernoded.testing import ManualClock, MemoryHost, MemoryWires
from supernoded.topology import Topology
from supernoded.wire import Pen
from supernoded.wire.tree import FileTree
from supernoded_fabric.adapters import Adapters
from supernoded_fabric.ethernet import COUNTERS, FACTS, parse_interface, read_enabled, read_speed, read_state
from supernoded_fabric.sensors import EthernetSensor
from supernoded_fabric.settings import FabricSettings

UP: dict[str, str | WireError] = {"operstate": "up", "carrier": "1", "speed": "200000"}


def test_an_interface_that_is_up() -> None:
    files = UP | {"statistics/rx_bytes": "1000", "statistics/rx_errors": "2", "carrier_down_count": "4", "statistics/multicast": "9"}
    found = {reading.quantity: reading for reading in parse_interface(files, 7.0, "n0/nic/eth0")}
    assert {quantity: reading.value for quantity, reading in found.items()} == {
        "link.state": 1.0,
        "link.speed": 200.0,
        "link.bits": 8000.0,
        "link.receive_errors": 2.0,
        "link.downed": 4.0,
    }
    assert all(find_fault(reading) is None for reading in found.values())


def test_one_that_is_switched_off_says_so() -> None:
    files: dict[str, str | WireError] = {"operstate": "down", "flags": "0x1002", "mtu": "9000", "carrier_changes": "6"}
    found = {reading.quantity: reading for reading in parse_interface(files, 7.0, "n0/nic/eth0")}
    assert (found["link.state"].value, found["link.state"].note) == (0.0, "down, switched off")
    assert found["link.enabled"].value == 0.0
    assert (found["link.mtu"].value, found["link.mtu"].unit) == (9000.0, "B")
    assert found["x.ethernet.carrier_changes"].value == 6.0
    assert all(find_fault(reading) is None for reading in found.values())


@pytest.mark.parametrize(("text", "enabled"), [("0x1003", 1.0), ("0x0", 0.0), ("1003", None), ("", None), (WireError("flags: gone"), None)])
def test_flags(text: str | WireError, enabled: float | None) -> None:
    assert read_enabled(text) == enabled


@pytest.mark.parametrize(
    ("files", "state"),
    [
        ({"operstate": "lowerlayerdown"}, 0.0),
        ({"operstate": "unknown", "carrier": "1"}, 1.0),
        ({"operstate": "unknown", "carrier": "0"}, 0.0),
        ({"operstate": "unknown", "carrier": WireError("carrier: Invalid argument")}, None),
        ({}, None),
    ],
)
def test_states(files: dict[str, str | WireError], state: float | None) -> None:
    value, note = read_state(files)
    assert value == state
    assert bool(note) == (state != 1.0)


@pytest.mark.parametrize(
    ("text", "up", "speed"), [("25000", 1.0, 25.0), ("-1", 1.0, None), ("10", 0.0, None), (WireError("speed: Invalid argument"), 1.0, None)]
)
def test_speeds(text: str | WireError, up: float, speed: float | None) -> None:
    value, note = read_speed(text, up)
    assert value == speed
    assert bool(note) == (speed is None)


@given(st.dictionaries(st.sampled_from([*FACTS, *COUNTERS]), st.one_of(st.text(max_size=30), st.integers().map(str))))
def test_garbage_never_raises(files: dict[str, str]) -> None:
    for reading in parse_interface(files, 7.0, "n0/nic/x"):
        assert (reading.value is None) == (reading.state is State.UNKNOWN)


def make_sensor(root: Path, settings: FabricSettings) -> EthernetSensor:
    node = Node(name="n0", topology=Topology(), limits=Limits(), wires=MemoryWires(), clock=ManualClock(), host=MemoryHost(), state=root)
    adapters = Adapters(node, settings)
    adapters.ethernet = FileTree(root, Pen(lambda scope: None), 30.0)
    return EthernetSensor(adapters, node, settings)


def make_interface(root: Path, name: str, physical: bool) -> None:
    for file, text in {**UP, "statistics/rx_bytes": "1"}.items():
        path = root / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(text))
    if physical:
        (root / name / "device").mkdir()
        (root / name / "device" / "uevent").write_text("DRIVER=mlx5_core")


async def test_physical_interfaces_are_read(tmp_path: Path) -> None:
    make_interface(tmp_path, "eth0", physical=True)
    make_interface(tmp_path, "mgmt0", physical=True)
    make_interface(tmp_path, "lo", physical=False)
    subjects = {reading.subject for reading in await make_sensor(tmp_path, FabricSettings(exclude=("mgmt*",))).read()}
    assert subjects == {"n0/nic/eth0"}


async def test_named_interfaces_are_read_and_mapped(tmp_path: Path) -> None:
    make_interface(tmp_path, "veth7", physical=False)
    make_interface(tmp_path, "eth0", physical=True)
    settings = FabricSettings(interfaces=("veth*",), subjects={"veth7": "n0/card0/port0"})
    assert {reading.subject for reading in await make_sensor(tmp_path, settings).read()} == {"n0/card0/port0"}


async def test_an_interface_that_is_gone_is_told_of(tmp_path: Path) -> None:
    make_interface(tmp_path, "eth0", physical=True)
    sensor = make_sensor(tmp_path, FabricSettings())
    await sensor.read()
    shutil.rmtree(tmp_path / "eth0")
    (reading,) = await sensor.read()
    assert (reading.subject, reading.quantity, reading.state) == ("n0/nic/eth0", "link.state", State.UNKNOWN)
    assert "no longer lists eth0" in reading.note


async def test_no_interfaces_are_no_failure(tmp_path: Path) -> None:
    assert await make_sensor(tmp_path / "none", FabricSettings()).read() == []


async def test_this_machine() -> None:
    found = await make_sensor(Path("/sys/class/net"), FabricSettings(interfaces=("*",))).read()
    assert "n0/nic/lo" in {reading.subject for reading in found}
    assert all(find_fault(reading) is None for reading in found if reading.state is State.GOOD)
