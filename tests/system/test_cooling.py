"""Coolant held in real time: a served rack whose CDU is turned directly over Modbus TCP, and the daemon as a process beside it."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
import tomli_w

from supernoded.messages import CoolingUnit, Thermal
from tests.system.daemons import LOOK, NOBODY, PATIENCE, Daemon
from tests.system.test_supernode_sim import Rack

CDU = "cdu/0"
BAND = 0.3  # K (T5)
OFF = ["ascend", "fabric", "hwmon", "isolation", "link_ber", "network", "nut", "nvidia", "power", "redfish", "ring", "snmp"]
WATCHDOG = 15.0  # s, of the CDU
FALLS_WITHIN = WATCHDOG + PATIENCE
KEPT = ("coolant.control", "coolant.watchdog_left", "coolant.setpoint_asked", "coolant.pressure_asked")  # what is so while nobody writes


@pytest.fixture(scope="module")
def rack(checkout: Path) -> Iterator[Rack]:
    """One for all, in a folder whose path is short enough for sockets; each test leaves the CDU under its own control."""
    with tempfile.TemporaryDirectory(prefix="cool-") as folder:
        served = Rack(Path(folder) / "d", checkout, "direct-1x8")
        yield served
        served.end(signal.SIGTERM)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Of one daemon."""
    with tempfile.TemporaryDirectory(prefix="cool-") as made:
        yield Path(made)


def make_daemon(folder: Path, rack: Rack, mode: str = "act") -> Daemon:
    """It has the role of the CDU, and of all plugins only what that needs."""
    served = msgspec.toml.decode((rack.folder / "n0/supernoded.toml").read_bytes())
    tables = tomli_w.dumps({"plugins": {"modbus": served["plugins"]["modbus"]}})
    keys = tomli_w.dumps({"mode": mode, "topology": served["topology"], "plugins_off": OFF})
    return Daemon(folder, NOBODY + tables, keys)


async def see(rack: Rack) -> dict[str, object]:
    """What is so at the CDU, whatever anybody reads of it."""
    told = await asyncio.to_thread(rack.ask, "truth", CDU)
    return {row["quantity"]: row["value"] for row in told["values"]}


def find(seen: dict[str, object], name: str) -> float:
    """A number."""
    return float(str(seen[f"coolant.{name}"]))


async def wait_for(rack: Rack, true: Callable[[dict[str, object]], bool], within: float = PATIENCE) -> None:
    """Look until it is so."""
    seen: dict[str, object] = {}
    try:
        async with asyncio.timeout(within):
            while not true(seen := await see(rack)):
                await asyncio.sleep(LOOK)
    except TimeoutError:
        raise AssertionError(f"not so within {within:g} s: {seen}") from None


async def see_held(daemon: Daemon) -> CoolingUnit:
    """Wait until our loops have the unit, and what the daemon then shows of it."""
    told = await daemon.until(
        "thermal", Thermal, lambda told: len(told.loops) == 2 and all(loop.put_age is not None for loop in told.loops)
    )
    assert {loop.target for loop in told.loops} == {f"{CDU}/valve", f"{CDU}/pump"}
    return told.units[0]


def type_command(daemon: Daemon, *words: str) -> str:
    """`supernodectl`, and what it prints."""
    command = (sys.executable, "-m", "supernoded.ctl", "--socket", str(daemon.socket), *words)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done
    return done.stdout


async def test_in_observe_nothing_is_written(rack: Rack, folder: Path) -> None:
    before = await see(rack)
    async with make_daemon(folder, rack, "observe") as daemon:
        await daemon.start()
        judged = await daemon.until("thermal", Thermal, lambda told: any(one.kind == "coolant.band" for one in told.verdicts))
        assert not any(loop.engaged for loop in judged.loops)
        for _ in range(3):
            after = await see(rack)
            assert {name: after[name] for name in KEPT} == {name: before[name] for name in KEPT}
        assert "nobody of us" in type_command(daemon, "thermal")
        assert await daemon.stop() == 0
    assert before["coolant.control"] == "auto"


async def test_it_holds_the_supply_and_hands_back_when_it_is_stopped(rack: Rack, folder: Path) -> None:
    async with make_daemon(folder, rack) as daemon:
        await daemon.start()
        await see_held(daemon)
        begun = await see(rack)
        assert begun["coolant.control"] == "direct"
        await asyncio.to_thread(rack.run, "inject", "room.humid", CDU, "celsius=22")  # so that nothing below 24 C may be supplied
        await wait_for(rack, lambda seen: find(seen, "valve") < find(begun, "valve") and find(seen, "supply_temperature") > 22.0 + BAND)
        shown = " ".join((await asyncio.to_thread(type_command, daemon, "thermal")).split())
        for words in (f"{CDU}/valve", f"valve of {CDU}", "direct, 1", "by PI alone", "at 24.0 C, not at 22: the room's dew point"):
            assert words in shown, shown
        assert type_command(daemon, "thermal", "history", CDU).startswith(f"{CDU}, the last ")
        rack.run("lift", "--all")

        assert await daemon.stop() == 0
        after = await see(rack)
        assert (after["coolant.control"], after["coolant.watchdog_left"]) == ("auto", 0.0)
        assert daemon.log.count("Traceback") == 0


async def test_a_unit_whose_daemon_is_killed_falls_back_by_itself_and_the_next_life_takes_it_again(rack: Rack, folder: Path) -> None:
    async with make_daemon(folder, rack) as daemon:
        await daemon.start()
        await see_held(daemon)
        await daemon.kill()
        assert (await see(rack))["coolant.control"] == "direct"  # nobody has told it yet
        await wait_for(rack, lambda seen: seen["coolant.control"] == "auto", FALLS_WITHIN)

        await daemon.start()
        await see_held(daemon)
        assert (await see(rack))["coolant.control"] == "direct"
        assert await daemon.stop() == 0
        assert (await see(rack))["coolant.control"] == "auto"
