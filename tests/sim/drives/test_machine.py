"""A simulated machine says of itself what the plant does."""

from __future__ import annotations

from pathlib import Path

from sim_hardware.drives.machine import HOG, SimHost
from sim_hardware.faults.catalogue import CATALOGUE
from sim_hardware.plant.cards.orders import PowerNode
from sim_hardware.plant.links.orders import CutLink
from sim_hardware.rack import generate_rack
from sim_hardware.rig import Rig
from sim_hardware.world import World
from supernoded.testing import ManualClock, Running
from supernoded_host.hogs import Allowance
from supernoded_host.sensors import ProcessSensor


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


async def test_a_hog_shows_among_the_processes_and_in_the_memory() -> None:
    rig = Rig(World(generate_rack(2, 8), 1, lambda: 0.0), Path("/lines"))
    host, other = SimHost("n0", rig), SimHost("n1", rig)
    CATALOGUE["host.hog"].begin(rig, "n0", CATALOGUE["host.hog"].parameters())
    sensor = ProcessSensor("n0", host, ManualClock(), 20.0, 5, Allowance(20.0, 50.0))
    busiest, hog = await sensor.read()
    assert hog.value == "backup (pid 4711) takes 62 % of memory"
    assert str(busiest.value).startswith("backup (pid 4711) 400 % of a core")
    assert ((await host.look()).memory_percent, (await other.look()).memory_percent) == (82.0, 20.0)
    assert rig.world.truth("n0/card0", "card.speed") == 0.8
    host.opened[HOG] = ("/dev/davinci0",)
    assert (await sensor.read())[1].value == ""
    CATALOGUE["host.hog"].end(rig, "n0", CATALOGUE["host.hog"].parameters())
    assert [one.name for one in await host.top(10)] == ["init"]
    host.running.append(Running(7, "stress", 9000.0, 1e6))
    assert [one.name for one in await host.top(1)] == ["stress"]


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
