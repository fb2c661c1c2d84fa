"""Whole daemons on a simulated node that turn its fans, stop, and are killed."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import supernoded_hwmon
from sim_hardware.drives.plugins import Places, list_plugins
from sim_hardware.drives.site import SimSite
from sim_hardware.drives.wires import SYSFS
from sim_hardware.loop import Process, SimLoop
from sim_hardware.loop.play import play
from sim_hardware.rack import generate_rack
from sim_hardware.rig import Rig
from sim_hardware.world import World
from supernoded.model import Setpoint
from supernoded.parts import Loop
from supernoded.plugin import NODE, Node, View, hookimpl
from supernoded.registry import Found
from supernoded.settings import Settings

RACK = generate_rack(1, 2)


class SteadyLoop:
    """A loop that wants 70 %."""

    name, scope, target, period = "fans", NODE, "n0/fans", 2.0
    watches: Mapping[str, float] = {}

    def start(self, now_at: Setpoint | None) -> None:
        del now_at

    def steer(self, seen: View, memory: None) -> tuple[None, Setpoint | None]:
        del seen
        return memory, Setpoint(target=self.target, quantity="fan.duty", value=70.0, unit="%")


class SteadyPolicy:
    @hookimpl
    def supernoded_loops(self, settings: None, node: Node) -> Sequence[Loop[None]]:
        del settings, node
        return (SteadyLoop(),)


def discover(settings: Settings) -> list[Found]:
    del settings
    return [Found(name="hwmon", plugin=supernoded_hwmon), Found(name="steady", plugin=SteadyPolicy())]


def write_config(folder: Path, mode: str) -> Path:
    table = list_plugins(RACK, "n0", Places(folder, ("broker", 1883), SYSFS))["hwmon"]
    config = folder / f"{mode}.toml"
    fans = ", ".join(f'"{key}" = "{subject}"' for key, subject in table["fans"].items())
    config.write_text(
        f'node = "n0"\nmode = "{mode}"\nstate = "{folder}/state"\nruntime = "{folder}/run"\nmqtt.host = "broker"\n'
        f'[plugins.hwmon]\nroot = "{table["root"]}"\nsteer = {list(table["steer"])}\nfans = {{ {fans} }}\n'.replace("'", '"')
    )
    return config


def in_daemons(folder: Path, work: Callable[[SimLoop, SimSite, World], Coroutine[Any, Any, None]]) -> None:
    loop = SimLoop(1)

    async def main() -> None:
        loop.leave_out(str(folder))
        rig = Rig(World(RACK, 1, loop.time), folder)
        site = SimSite(loop, discover, rig=rig)
        site.broker.start()
        await work(loop, site, rig.world)

    play(loop, main())
    assert loop.failures == []


def read_duty(world: World) -> float:
    return float(str(world.truth("n0/fan0", "fan.duty")))


def test_a_daemon_turns_the_fans_and_gives_them_back_when_it_stops(tmp_path: Path) -> None:
    async def play_it(loop: SimLoop, site: SimSite, world: World) -> None:
        process = await run_for(site, tmp_path, 10.0)
        for _ in range(60):
            await asyncio.sleep(1.0)
            assert (world.truth("n0", "fan.control"), round(read_duty(world))) == ("manual", 70)
        loop.deliver(process, signal.SIGTERM)
        await asyncio.sleep(10.0)
        assert world.truth("n0", "fan.control") == "auto"

    in_daemons(tmp_path, play_it)


@pytest.mark.parametrize(("mode", "control"), [("observe", "auto"), ("act", "manual")])
def test_what_a_killed_daemon_left_is_given_back_unless_the_next_one_steers(mode: str, control: str, tmp_path: Path) -> None:
    async def play_it(loop: SimLoop, site: SimSite, world: World) -> None:
        loop.kill(await run_for(site, tmp_path, 60.0))
        await asyncio.sleep(60.0)
        assert world.truth("n0", "fan.control") == "manual"
        site.start("n0", write_config(tmp_path, mode))
        await asyncio.sleep(30.0)
        assert world.truth("n0", "fan.control") == control

    in_daemons(tmp_path, play_it)


async def run_for(site: SimSite, folder: Path, seconds: float) -> Process:
    process = site.start("n0", write_config(folder, "act"))
    await asyncio.sleep(seconds)
    return process


def test_observing_touches_nothing(tmp_path: Path) -> None:
    async def play_it(loop: SimLoop, site: SimSite, world: World) -> None:
        del loop
        orders = list[object]()
        world.watches.append(orders.append)
        site.start("n0", write_config(tmp_path, "observe"))
        await asyncio.sleep(120.0)
        assert world.truth("n0", "fan.control") == "auto"
        assert not (tmp_path / "state" / "hwmon").exists()
        assert not [one for one in orders if "fan" in str(one)]

    in_daemons(tmp_path, play_it)
