"""Machines, programs and the network of a simulated site, seen with whole daemons on it."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from sim_hardware.drives.plugins import Places
from sim_hardware.drives.settings import TOPOLOGY, write_settings, write_site
from sim_hardware.drives.sim import open_door
from sim_hardware.drives.site import SimSite
from sim_hardware.drives.software import SimSoftware
from sim_hardware.drives.wires import SYSFS
from sim_hardware.faults.catalogue import CATALOGUE
from sim_hardware.loop import SimLoop
from sim_hardware.loop.clock import SimClock
from sim_hardware.loop.play import virtual_time
from sim_hardware.rack import load_rack
from sim_hardware.rig import Rig
from sim_hardware.world import World
from supernoded.chaos.drive import list_plugins
from supernoded.cluster import topics
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.topics import Beat

OFF = tuple(name for name in list_plugins() if name != "host")


@dataclass
class Stand:
    """Two nodes with daemons that only look at their machine, and somebody who hears their beats."""

    loop: SimLoop
    rig: Rig
    site: SimSite
    beats: list[Beat] = field(default_factory=list)

    def begin(self, name: str, target: str, **given: object) -> None:
        CATALOGUE[name].begin(self.rig, target, msgspec.convert(given, CATALOGUE[name].parameters))

    def end(self, name: str, target: str) -> None:
        CATALOGUE[name].end(self.rig, target, CATALOGUE[name].parameters())

    async def listen(self, seconds: float) -> list[Beat]:
        """What is heard from now on for so long, after what is on its way."""
        await asyncio.sleep(2.0)
        self.beats.clear()
        await asyncio.sleep(seconds)
        return list(self.beats)

    async def knock(self, node: str) -> bool:
        try:
            async with asyncio.timeout(2.0):
                reader, writer = await asyncio.open_connection(self.site.net.address(node), 22)
                greeting = await reader.read()
                writer.close()
        except OSError:
            return False
        return greeting.startswith(b"SSH-")


def on_stand(scene: Callable[[Stand], Awaitable[None]]) -> list[str]:
    """Play a scene on it after 10 s; gives the failures and what the daemons said."""
    loop = SimLoop(3)
    with tempfile.TemporaryDirectory() as name, virtual_time(loop):
        loop.leave_out(name)
        loop.run_until_complete(_play(loop, Path(name), scene))
        assert [failure for failure in loop.failures if "observer" not in str(failure.process)] == []
        return [f"{entry.who}: {entry.what}" for entry in loop.entries]


async def _play(loop: SimLoop, folder: Path, scene: Callable[[Stand], Awaitable[None]]) -> None:
    rig = Rig(World(load_rack("rack-2x8"), 3, loop.time), folder, 3)
    site = SimSite(loop, rig=rig)
    site.broker.start()
    stand = Stand(loop, rig, site)
    rig.software = SimSoftware(site, folder)
    loop.spawn("observer", lambda: _observe(stand))
    rig.world.run()
    doors = {node.name: open_door(site, node.name) for node in rig.world.rack.nodes}
    (folder / TOPOLOGY).write_text(write_site(rig.world.rack, {}, doors))
    for node in rig.world.rack.nodes:
        config = folder / f"{node.name}.toml"
        config.write_text(write_settings(rig.world.rack, node.name, Places(folder, ("broker", 1883), SYSFS, kernel=True), "", OFF))
        site.start(node.name, config)
    await asyncio.sleep(10.0)
    await scene(stand)
    rig.world.close()


async def _observe(stand: Stand) -> None:
    """Comes again when the broker does."""
    while True:
        try:
            async with stand.site.broker.connect("observer", Message(topic="x/observer", payload=b"")) as link:
                await link.subscribe(["supernode/v1/c0/node/+/beat"])
                async for message in link.messages():
                    stand.beats.append(topics.decode(message.payload, Beat))
        except OSError:
            await asyncio.sleep(0.5)


def who(beats: list[Beat]) -> set[str]:
    return {beat.node for beat in beats}


def test_a_machine_dies_with_all_that_runs_on_it_and_boots() -> None:
    async def scene(stand: Stand) -> None:
        assert (who(await stand.listen(3.0)), await stand.knock("n1")) == ({"n0", "n1"}, True)
        stand.begin("node.dead", "n1")
        assert (who(await stand.listen(3.0)), await stand.knock("n1")) == ({"n0"}, False)
        assert stand.rig.world.truth("n1", "node.power") == "off"
        assert await CATALOGUE["node.dead"].shows(stand.rig, "n1", CATALOGUE["node.dead"].parameters())
        stand.end("node.dead", "n1")
        assert (who(await stand.listen(3.0)), await stand.knock("n1")) == ({"n0"}, False)  # it boots
        await asyncio.sleep(70.0)
        assert (who(await stand.listen(3.0)), await stand.knock("n1")) == ({"n0", "n1"}, True)

    on_stand(scene)


def test_a_kernel_that_panics_leaves_the_power_on() -> None:
    async def scene(stand: Stand) -> None:
        stand.begin("node.dead", "n1", panics=True, bmc=False)
        assert (who(await stand.listen(3.0)), await stand.knock("n1")) == ({"n0"}, False)
        assert (stand.rig.world.truth("n1", "node.power"), stand.rig.world.truth("n1/card0", "card.hung")) == ("on", 1.0)
        assert stand.rig.devices["n1/bmc"].impairment.silent
        stand.end("node.dead", "n1")
        assert who(await stand.listen(8.0)) == {"n0", "n1"}
        assert not stand.rig.devices["n1/bmc"].impairment.silent

    on_stand(scene)


def test_a_paused_daemon_says_nothing_and_its_machine_answers() -> None:
    async def scene(stand: Stand) -> None:
        stand.begin("daemon.paused", "n1")
        assert (who(await stand.listen(3.0)), await stand.knock("n1")) == ({"n0"}, True)
        stand.end("daemon.paused", "n1")
        assert who(await stand.listen(8.0)) == {"n0", "n1"}

    on_stand(scene)


def test_a_partition_parts_groups_and_heals() -> None:
    async def scene(stand: Stand) -> None:
        stand.begin("net.partition", "network", groups="n1")
        assert stand.site.net.apart("n1", "broker")
        assert stand.site.net.apart("n0", "n1")
        assert not stand.site.net.apart("n0", "broker")
        assert who(await stand.listen(3.0)) == {"n0"}
        stand.begin("net.partition", "network", groups="n0 n1")  # others instead
        assert not stand.site.net.apart("n0", "n1")
        assert stand.site.net.apart("n0", "database")
        stand.end("net.partition", "network")
        assert who(await stand.listen(40.0)) == {"n0", "n1"}

    on_stand(scene)


def test_a_clock_that_is_set_shows_in_what_the_next_life_says() -> None:
    async def scene(stand: Stand) -> None:
        right = (await stand.listen(2.0))[-1]
        stand.begin("node.clock", "n1", seconds=500.0)
        mine = [beat.at - right.at for beat in await stand.listen(2.0) if beat.node == "n1"]
        assert max(mine) < 60.0  # a life's own time never jumps
        stand.begin("node.clock", "n1", seconds=600.0, restart=True)
        mine = [beat.at - right.at for beat in await stand.listen(12.0) if beat.node == "n1"]
        assert min(mine[-3:]) > 599.0
        stand.end("node.clock", "n1")
        mine = [beat.at - right.at for beat in await stand.listen(12.0) if beat.node == "n1"]
        assert max(mine[-3:]) < 100.0

    on_stand(scene)


def test_a_twin_speaks_up_on_another_machine_in_the_same_name() -> None:
    async def scene(stand: Stand) -> None:
        stand.begin("node.twin", "n1")
        await asyncio.sleep(20.0)
        stand.end("node.twin", "n1")
        assert len({beat.life for beat in await stand.listen(3.0) if beat.node == "n1"}) == 1

    said = on_stand(scene)
    assert any(line.startswith("n1-twin: ") and "n1" in line for line in said)


def test_an_old_copy_of_the_brokers_messages_comes_back() -> None:
    async def scene(stand: Stand) -> None:
        presence = topics.presence("c0", "n1")
        online = stand.site.broker.retained[presence]
        stand.begin("daemon.killed", "n1")
        await asyncio.sleep(20.0)
        offline = stand.site.broker.retained[presence]
        assert offline is not online
        stand.begin("broker.stale", "broker", seconds=25.0)
        assert stand.site.broker.retained[presence] is online
        assert await CATALOGUE["broker.stale"].shows(stand.rig, "broker", CATALOGUE["broker.stale"].parameters())
        stand.end("broker.stale", "broker")
        assert stand.site.broker.retained[presence] is offline
        assert who(await stand.listen(40.0)) == {"n0"}

    on_stand(scene)


def test_the_database_goes_and_comes() -> None:
    async def scene(stand: Stand) -> None:
        stand.site.database.start()
        stand.begin("database.lost", "database")
        assert not (stand.rig.software and stand.rig.software.runs("database"))
        stand.end("database.lost", "database")
        assert stand.rig.software
        assert stand.rig.software.runs("database")

    on_stand(scene)


def test_a_life_begins_with_the_clock_as_it_is() -> None:
    loop = SimLoop(1)
    clock = SimClock(loop, "n0", skew=0.5)
    before = clock.now()
    clock.jump = 30.0
    assert (clock.now(), clock.wall() - clock.now(), clock.error) == (before, 30.0, 30.0)
    clock.begin_life()
    assert (clock.now() - before, clock.wall() - clock.now(), clock.error) == (30.0, 0.0, 30.0)
    loop.close()
