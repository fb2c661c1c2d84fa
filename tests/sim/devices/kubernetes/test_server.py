"""The API server of a rack that has one: served beside the other devices, told to the daemons, and impaired by the same faults."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

import supernoded_kubernetes
from sim_hardware.devices.kubernetes import TOKEN, ApiServer
from sim_hardware.devices.panel import Device
from sim_hardware.drives.known import view_rack
from sim_hardware.drives.plugins import Places
from sim_hardware.drives.settings import write_settings
from sim_hardware.faults.catalogue import CATALOGUE
from sim_hardware.plant.cards.orders import PowerNode
from sim_hardware.rack import Rack, load_rack
from sim_hardware.rig import Rig
from sim_hardware.world import World
from supernoded.limits import Limits
from supernoded.model import Action, Effect, Step
from supernoded.testing import ManualClock, MemoryHost
from supernoded.topology import Supernode, Topology
from supernoded.wire import Node, Pen
from supernoded.wire.system import Devices, SystemWires
from supernoded_kubernetes.settings import KubernetesSettings
from tests.sim.faults.cases import Here, run


def find_rack() -> Rack:
    rack = load_rack("rack-1x8")
    return msgspec.structs.replace(rack, sim=msgspec.structs.replace(rack.sim, kubernetes=True))


def test_a_rack_has_one_only_where_it_says_so() -> None:
    assert "kubernetes" in Rig(World(find_rack(), 1, lambda: 0.0), Path("/x")).devices
    assert "kubernetes" not in Rig(World(load_rack("rack-1x8"), 1, lambda: 0.0), Path("/x")).devices


def test_a_file_says_so(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('like = "rack-1x8"\n[sim]\nkubernetes = true\n')
    assert "kubernetes" in view_rack(str(file)).subjects["device"]


def test_the_daemons_are_told_where_it_is_and_what_lets_them_in(tmp_path: Path) -> None:
    places = Places(tmp_path, ("broker", 1883), "/sys/class", endpoints={"kubernetes": "http://10.0.0.9:80"})
    table: dict[str, Any] = msgspec.toml.decode(write_settings(find_rack(), "n0", places))["plugins"]["kubernetes"]
    assert (table["url"], table["insecure"]) == ("http://10.0.0.9:80", True)
    assert Path(table["token_file"]).read_text() == TOKEN
    assert Path(table["token_file"]).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["device.silent", "device.refusing", "device.slow", "device.garbled"])
def test_faults_of_answering_show_and_end(name: str) -> None:
    async def main() -> list[bool | None]:
        rig, kind = Rig(World(find_rack(), 1, asyncio.get_running_loop().time), Path("/x")), CATALOGUE[name]
        async with rig.serve(Here()):
            said = [await kind.shows(rig, "kubernetes", kind.parameters())]
            kind.begin(rig, "kubernetes", kind.parameters())
            said.append(await kind.shows(rig, "kubernetes", kind.parameters()))
            kind.end(rig, "kubernetes", kind.parameters())
            return [*said, await kind.shows(rig, "kubernetes", kind.parameters())]

    assert run(main()) == [False, True, False]


async def test_a_node_without_power_is_not_ready() -> None:
    world = World(find_rack(), 1, lambda: 0.0)
    server = ApiServer(world)
    async with AsyncExitStack() as stack:
        device: Device = server
        assert (await stack.enter_async_context(device.serve("127.0.0.1"))).startswith("http://127.0.0.1:")
    for on, status in ((True, "True"), (False, "Unknown")):
        if not on:
            world.order(PowerNode("n0", on=False))
        reply = server.service.answer("GET", "/api/v1/nodes/n0", b"", {"Authorization": f"Bearer {TOKEN}"})
        assert reply.body
        assert reply.body["status"]["conditions"][-1]["status"] == status


def test_a_daemons_plugin_gets_through_in_virtual_time(tmp_path: Path) -> None:
    async def main() -> tuple[Effect, list[str]]:
        rig = Rig(World(find_rack(), 1, asyncio.get_running_loop().time), Path("/x"))
        async with rig.serve(Here()):
            (tmp_path / "token").write_text(TOKEN)
            topology = Topology(nodes=(Supernode(name="n0", cards=8),))
            wires = SystemWires(Pen(lambda _: None), "kubernetes", Devices())
            node = Node("n0", topology, Limits(), wires, ManualClock(), MemoryHost(), tmp_path)
            settings = KubernetesSettings(url=rig.endpoints["kubernetes"], token_file=str(tmp_path / "token"), insecure=True)
            (actuator,) = supernoded_kubernetes.supernoded_actuators(settings, node)
            step = Step(name="a", kind="node.drain", target="n0", reason="n0/card3 is silent")
            action = Action(id="i1/a", step=step, incident="i1", scope="spares", epoch=1, issued=0.0, deadline=10.0)
            await actuator.apply(action)
            seen = (await actuator.observe(action)).effect
            await wires.close()
            server = rig.find_device("kubernetes")
            assert isinstance(server, ApiServer)
            return seen, [taint["key"] for taint in server.service.nodes["n0"]["spec"]["taints"]]

    assert run(main()) == (Effect.PRESENT, ["supernoded.io/hold"])
