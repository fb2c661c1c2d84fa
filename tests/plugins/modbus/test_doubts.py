"""Values that look normal and are none: warned-of sensors, sticky bits, two rows of one thing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sim_hardware.pathology import Freeze
from sim_hardware.plant.cooling.orders import ClearLeak, Leak
from supernoded.model import State
from supernoded.plugin import PluginError
from supernoded_modbus.doubts import distrust, join
from supernoded_modbus.maps import Row, load_map, read_map
from supernoded_modbus.values import Told
from tests.plugins.modbus.benches import run
from tests.plugins.modbus.coolants import CDU, MAPS, open_hall

ROW = Row(name="supply", address=1, doubted_by=("supply-sensor",))
DRY, WET, DARK = Told(0.0), Told(1.0), Told(None, "no answer")


def test_a_value_that_is_warned_of_is_none_whatever_it_shows() -> None:
    assert distrust(Told(22.1), ROW, frozenset({"return-sensor"})) == Told(22.1)
    assert distrust(Told(22.1), ROW, frozenset({"supply-sensor"})) == Told(None, "the device warns of it (supply-sensor) and shows 22.1")
    assert distrust(DARK, ROW, frozenset({"supply-sensor"})) == DARK


@pytest.mark.parametrize(
    ("one", "other", "joined"),
    [(DRY, DRY, DRY), (DRY, WET, WET), (WET, DARK, WET), (DARK, WET, WET), (DRY, DARK, DARK), (DARK, DRY, DARK), (DARK, DARK, DARK)],
)
def test_of_two_detectors_the_wet_one_counts_and_a_dry_one_does_not_speak_for_an_unknown(one: Told, other: Told, joined: Told) -> None:
    assert join(one, other) == joined


def test_flags_of_two_rows_are_put_together() -> None:
    assert join(Told(frozenset({"a"})), Told(frozenset({"b"}))) == Told(frozenset({"a", "b"}))
    assert join(Told(frozenset[str]()), DARK) == DARK


@pytest.mark.parametrize("name", MAPS)
def test_each_cdu_map_has_flags_that_doubt_its_temperatures(name: str) -> None:
    rows = {row.name: row for row in load_map(name).rows}
    assert rows["alarm"].may_be_empty
    assert rows["supply_temperature"].doubted_by
    assert rows["return_temperature"].doubted_by


def test_a_doubt_that_no_flag_can_raise_is_refused() -> None:
    text = 'text = "t"\nrows = [{name = "a", address = 1, doubted_by = ["supply-sensor"]}]\n'
    with pytest.raises(PluginError, match=r"row a: doubted_by supply-sensor, and the rows with coolant\.alarm have no flags"):
        read_map(text.encode(), "t")


@pytest.mark.parametrize("cdu", MAPS)
def test_a_warning_of_the_cdu_makes_its_sensor_unknown(tmp_path: Path, cdu: str) -> None:
    name = "cdu/0" if cdu != "rpu" else "cdu/0/rtu"

    async def story() -> None:
        async with open_hall(tmp_path, cdu) as hall:
            hall.bench.devices[name].impairment.alarms = frozenset({"supply-sensor", "leak-sensor"})
            await asyncio.sleep(1.0)
            seen = await hall.bench.read("modbus.cdu/0.1s")
            assert seen[CDU, "coolant.alarm"].value == frozenset({"supply-sensor", "leak-sensor"})
            for quantity in ("coolant.supply_temperature", "coolant.leak"):
                assert seen[CDU, quantity].state is State.UNKNOWN
                assert "the device warns of it" in seen[CDU, quantity].note
            assert seen[CDU, "coolant.return_temperature"].state is State.GOOD
            hall.bench.devices[name].impairment.alarms = frozenset()
            await asyncio.sleep(1.0)
            assert (await hall.bench.read("modbus.cdu/0.1s"))[CDU, "coolant.supply_temperature"].state is State.GOOD

    run(story)


def test_a_valve_is_taken_also_where_a_sensor_is_warned_of(tmp_path: Path) -> None:
    """Its loop may go by other sensors; the map is proven by what the CDU shows."""

    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            hall.bench.devices[CDU].impairment.alarms = frozenset({"supply-sensor"})
            await hall.now_at()
            assert await hall.hold(45.0, 3) == []

    run(story)


@pytest.mark.parametrize("cdu", MAPS)
def test_a_sticky_bit_stays_when_the_leak_is_over(tmp_path: Path, cdu: str) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, cdu) as hall:
            period = "5s" if cdu == "rpu" else "1s"

            async def look() -> tuple[object, object]:
                await asyncio.sleep(1.0)
                seen = {**await hall.bench.read("modbus.cdu/0.1s"), **await hall.bench.read(f"modbus.cdu/0.{period}")}
                return seen[CDU, "coolant.leak"].value, seen[CDU, "coolant.leak_sticky"].value

            assert await look() == (0.0, 0.0)
            hall.do(Leak(CDU, 0.5))
            assert await look() == (1.0, 1.0)
            hall.do(Leak(CDU, 0.0))
            assert await look() == (0.0, 1.0)
            hall.do(ClearLeak(CDU))
            assert await look() == (0.0, 1.0 if cdu == "plc" else 0.0)  # that of the PLC stands in its register, and is cleared there

    run(story)


def test_pumps_that_are_not_there_are_not_told_of(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            seen = await hall.bench.read("modbus.cdu/0.1s")
            assert {subject for subject, quantity in seen if quantity == "pump.state"} == {"cdu/0/pump0", "cdu/0/pump1"}
            hall.bench.world.sicken("cdu/0/pump1", "pump.speed", Freeze())
            hall.bench.devices[CDU].impairment.silent = True
            lost = await hall.bench.read("modbus.cdu/0.1s")
            assert lost["cdu/0/pump1", "pump.state"].state is State.UNKNOWN  # one that was there is missed
            assert ("cdu/0/pump3", "pump.state") not in lost

    run(story)
