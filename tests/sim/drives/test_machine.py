"""A simulated machine says of itself what the plant does."""

from __future__ import annotations

from pathlib import Path

from sim_hardware.drives.machine import SimHost
from sim_hardware.plant.cards.orders import PowerNode
from sim_hardware.plant.links.orders import CutLink
from sim_hardware.rack import generate_rack
from sim_hardware.rig import Rig
from sim_hardware.world import World


async def test_readers_get_their_own_nodes_lines_each_from_its_own_place() -> None:
    rig = Rig(World(generate_rack(2, 8), 1, lambda: 0.0), Path("/lines"))
    one, other = SimHost("n0", rig), SimHost("n1", rig)
    assert await one.kernel_lines("a") == []
    rig.world.order(CutLink("n0/card3/port0", cut=True))
    told = ["<6>mlx5_core 0000:67:00.0 eth7: Link down", "<6>mlx5_core 0000:6a:00.0 eth10: Link down"]
    assert sorted(await one.kernel_lines("a")) == told
    assert await one.kernel_lines("a") == []
    assert await one.kernel_lines("late") == []
    assert other.lines == []


async def test_uptime_is_the_plants() -> None:
    now = [0.0]
    rig = Rig(World(generate_rack(1, 8), 1, lambda: now[0]), Path("/lines"))
    host = SimHost("n0", rig)
    now[0] = 50.0
    before = (await host.look()).uptime
    rig.world.order(PowerNode("n0", on=False))
    rig.world.order(PowerNode("n0", on=True))
    now[0] = 300.0
    after = (await host.look()).uptime
    assert before is not None
    assert after is not None
    assert before >= 50.0
    assert after < 250.0
    assert (await SimHost("n0").look()).uptime is None
