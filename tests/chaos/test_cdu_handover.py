"""The role of a CDU whose valve is ours goes to another node in the middle of a step of load."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pytest

from sim_hardware.drives import SimSite
from sim_hardware.drives.plugins import Places
from sim_hardware.drives.settings import TOPOLOGY, write_settings, write_site
from sim_hardware.drives.software import SimSoftware
from sim_hardware.drives.venues import SimNetwork
from sim_hardware.drives.wires import SYSFS
from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import virtual_time
from sim_hardware.plant.job.orders import StarveJob
from sim_hardware.rack import Rack, generate_rack
from sim_hardware.rig import Rig
from sim_hardware.world import World

OFF = ("fabric", "nvidia", "link_ber", "ring", "network", "isolation", "power", "redfish", "hwmon")
STEP, HANDED, END = 40.0, 50.0, 130.0  # s
CDU = "cdu/0"


@dataclass
class Seen:
    """What really was, second by second."""

    supplies: list[float] = field(default_factory=list)
    valves: list[float] = field(default_factory=list)
    controls: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def make_rack() -> Rack:
    rack = generate_rack(2, 8)
    return msgspec.structs.replace(rack, loops=tuple(msgspec.structs.replace(loop, authority="direct") for loop in rack.loops))


def write_daemon(rack: Rack, node: str, folder: Path, rig: Rig, holder: str) -> Path:
    places = Places(folder, ("broker", 1883), SYSFS, kernel=True, endpoints=rig.endpoints)
    config = folder / f"{node}.toml"
    config.write_text(write_settings(rack, node, places, f'[roles]\n"{CDU}" = "{holder}"\n', OFF))
    return config


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    folder, loop, seen, rack = tmp_path_factory.mktemp("handover"), SimLoop(5), Seen(), make_rack()

    async def main() -> None:
        rig = Rig(World(rack, 5, loop.time), folder, 5)
        site = SimSite(loop, rig=rig)
        site.broker.start()
        async with rig.serve(SimNetwork(site.net)):
            (folder / TOPOLOGY).write_text(write_site(rack, rig.endpoints))
            for node in ("n0", "n1"):
                site.start(node, write_daemon(rack, node, folder, rig, "n0"))
            software = SimSoftware(site, folder)
            loop.at(STEP, lambda: rig.world.order(StarveJob("train", 2.0)))
            loop.at(HANDED, lambda: hand_over(rig, software))
            while loop.time() < END:
                await asyncio.sleep(1.0)
                note(rig.world)

    def hand_over(rig: Rig, software: SimSoftware) -> None:
        for node in ("n0", "n1"):
            software.kill(node)
            write_daemon(rack, node, folder, rig, "n1")
            software.start(node)

    def note(world: World) -> None:
        for quantity, values in (("true_supply_temperature", seen.supplies), ("valve", seen.valves)):
            value = world.truth(CDU, f"coolant.{quantity}")
            assert isinstance(value, float)
            values.append(value)
        seen.controls.append(str(world.truth(CDU, "coolant.control")))

    with virtual_time(loop):
        loop.run_until_complete(main())
    seen.failures += [failure.message for failure in loop.failures]
    return seen


def test_the_new_holder_waits_for_the_watchdog_and_then_takes_the_valve(seen: Seen) -> None:
    fallen, handed = seen.controls.index("auto", int(HANDED)), int(HANDED)
    assert set(seen.controls[10:handed]) == {"direct"}
    assert fallen - handed <= 16
    assert set(seen.controls[-30:]) == {"direct"}
    assert seen.failures == []


def test_it_begins_where_the_valve_stands(seen: Seen) -> None:
    taken = seen.controls.index("direct", seen.controls.index("auto", int(HANDED)))
    moves = [abs(after - before) for before, after in zip(seen.valves[taken - 1 : taken + 5], seen.valves[taken : taken + 6], strict=True)]
    assert max(moves) < 4.0


def test_the_supply_is_never_off_by_what_the_unit_alone_misses_by(seen: Seen) -> None:
    assert max(abs(supply - 22.0) for supply in seen.supplies) < 0.7
    assert max(abs(supply - 22.0) for supply in seen.supplies[-20:]) < 0.3
