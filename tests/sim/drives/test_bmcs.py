"""The daemon's way to the BMC of its own simulated node."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sim_hardware.devices.redfish import USER
from sim_hardware.devices.sysfs import name_ports
from sim_hardware.drives.bmcs import write_bmcs
from sim_hardware.drives.plugins import Places
from sim_hardware.drives.settings import write_settings
from sim_hardware.drives.venues import SimNetwork
from sim_hardware.drives.wires import RigWires
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from sim_hardware.net import Net
from sim_hardware.rack import generate_rack
from sim_hardware.rig import Rig
from sim_hardware.world import World
from supernoded.errors import WireError
from supernoded.wire import Http, Pen
from supernoded.wire.system import SystemWires
from supernoded_redfish.settings import RedfishSettings

RACK = generate_rack(2, 8)
MONITOR = "redfish/v1/Managers/1/Oem/Sim/LinkHealthMonitor"
Story = Callable[[SimLoop, Rig, SystemWires, Http], Coroutine[Any, Any, None]]


def find_door(rig: Rig, folder: Path) -> dict[str, Any]:
    """How the first node reaches its own BMC."""
    bmc = write_bmcs(RACK, "n0", folder, rig.endpoints)["bmcs"]["own"]
    return {key: bmc[key] for key in ("url", "user", "password_file", "insecure")}


def tell(story: Story, folder: Path) -> None:
    """Play it with a rack whose devices listen, and the wires of its first node."""
    loop = SimLoop(1)
    net = Net(loop)

    async def scene() -> None:
        rig = Rig(World(RACK, 1, loop.time), folder)
        async with rig.serve(SimNetwork(net)):
            pen = Pen(lambda _: None)
            system = SystemWires(pen)
            http = RigWires(rig, "n0", pen, system).owned_by("redfish").http(**find_door(rig, folder))
            await story(loop, rig, system, http)

    play(loop, scene())
    assert loop.failures == []


def test_the_table_names_the_bmc_of_the_node(tmp_path: Path) -> None:
    endpoints = {"n0/bmc": "http://10.0.0.1:80", "n1/bmc": "http://10.0.0.2:80"}
    text = write_settings(RACK, "n1", Places(tmp_path, ("broker", 1), "/sys/class", endpoints=endpoints))
    (bmc,) = msgspec.toml.decode(text)["plugins"]["redfish"]["bmcs"].values()
    assert (bmc["url"], bmc["user"], bmc["insecure"]) == ("http://10.0.0.2:80", USER, True)
    assert Path(bmc["password_file"]).stat().st_mode & 0o777 == 0o600
    assert bmc["ports"]["Card0/1"] == "n1/card0/port1"
    assert set(name_ports(RACK, "n1").values()) <= set(bmc["ports"].values())


def test_the_first_node_has_the_others_for_their_caps_and_fans_alone(tmp_path: Path) -> None:
    endpoints = {"n0/bmc": "http://10.0.0.1:80", "n1/bmc": "http://10.0.0.2:80"}
    settings = msgspec.convert(write_bmcs(RACK, "n0", tmp_path, endpoints), RedfishSettings)
    assert {name: (bmc.url, bmc.node, bmc.monitor, bmc.heat, bmc.caps, bmc.fans) for name, bmc in settings.bmcs.items()} == {
        "own": ("http://10.0.0.1:80", "", True, True, True, True),
        "n1": ("http://10.0.0.2:80", "n1", False, False, True, True),
    }
    assert list(write_bmcs(RACK, "n1", tmp_path, endpoints)["bmcs"]) == ["own"]
    assert list(write_bmcs(RACK, "n0", tmp_path, {"n0/bmc": "http://10.0.0.1:80"})["bmcs"]) == ["own"]


def test_a_rig_that_serves_no_bmc_has_no_table(tmp_path: Path) -> None:
    assert write_bmcs(RACK, "n0", tmp_path, {"n1/bmc": "http://10.0.0.2:80"}) == {}
    assert list(tmp_path.iterdir()) == []


def test_a_node_reaches_its_bmc_until_the_bmc_is_silent(tmp_path: Path) -> None:
    async def story(loop: SimLoop, rig: Rig, system: SystemWires, http: Http) -> None:
        assert (await http.get(MONITOR))["Enabled"] is False
        assert await http.order("n0", "PATCH", MONITOR, {"Enabled": True}) == {}
        assert (await http.get(MONITOR))["Enabled"] is True
        rig.impairment("n0/bmc").silent = True
        begun = loop.time()
        with pytest.raises(WireError, match="within 4 s"):
            await http.get(MONITOR, within=4.0)
        assert loop.time() - begun == pytest.approx(4.0)
        await system.close()

    tell(story, tmp_path)


def test_a_daemon_that_is_killed_in_the_middle_of_a_request_harms_no_other(tmp_path: Path) -> None:
    async def story(loop: SimLoop, rig: Rig, _: SystemWires, http: Http) -> None:
        rig.impairment("n0/bmc").silent = True
        daemon = loop.spawn("n0", partial(http.get, MONITOR, 60.0))
        await asyncio.sleep(5)
        assert not daemon.dead
        loop.kill(daemon)
        rig.impairment("n0/bmc").silent = False
        again = SystemWires(Pen(lambda _: None)).http(**find_door(rig, tmp_path))  # its next life has wires of its own
        assert (await again.get(MONITOR))["Enabled"] is False

    tell(story, tmp_path)
    gc.collect()  # a connection left open would complain here, and that fails the test
