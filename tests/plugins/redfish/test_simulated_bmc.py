"""The sensor and the check against the simulator's BMC: on a loopback socket, and over the network in memory in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

import supernoded_redfish
from sim_hardware.devices.redfish import RedfishDevice, make_bmc
from sim_hardware.drives.bmcs import write_bmcs
from supernoded.model import Reading, State
from supernoded.parts import World
from supernoded.plugin import Node, Sensor
from supernoded.testing import ManualClock
from supernoded.wire import Pen
from supernoded.wire.system import SystemWires
from supernoded_redfish.settings import RedfishSettings
from tests.sim.devices.redfish.clients import LivePanel, run

MONITOR = "redfish/v1/Managers/1/Oem/Sim/LinkHealthMonitor"
PORT, SWITCH, POST, PRE = "n0/card0/port0", "bmc.link_monitor", "link.ber.post_fec", "link.ber.pre_fec"


class Scene:
    """A BMC that listens, and the daemon's wires to it."""

    def __init__(self, device: RedfishDevice, panel: LivePanel, node: Node, settings: RedfishSettings) -> None:
        self.device, self.panel, self.node, self.settings = device, panel, node, settings
        self.sensor, self.caps, self.heat = supernoded_redfish.supernoded_sensors(settings, node)

    async def switch(self, *, on: bool) -> None:
        """As somebody does it who may."""
        one = self.settings.bmcs["own"]
        http = self.node.wires.http(one.url, user=one.user, password_file=one.password_file, insecure=one.insecure)
        assert await http.order("n0", "PATCH", MONITOR, {"Enabled": on}) == {}

    async def read(self, sensor: Sensor | None = None) -> dict[tuple[str, str], Reading]:
        return {(reading.subject, reading.quantity): reading for reading in await (sensor or self.sensor).read()}


@asynccontextmanager
async def stage(node: Node, folder: Path, host: str, port: int = 0, password: str = "") -> AsyncIterator[Scene]:
    values: dict[tuple[str, str], object] = {("n0", "node.power"): "on", ("n0", "power.available"): 1.0}
    panel = LivePanel(values={**values, (PORT, POST): 3.25e-13, (PORT, PRE): 2e-8})  # type: ignore[dict-item]  # all are values
    device = make_bmc(panel, "n0")
    async with device.serve(host, port) as url:
        table = write_bmcs(panel.rack, "n0", folder, {"n0/bmc": url})
        if password:
            Path(table["bmcs"]["own"]["password_file"]).write_text(password)
        wires = SystemWires(Pen(lambda scope: None))
        local = Node(node.name, node.topology, node.limits, wires, node.clock, node.host, node.state)
        yield Scene(device, panel, local, msgspec.convert(table, RedfishSettings))


async def tell_on_and_off(scene: Scene) -> None:
    found = await scene.read()
    assert (found["n0", SWITCH].value, found[PORT, POST].value) == (0.0, None)
    (check,) = supernoded_redfish.supernoded_checks(scene.settings, scene.node)
    world = World(topology=scene.node.topology)
    assert (await check.check(world)).passed is False
    await scene.switch(on=True)
    found = await scene.read()
    assert {key: found[key].value for key in (("n0", SWITCH), (PORT, POST), (PORT, PRE))} == {
        ("n0", SWITCH): 1.0,
        (PORT, POST): 3.25e-13,
        (PORT, PRE): 2e-8,
    }
    assert found["n0/card7/port1", POST].state is State.UNKNOWN  # the rack has this port, and no sensor gives its rate
    assert (await check.check(world)).passed is True
    await scene.switch(on=False)
    assert (await scene.read())[PORT, POST].state is State.UNKNOWN


async def test_on_a_loopback_socket(supernoded_node: Node, tmp_path: Path) -> None:
    async with stage(supernoded_node, tmp_path, "127.0.0.1") as scene:
        await tell_on_and_off(scene)


def test_in_virtual_time(supernoded_node: Node, tmp_path: Path) -> None:
    async def play() -> None:
        async with stage(supernoded_node, tmp_path, "10.0.0.9", 80) as scene:
            await tell_on_and_off(scene)

    run(play())


async def test_a_wrong_password_is_told_and_not_shown(supernoded_node: Node, tmp_path: Path) -> None:
    async with stage(supernoded_node, tmp_path, "127.0.0.1", password="hunter2!") as scene:
        reading = (await scene.read())["n0", SWITCH]
    assert (reading.value, "401 Unauthorized" in reading.note, "hunter2" in reading.note) == (None, True, False)


@pytest.mark.parametrize(("how", "told"), [("silent", "no whole answer"), ("refusing", "GET failed"), ("garbled", "no JSON object")])
def test_a_bmc_that_fails_is_unknown_and_comes_back(supernoded_node: Node, tmp_path: Path, how: str, told: str) -> None:
    async def play() -> None:
        async with stage(supernoded_node, tmp_path, "10.0.0.9", 80) as scene:
            await scene.switch(on=True)
            assert (await scene.read())[PORT, POST].state is State.GOOD
            setattr(scene.device.impairment, how, 1.0 if how == "garbled" else True)
            begun = asyncio.get_running_loop().time()
            found = await scene.read()
            assert asyncio.get_running_loop().time() - begun < scene.sensor.timeout
            assert told in found["n0", SWITCH].note
            assert told in found[PORT, POST].note
            setattr(scene.device.impairment, how, 0.0 if how == "garbled" else False)
            assert (await scene.read())[PORT, POST].state is State.GOOD

    run(play())


def test_a_slow_bmc_is_waited_for_up_to_three_seconds(supernoded_node: Node, tmp_path: Path) -> None:
    async def play() -> None:
        async with stage(supernoded_node, tmp_path, "10.0.0.9", 80) as scene:
            scene.device.impairment.delay_s = 2.5
            assert (await scene.read())["n0", SWITCH].value == 0.0
            scene.device.impairment.delay_s = 3.5
            assert "within 3 s" in (await scene.read())["n0", SWITCH].note

    run(play())


def test_readings_that_stand_still_are_stale(supernoded_node: Node, supernoded_clock: ManualClock, tmp_path: Path) -> None:
    async def play() -> None:
        async with stage(supernoded_node, tmp_path, "10.0.0.9", 80) as scene:
            await scene.switch(on=True)
            states = []
            for stale in (False, False, True, True, True, True):
                scene.device.impairment.stale = stale
                states.append((await scene.read())[PORT, POST].state)
                await asyncio.sleep(6)
                await supernoded_clock.advance(6)
            assert states == [State.GOOD] * 4 + [State.STALE] * 2

    run(play())
