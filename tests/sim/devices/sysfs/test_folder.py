"""A real folder that follows the plant, and takes what is written into it."""

from __future__ import annotations

import asyncio
import math
import os
from pathlib import Path

import pytest

from sim_hardware.devices.sysfs import SysfsFolder, SysfsTree, name_ports
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from sim_hardware.plant.cooling.orders import SetFan, SetFanControl
from supernoded.limits import Limits
from supernoded.plugin import Node
from supernoded.testing import ManualClock, MemoryHost
from supernoded.topology import Topology
from supernoded.wire import Pen
from supernoded.wire.system import SystemWires
from supernoded_fabric.adapters import Adapters
from supernoded_fabric.sensors import InfinibandSensor
from supernoded_fabric.settings import FabricSettings
from tests.sim.devices.sysfs.nodes import NodePanel

PWM, ENABLE, TEMPERATURE = "hwmon/hwmon0/pwm1", "hwmon/hwmon0/pwm1_enable", "hwmon/hwmon0/temp1_input"


def make(root: Path) -> tuple[NodePanel, SysfsFolder]:
    panel = NodePanel()
    folder = SysfsFolder(SysfsTree(panel, "n0"), root)
    assert folder.refresh() == {}
    return panel, folder


def test_it_holds_what_the_tree_holds(tmp_path: Path) -> None:
    panel, _ = make(tmp_path)
    rendered = SysfsTree(panel, "n0").render()
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()} == set(rendered)
    assert all((tmp_path / path).read_text() == text for path, text in rendered.items())


def test_only_what_changed_is_written(tmp_path: Path) -> None:
    panel, folder = make(tmp_path)
    before = {path: path.stat().st_ino for path in tmp_path.rglob("*_input")}
    panel.values["n0", "air.temperature"] = 30.0
    folder.refresh()
    changed = {path.name for path, inode in before.items() if path.stat().st_ino != inode}
    assert changed == {"temp1_input"}
    assert (tmp_path / TEMPERATURE).read_text() == "30000\n"


def test_a_file_that_cannot_be_read_fails_and_comes_back(tmp_path: Path) -> None:
    panel, folder = make(tmp_path)
    panel.values["n0", "air.temperature"] = math.nan
    folder.refresh()
    with pytest.raises(OSError, match="Input/output error"):
        (tmp_path / TEMPERATURE).read_bytes()
    panel.values["n0", "air.temperature"] = 20.0
    folder.refresh()
    assert (tmp_path / TEMPERATURE).read_text() == "20000\n"
    del panel.values["n0", "air.temperature"]
    folder.refresh()
    assert not (tmp_path / TEMPERATURE).exists()


def test_what_is_written_is_an_order(tmp_path: Path) -> None:
    panel, folder = make(tmp_path)
    (tmp_path / ENABLE).write_text("1\n")
    assert folder.refresh() == {}
    panel.values["n0", "fan.control"] = "manual"
    beside = tmp_path / "new"
    beside.write_text("51")
    beside.replace(tmp_path / PWM)  # a writer that replaces the file whole
    assert folder.refresh() == {}
    assert panel.orders == [SetFanControl("n0", "manual"), SetFan("n0", 0, 20.0)]
    assert (tmp_path / PWM).read_text() == "102\n"  # the fans have not followed yet


def test_what_is_refused_is_put_right(tmp_path: Path) -> None:
    panel, folder = make(tmp_path)
    (tmp_path / PWM).write_text("999")
    assert [error.strerror for error in folder.refresh().values()] == ["Invalid argument"]
    assert (tmp_path / PWM).read_text() == "102\n"
    assert folder.refresh() == {}
    assert not panel.orders


def test_a_writer_that_has_the_file_open_is_heard(tmp_path: Path) -> None:
    panel, folder = make(tmp_path)
    handle = os.open(tmp_path / ENABLE, os.O_WRONLY)
    panel.values["n0", "fan.control"] = "full"
    folder.refresh()
    os.write(handle, b"1\n")
    os.close(handle)
    folder.refresh()
    assert panel.orders == [SetFanControl("n0", "manual")]


def test_it_is_kept_in_step(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    panel, folder = make(tmp_path)

    async def watch() -> None:
        async with asyncio.timeout(1.0):
            await folder.keep(0.25)

    async def look() -> None:
        keeping = asyncio.ensure_future(watch())
        await asyncio.sleep(0.1)
        panel.values["n0/fan0", "fan.speed"] = 0.0
        (tmp_path / PWM).write_text("-1")
        with pytest.raises(TimeoutError):
            await keeping

    play(SimLoop(seed=1), look())
    assert (tmp_path / "hwmon/hwmon0/fan1_input").read_text() == "0\n"
    assert "what was written there is refused: Invalid argument" in caplog.text


async def test_the_daemons_own_sensor_reads_it(tmp_path: Path) -> None:
    panel, _ = make(tmp_path)
    node = Node(
        name="n0",
        topology=Topology(),
        limits=Limits(),
        wires=SystemWires(Pen(lambda _: None)),
        clock=ManualClock(),
        host=MemoryHost(),
        state=tmp_path,
    )
    settings = FabricSettings(infiniband=str(tmp_path / "infiniband"), subjects=name_ports(panel.rack, "n0"))
    sensor = InfinibandSensor(Adapters(node, settings), node, settings)
    found = {(reading.subject, reading.quantity): reading.value for reading in await sensor.read()}
    assert found["n0/nic/mlx5_0", "link.speed"] == 200.0
    assert found["n0/card1/port1", "link.state"] == 1.0
