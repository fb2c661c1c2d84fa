"""Real files and links, as the kernel lays them out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import supernoded_hwmon
from supernoded.errors import WireError
from supernoded.limits import Limits
from supernoded.model import Setpoint
from supernoded.parts import Sensor
from supernoded.plugin import Node
from supernoded.testing import ManualClock, MemoryHost
from supernoded.topology import Topology
from supernoded.wire import Pen
from supernoded.wire.system import SystemWires
from supernoded_hwmon.settings import HwmonSettings
from tests.plugins.hwmon.trees import index

UNREADABLE = "/proc/self/mem"  # its first byte is not mapped: EIO


def lay_out(root: Path, number: int, device: str, **files: str) -> Path:
    """A chip where the kernel puts it, and the link by which it is found."""
    folder = root / "devices" / device / "hwmon" / f"hwmon{number}"
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(f"{text}\n")
    (folder / "device").symlink_to(f"../../../{device}")
    (root / "class").mkdir(exist_ok=True)
    (root / "class" / f"hwmon{number}").symlink_to(f"../devices/{device}/hwmon/hwmon{number}")
    return folder


def make_node(folder: Path, refusals: dict[str, str]) -> Node:
    wires = SystemWires(Pen(refusals.get))
    return Node("n0", Topology.empty("n0", cards=1), Limits(), wires, ManualClock(), MemoryHost(), folder / "state")


def make(tmp_path: Path) -> tuple[HwmonSettings, Node, Sensor]:
    settings = HwmonSettings(root=str(tmp_path / "class"), steer=("nct6798",))
    node = make_node(tmp_path, {})
    return settings, node, supernoded_hwmon.supernoded_sensors(settings, node)[0]


async def test_chips_are_found_by_the_link_to_their_device(tmp_path: Path) -> None:
    lay_out(tmp_path, 0, "0000:00:19.3", name="k10temp", temp1_input="52000", temp1_label="Tctl")
    lay_out(tmp_path, 1, "0000:00:18.3", name="k10temp", temp1_input="51000", temp1_label="Tctl")
    (tmp_path / "class" / "README").write_text("no chip")
    _, _, sensor = make(tmp_path)
    found = index(await sensor.read())
    assert [(subject, reading.value) for (subject, _), reading in found.items()] == [
        ("n0/sensor/0000:00:18.3/Tctl", 51.0),
        ("n0/sensor/0000:00:19.3/Tctl", 52.0),
    ]


async def test_a_file_that_fails_costs_only_itself(tmp_path: Path) -> None:
    folder = lay_out(tmp_path, 0, "nct6775.656", name="nct6798", temp1_input="51000", temp2_input="41000")
    (folder / "temp3_input").symlink_to(UNREADABLE)
    _, _, sensor = make(tmp_path)
    found = index(await sensor.read())
    assert [reading.value for reading in found.values()] == [51.0, 41.0, None]
    assert "Input/output error" in found["n0/sensor/nct6798/temp3", "host.temperature"].note


async def test_reading_touches_nothing(tmp_path: Path) -> None:
    files = {"name": "nct6798", "pwm1": "100", "pwm1_enable": "1", "fan1_input": "900", "temp1_input": "30000"}
    folder = lay_out(tmp_path, 0, "nct6775.656", **files)
    settings, node, sensor = make(tmp_path)
    control = supernoded_hwmon.supernoded_sensors(settings, node)[1]
    before = {path.name: (path.read_text(), path.stat().st_mtime_ns) for path in folder.iterdir() if path.is_file()}
    for _ in range(20):
        await sensor.read()
        await control.read()
        await node.clock.sleep(0.0)
    assert {path.name: (path.read_text(), path.stat().st_mtime_ns) for path in folder.iterdir() if path.is_file()} == before
    assert not node.state.exists()


async def test_fans_are_turned_and_the_record_is_in_the_state_folder(tmp_path: Path) -> None:
    folder = lay_out(tmp_path, 0, "nct6775.656", name="nct6798", pwm1="100", pwm1_enable="5")
    settings, node, _ = make(tmp_path)
    (fans,) = supernoded_hwmon.supernoded_handles(settings, node)
    await fans.now_at()
    await fans.put(Setpoint(target="n0/fans", quantity="fan.duty", value=100.0, unit="%", until=6.0), "node")
    assert [(folder / name).read_text().strip() for name in ("pwm1_enable", "pwm1")] == ["1", "255"]
    assert (node.state / "hwmon" / "fans.json").read_text() == '{"found":{"nct6798/pwm1":5}}'
    await fans.hand_back("node")
    assert (folder / "pwm1_enable").read_text().strip() == "5"


async def test_a_root_that_cannot_be_listed_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "class").symlink_to("class")
    _, _, sensor = make(tmp_path)
    with pytest.raises(WireError, match=os.strerror(40)):
        await sensor.read()


async def test_this_machine_can_be_read_whatever_it_has(tmp_path: Path) -> None:
    node = make_node(tmp_path, {"node": "reading writes nothing"})
    for sensor in supernoded_hwmon.supernoded_sensors(HwmonSettings(), node):
        assert all(subject.split("/")[0] == "n0" for subject, _ in index(await sensor.read()))
    assert not node.state.exists()
