"""The sensor and the client against the simulated UPS, over the network in memory and in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import supernoded_nut
from sim_hardware.devices.nut import NutServer
from sim_hardware.loop import SimLoop
from sim_hardware.loop.clock import SimClock
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from sim_hardware.plant.power.orders import StartTest
from supernoded.model import Value
from supernoded.plugin import Node, Sensor, WireError
from supernoded.topology import Topology
from supernoded.topology.site import Ups
from supernoded.wire import Pen
from supernoded.wire.system import SystemWires
from supernoded_nut.place import parse_place
from supernoded_nut.server import NutServer as Client
from supernoded_nut.server import open_server
from supernoded_nut.settings import NutSettings, ServerSettings
from tests.sim.devices.panels import FakePanel


class LoopPanel(FakePanel):
    """Its time is the loop's."""

    def now(self) -> float:
        return asyncio.get_running_loop().time()


@dataclass
class Scene:
    device: NutServer
    panel: LoopPanel
    sensor: Sensor
    client: Client

    async def read(self) -> dict[str, Value]:
        readings = await self.sensor.read()
        assert all(reading.note for reading in readings if reading.value is None)
        return {reading.quantity: reading.value for reading in readings}


Play = Callable[[Callable[[Scene], Coroutine[None, None, None]]], None]


@pytest.fixture
def run(supernoded_node: Node, tmp_path: Path) -> Play:
    """Plays a scene with UPS A behind its server."""
    (tmp_path / "secret").write_text("simulated\n")

    def run(scene: Callable[[Scene], Coroutine[None, None, None]]) -> None:
        loop = SimLoop(1)
        Net(loop)
        panel = LoopPanel(values={("ups/A", "ups.status"): frozenset({"OL"}), ("ups/A", "ups.charge"): 87.0})

        async def main() -> None:
            device, wires = NutServer(panel, "A"), SystemWires(Pen(lambda _: None))
            async with device.serve("127.0.0.1") as url:
                ups = Topology(ups=(Ups(name="A", wire=url),))
                node = replace(supernoded_node, topology=ups, wires=wires, clock=SimClock(loop, "n0"))
                place = parse_place(url)
                login = ServerSettings(user="admin", password_file=str(tmp_path / "secret"), insecure=True)
                settings = NutSettings(servers={f"{place.host}:{place.port}": login})
                (sensor,) = supernoded_nut.supernoded_sensors(settings, node)
                await scene(Scene(device, panel, sensor, open_server(place, settings, node)))
                await wires.close()

        play(loop, main())
        assert loop.failures == []

    return run


def test_it_is_read_through_every_state(run: Play) -> None:
    async def scene(scene: Scene) -> None:
        found = await scene.read()
        assert (found["ups.link"], found["ups.status"], found["ups.charge"]) == ("ok", frozenset({"ol"}), 87.0)
        scene.panel.values["ups/A", "ups.status"] = frozenset({"OB", "LB"})
        assert (await scene.read())["ups.status"] == frozenset({"ob", "lb"})
        scene.device.impairment.stale = True
        found = await scene.read()
        assert (found["ups.link"], found["ups.status"], found["ups.charge"]) == ("stale", None, None)
        scene.device.impairment.stale, scene.device.unit.connected = False, False
        assert (await scene.read())["ups.link"] == "no-driver"
        scene.device.unit.connected, scene.device.impairment.silent = True, True
        begun = asyncio.get_running_loop().time()
        assert (await scene.read())["ups.link"] == "silent"
        assert asyncio.get_running_loop().time() - begun < scene.sensor.timeout
        scene.device.impairment.silent = False
        assert (await scene.read())["ups.charge"] == 87.0

    run(scene)


def test_garbled_answers_are_told_or_read(run: Play) -> None:
    async def scene(scene: Scene) -> None:
        scene.device.impairment.garbled = 1.0
        links = list[Value]()
        for _ in range(50):
            with suppress(WireError):  # a refusal with a garbled code
                links.append((await scene.read())["ups.link"])
        assert "silent" in links
        scene.device.impairment.garbled = 0.0
        assert (await scene.read())["ups.link"] == "ok"

    run(scene)


def test_a_command_is_followed_to_its_end(run: Play) -> None:
    async def scene(scene: Scene) -> None:
        await scene.client.command("feed/A", "ups-a", "test.battery.start.quick")
        assert scene.panel.orders == [StartTest(ups="A", kind="selftest")]
        await scene.client.set_variable("feed/A", "ups-a", "battery.charge.low", "35")
        assert await scene.client.get_variable("ups-a", "battery.charge.low") == "35"

    run(scene)
