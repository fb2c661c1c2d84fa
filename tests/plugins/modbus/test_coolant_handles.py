"""Valve, setpoint, pumps and pressure of a simulated CDU: taken, kept, given back."""

from __future__ import annotations

import asyncio
import json
from importlib import resources
from pathlib import Path

import pytest

from sim_hardware.plant.cooling.orders import LosePrimary, SetWatchdog
from supernoded.model import Effect
from supernoded.plugin import LapsedError, NotHeldError, WireError
from supernoded_modbus.settings import ModbusSettings
from tests.plugins.modbus.benches import run
from tests.plugins.modbus.coolants import CDU, MAPS, open_hall, place_record

RESOLUTION = {"rpu": 0.51, "dcd": 0.01, "plc": 0.06}  # of a valve's register, half a step


@pytest.mark.parametrize("cdu", MAPS)
def test_a_valve_is_taken_where_it_stands_and_kept_by_its_puts(tmp_path: Path, cdu: str) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, cdu) as hall:
            begins = hall.number("coolant.valve")
            assert await hall.now_at() == pytest.approx(begins, abs=0.06)
            assert hall.take_names() == []  # to look is to write nothing
            await hall.put(begins)
            assert hall.truth("coolant.control") == "direct"
            assert hall.number("coolant.valve_command") == pytest.approx(begins, abs=RESOLUTION[cdu])
            assert await hall.hold(begins + 3.0, 20) == []
            assert hall.truth("coolant.control") == "direct"
            assert hall.number("coolant.watchdog_left") > 13.0
            assert hall.number("coolant.valve") == pytest.approx(begins + 3.0, abs=RESOLUTION[cdu])
            assert all(device.unit.writes.wear == {} for device in hall.bench.devices.values())  # nothing that wears was written

    run(story)


@pytest.mark.parametrize("cdu", MAPS)
def test_one_value_again_is_only_the_heartbeat(tmp_path: Path, cdu: str) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, cdu) as hall:
            await hall.now_at()
            await hall.put(45.0)
            await asyncio.sleep(2.0)
            hall.take_names()
            await hall.put(45.0 + RESOLUTION[cdu] / 3.0)
            assert hall.take_names() == ["Beat"]
            await hall.put(47.0)
            assert hall.take_names() == ["SetValve", "Beat"]

    run(story)


def test_without_puts_the_watchdog_has_it_back_and_it_is_taken_anew_where_it_stands(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            assert await hall.hold(45.0, 3) == []
            await asyncio.sleep(15.0)
            assert hall.truth("coolant.control") == "auto"
            await asyncio.sleep(20.0)
            hall.take_names()
            for _ in range(2):
                with pytest.raises(LapsedError, match=r"it has its own control again, 36 s after our last|was not looked at"):
                    await hall.put(46.0)  # where its loop stood before is where the valve was, not where it is
            assert hall.take_names() == []
            assert await hall.now_at() == pytest.approx(hall.number("coolant.valve"), abs=0.06)
            assert await hall.hold(46.0, 3) == []
            hall.check("direct", "coolant.valve_command", 46.0)

    run(story)


@pytest.mark.parametrize("cdu", MAPS)
def test_a_setpoint_is_written_before_the_control_that_heeds_it(tmp_path: Path, cdu: str) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, cdu, "setpoint") as hall:
            assert sorted(name for name in hall.bench.handles if name.startswith(CDU)) == [
                *(["cdu/0/pressure"] if cdu != "plc" else []),
                "cdu/0/setpoint",
            ]
            assert await hall.now_at("setpoint") == pytest.approx(22.0)
            hall.take_names()
            await hall.put(23.5, "setpoint")
            assert hall.take_names() == ["SetTemperature", "SetControl", "Beat"]
            assert await hall.hold(23.5, 30, "setpoint") == []
            hall.check("setpoint", "coolant.setpoint", 23.5)

    run(story)


@pytest.mark.parametrize("authority", ["setpoint", "direct"])
def test_it_is_handed_back_with_a_look(tmp_path: Path, authority: str) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, "dcd", "direct" if authority == "direct" else "setpoint") as hall:
            name, value = ("valve", 45.0) if authority == "direct" else ("setpoint", 23.0)
            hall.take_names()
            sight = await hall.handle(name).hand_back(CDU)
            assert (sight.effect, hall.take_names()) == (Effect.PRESENT, [])  # it has not been taken: nothing is written
            await hall.now_at(name)
            await hall.put(value, name)
            sight = await hall.handle(name).hand_back(CDU)
            assert (sight.effect, sight.text) == (Effect.PRESENT, "it has its own control, at 22 C")
            assert hall.truth("coolant.control") == "auto"

    run(story)


def test_without_the_pen_nothing_is_written_at_all(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            hall.take_names()
            hall.bench.wires.refusals[CDU] = "the lease has ended"
            with pytest.raises(NotHeldError, match="the lease has ended"):
                await hall.put(45.0)
            assert hall.take_names() == []
            assert list(tmp_path.rglob("*.json")) == []
            del hall.bench.wires.refusals[CDU]
            await hall.put(45.0)
            hall.bench.wires.refusals[CDU] = "the lease has ended"
            hall.take_names()
            for refused in (hall.put(46.0), hall.put(45.0), hall.handle("valve").hand_back(CDU)):
                with pytest.raises(NotHeldError):
                    await refused
            assert hall.take_names() == []

    run(story)


@pytest.mark.parametrize(("seconds", "reason"), [(16.0, "reads 16 s, and direct control needs at most 15 s"), (600.0, "reads 600 s")])
def test_direct_control_needs_a_watchdog_that_bites_in_time(tmp_path: Path, seconds: float, reason: str) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            hall.do(SetWatchdog(CDU, seconds))
            with pytest.raises(WireError, match=reason):
                await hall.now_at()
            hall.do(SetWatchdog(CDU, 10.0))
            await hall.now_at()
            assert await hall.hold(45.0, 12) == []
            assert hall.truth("coolant.control") == "direct"

    run(story)


def test_the_plcs_control_at_our_setpoint_needs_no_such_watchdog(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, authority="setpoint") as hall:
            hall.do(SetWatchdog(CDU, 600.0))
            await hall.now_at("setpoint")
            await hall.put(23.0, "setpoint")
            assert hall.truth("coolant.control") == "setpoint"

    run(story)


def test_what_it_falls_back_to_is_read_and_told(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            seen = await hall.bench.read("modbus.cdu/0.fallback")
            assert seen[CDU, "coolant.fallback"].value == pytest.approx(22.0)
            await hall.now_at()
            await hall.put(45.0)
            assert json.loads(place_record(tmp_path).read_text())["fallback"] == pytest.approx(22.0)
            assert (await hall.bench.read("modbus.cdu/0.fallback"))[CDU, "coolant.fallback"].value == pytest.approx(22.0)

    run(story)


def test_without_a_declared_serial_number_it_is_not_taken(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, serials=False) as hall:
            for name in ("valve", "pump"):
                with pytest.raises(WireError, match=r"no serial number is declared|waits until"):
                    await hall.now_at(name)
            with pytest.raises(LapsedError, match="was not looked at"):
                await hall.put(45.0)
            assert hall.truth("coolant.control") == "auto"

    run(story)


def test_what_is_not_plausible_is_not_taken(tmp_path: Path) -> None:
    """Looked at anew before each engagement, not only once."""

    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            hall.do(LosePrimary(CDU, lost=True))
            await asyncio.sleep(1800.0)
            assert hall.number("coolant.supply_temperature") > 60.0
            with pytest.raises(WireError, match="is the register map right"):
                await hall.now_at()

    run(story)


@pytest.mark.parametrize("authority", ["setpoint", "direct"])
def test_a_map_without_the_rows_that_an_authority_needs_says_so(tmp_path: Path, authority: str) -> None:
    async def story() -> None:
        lines = (resources.files("supernoded_modbus") / "maps" / "dcd.toml").read_text().splitlines()
        kept = [line for line in lines if '"watchdog_left"' not in line and '"setpoint_asked"' not in line]
        (tmp_path / "dcd.toml").write_text("\n".join(kept))
        settings = ModbusSettings(maps_folder=str(tmp_path))
        async with open_hall(tmp_path, "dcd", "direct" if authority == "direct" else "setpoint", settings=settings) as hall:
            name, row = ("valve", "watchdog_left") if authority == "direct" else ("setpoint", "setpoint_asked")
            with pytest.raises(WireError, match=f"cdu/0/{name}: its register map has no {row}, which authority = {authority} needs"):
                await hall.now_at(name)
            with pytest.raises(WireError, match="complete the map"):
                await hall.put(22.0, name)
            assert (await hall.handle(name).hand_back(CDU)).effect is Effect.PRESENT
            assert hall.take_names() == []

    run(story)


@pytest.mark.parametrize(
    ("cdu", "before", "after"),
    [("dcd", 'order = "cdab"', 'order = "abcd"'), *((cdu, "answer_s =", "base = 1\nanswer_s =") for cdu in ("rpu", "plc"))],
)
def test_a_map_with_words_exchanged_or_off_by_one_takes_nothing(tmp_path: Path, cdu: str, before: str, after: str) -> None:
    async def story() -> None:
        text = (resources.files("supernoded_modbus") / "maps" / f"{cdu}.toml").read_text()
        assert before in text
        (tmp_path / f"{cdu}.toml").write_text(text.replace(before, after))
        settings = ModbusSettings(maps_folder=str(tmp_path))
        async with open_hall(tmp_path, cdu, settings=settings) as hall:
            with pytest.raises(WireError, match=r"is the register map right|its model is|illegal data address"):
                await hall.now_at()
            with pytest.raises(WireError):
                await hall.put(45.0)
            assert hall.take_names() == []

    run(story)


def test_each_register_of_the_plc_is_written_no_oftener_than_it_takes(tmp_path: Path) -> None:
    """A second write within its second would be acknowledged and lost; a loop's second has room for the pause."""

    async def story() -> None:
        async with open_hall(tmp_path, "plc") as hall:
            clock, device = hall.bench.node.clock, hall.bench.devices[CDU]
            await hall.now_at()
            longest = 0.0
            for second in range(20):
                begun = clock.now()
                await hall.put(40.0 + second % 7)
                longest = max(longest, clock.now() - begun)
                await asyncio.sleep(1.0)
            assert device.unit.writes.lost == 0
            assert longest < 0.3

    run(story)


def test_what_cannot_be_is_refused_with_its_limit(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            for bad in (101.0, -1.0, float("nan"), float("inf")):
                with pytest.raises(WireError, match="valve_set takes 0 to 100 %"):
                    await hall.put(bad)
            assert hall.truth("coolant.control") == "auto"

    run(story)


def test_a_map_that_only_reads_leaves_its_cdu_to_another_wire(tmp_path: Path) -> None:
    async def story() -> None:
        lines = (resources.files("supernoded_modbus") / "maps" / "dcd.toml").read_text().splitlines()
        (tmp_path / "dcd.toml").write_text("\n".join(line for line in lines if "writable" not in line))
        async with open_hall(tmp_path, "dcd", "setpoint", settings=ModbusSettings(maps_folder=str(tmp_path))) as hall:
            assert not any(name.startswith(CDU) for name in hall.bench.handles)

    run(story)
