"""The plugin on a simulated node, over its tree, in virtual time."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import msgspec
import pytest

import supernoded_hwmon
from sim_hardware.devices.sysfs import SysfsFolder
from sim_hardware.devices.sysfs.hwmon import FANS
from sim_hardware.drives.plugins import Places, list_plugins
from sim_hardware.drives.wires import SYSFS, RigWires
from sim_hardware.loop import SimLoop
from sim_hardware.loop.clock import SimClock
from sim_hardware.loop.play import play
from sim_hardware.pathology import Absent, Freeze, NotANumber, Pathology, UnitSlip
from sim_hardware.plant.cooling.orders import SetFanControl, StopFan
from sim_hardware.rack import generate_rack
from sim_hardware.rig import Rig
from sim_hardware.world import World
from supernoded.errors import WireError
from supernoded.limits import Limits
from supernoded.model import Effect, Setpoint
from supernoded.parts import Handle, Sensor
from supernoded.plugin import NODE, Node, Reading
from supernoded.testing import MemoryHost
from supernoded.topology import Topology
from supernoded.wire import Pen
from supernoded.wire.system import SystemWires
from supernoded_hwmon.settings import HwmonSettings
from tests.plugins.hwmon.trees import index

RACK = generate_rack(1, 2)


class Bench:
    """One node of a rack with the plugin on it."""

    def __init__(self, folder: Path) -> None:
        loop = asyncio.get_running_loop()
        self.rig = Rig(World(RACK, 1, loop.time), folder)
        self.world = self.rig.world
        pen = Pen(lambda _: None)
        wires = RigWires(self.rig, "n0", pen, SystemWires(pen))
        assert isinstance(loop, SimLoop)
        self.node = Node("n0", Topology.empty("n0", cards=2), Limits(), wires, SimClock(loop, "n0"), MemoryHost(), folder / "state")
        table = list_plugins(RACK, "n0", Places(folder, ("broker", 1), SYSFS))["hwmon"]
        settings = msgspec.convert(table, HwmonSettings)
        self.sensor: Sensor
        self.control: Sensor
        self.sensor, self.control = supernoded_hwmon.supernoded_sensors(settings, self.node)
        self.fans: Handle
        (self.fans,) = supernoded_hwmon.supernoded_handles(settings, self.node)

    async def read(self) -> dict[tuple[str, str], Reading]:
        return index(await self.sensor.read())

    async def put(self, percent: float) -> None:
        until = self.node.clock.now() + 6.0
        await self.fans.put(Setpoint(target="n0/fans", quantity="fan.duty", value=percent, unit="%", until=until), NODE)

    async def see_control(self) -> Reading:
        (reading,) = await self.control.read()
        return reading


def on_bench(folder: Path, work: Callable[[Bench], Coroutine[Any, Any, None]]) -> None:
    async def run() -> None:
        await work(Bench(folder))

    loop = SimLoop(1)
    play(loop, run())
    assert loop.failures == []


def test_what_a_simulated_node_shows(tmp_path: Path) -> None:
    async def look(bench: Bench) -> None:
        found = await bench.read()
        for fan in range(FANS):
            assert found[f"n0/fan{fan}", "fan.speed"].value == pytest.approx(bench.world.truth(f"n0/fan{fan}", "fan.speed"), abs=1)
            assert found[f"n0/fan{fan}", "fan.duty"].value == pytest.approx(bench.world.truth(f"n0/fan{fan}", "fan.duty"), abs=0.5)
        assert found["n0", "air.temperature"].value == pytest.approx(bench.world.truth("n0", "air.temperature"), abs=0.1)
        limits = {subject: reading.value for (subject, quantity), reading in found.items() if quantity == "host.temperature.high"}
        assert limits == {f"n0/sensor/simfan/{part}": limit for part, limit in (("optics", 75), ("nic", 105), ("vrm", 125), ("dimm", 85))}
        assert (await bench.see_control()).value == "auto"
        assert {reading.note for reading in found.values()} == {""}

    on_bench(tmp_path, look)


@pytest.mark.parametrize(
    ("pathology", "told"),
    [
        (Absent(), "an open input"),
        (NotANumber(), "Input/output error"),
        (Freeze(0.0), "never anything else"),
        (Freeze(500.0), "outside"),
        (UnitSlip("milli"), "outside"),
    ],
)
def test_a_sick_sensor_is_unknown_and_says_why(pathology: Pathology, told: str, tmp_path: Path) -> None:
    async def look(bench: Bench) -> None:
        bench.world.sicken("n0", "air.temperature.optics", pathology)
        reading = (await bench.read())["n0/sensor/simfan/optics", "host.temperature"]
        assert reading.value is None
        assert told in reading.note
        bench.world.cure("n0", "air.temperature.optics")
        value = (await bench.read())["n0/sensor/simfan/optics", "host.temperature"].value
        assert isinstance(value, float)
        assert math.isclose(value, float(str(bench.world.truth("n0", "air.temperature.optics"))), abs_tol=0.1)

    on_bench(tmp_path, look)


def test_a_stopped_fan_is_seen(tmp_path: Path) -> None:
    async def look(bench: Bench) -> None:
        bench.world.order(StopFan("n0", 3, stopped=True))
        await asyncio.sleep(30.0)
        found = await bench.read()
        assert (found["n0/fan3", "fan.speed"].value, found["n0/fan3", "fan.speed"].note) == (0.0, "")

    on_bench(tmp_path, look)


def test_fans_are_taken_turned_yielded_and_given_back(tmp_path: Path) -> None:
    async def steer(bench: Bench) -> None:
        now_at = await bench.fans.now_at()
        assert now_at is not None
        assert now_at.value == pytest.approx(bench.world.truth("n0/fan0", "fan.duty"), abs=0.3)
        for _ in range(15):
            await bench.put(80.0)
            assert (await bench.see_control()).value == "manual"
            await asyncio.sleep(2.0)
        found = await bench.read()
        assert all(found[f"n0/fan{fan}", "fan.speed"].value == pytest.approx(9600.0, abs=20.0) for fan in range(FANS))
        bench.world.order(SetFanControl("n0", "full"))
        with pytest.raises(WireError, match="somebody has set it to full"):
            await bench.put(40.0)
        assert (await bench.see_control()).value == "full"
        bench.world.order(SetFanControl("n0", "auto"))
        await bench.put(40.0)
        assert bench.world.truth("n0", "fan.control") == "manual"
        assert (await bench.fans.hand_back(NODE)).effect is Effect.PRESENT
        assert bench.world.truth("n0", "fan.control") == "auto"

    on_bench(tmp_path, steer)


def test_over_a_real_folder_that_is_looked_at_now_and_then(tmp_path: Path) -> None:
    async def steer(bench: Bench) -> None:
        folder = SysfsFolder(bench.rig.trees["n0"], tmp_path / "tree")
        folder.refresh()
        settings = HwmonSettings(root=str(tmp_path / "tree" / "hwmon"), steer=("simfan",))
        wires = SystemWires(Pen(lambda _: None))
        node = Node("n0", bench.node.topology, Limits(), wires, bench.node.clock, MemoryHost(), tmp_path / "state")
        (fans,) = supernoded_hwmon.supernoded_handles(settings, node)
        await fans.now_at()
        await fans.put(Setpoint(target="n0/fans", quantity="fan.duty", value=80.0, unit="%", until=9.0), NODE)
        assert folder.refresh() == {}
        assert {bench.world.truth(f"n0/fan{fan}", "fan.duty") for fan in range(FANS)} == {80.0}
        await fans.hand_back(NODE)
        assert folder.refresh() == {}
        assert bench.world.truth("n0", "fan.control") == "auto"

    on_bench(tmp_path, steer)


def test_a_tree_that_is_gone_and_back_is_found_again(tmp_path: Path) -> None:
    async def look(bench: Bench) -> None:
        before = set(await bench.read())
        await bench.control.read()
        await bench.fans.now_at()
        await bench.put(80.0)
        bench.rig.trees["n0"].impairment.refusing = True
        assert await bench.read() == {}
        with pytest.raises(WireError, match="no output"):
            await bench.put(80.0)
        await asyncio.sleep(60.0)
        bench.rig.trees["n0"].impairment.refusing = False
        assert set(await bench.read()) == before
        assert (await bench.see_control()).value == "auto"  # nobody had renewed it
        assert bench.world.truth("n0", "fan.control") == "auto"

    on_bench(tmp_path, look)


def test_orders_that_do_nothing_are_found_out(tmp_path: Path) -> None:
    async def steer(bench: Bench) -> None:
        bench.rig.trees["n0"].impairment.idle_orders = True
        await bench.fans.now_at()
        with pytest.raises(WireError, match="pwm1_enable was set to 1 for manual, and shows 2"):
            await bench.put(80.0)

    on_bench(tmp_path, steer)
