"""Pumps on duty and the pressure difference of a simulated CDU."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sim_hardware.plant.cooling.orders import FailPump, SetPressure
from supernoded.model import Effect
from supernoded.plugin import WireError
from tests.plugins.modbus.benches import run
from tests.plugins.modbus.coolants import CDU, MAPS, open_hall


@pytest.mark.parametrize("cdu", MAPS)
def test_pumps_wait_for_the_valve_and_only_those_on_duty_are_turned(tmp_path: Path, cdu: str) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, cdu) as hall:
            with pytest.raises(WireError, match="waits until the loop of cdu/0/valve has the CDU: control is auto"):
                await hall.now_at("pump")
            await hall.now_at()
            await hall.put(45.0)
            assert await hall.now_at("pump") == pytest.approx(hall.number("pump.command", f"{CDU}/pump0"), abs=0.6)
            hall.take_names()
            await hall.put(70.0, "pump")
            assert hall.take_names() == ["SetPump"]  # one, and no heartbeat
            await hall.hold(45.0, 5)
            assert hall.number("pump.speed", f"{CDU}/pump0") == pytest.approx(70.0)
            assert hall.truth("pump.state", f"{CDU}/pump1") == "off"
            for bad in (0.0, -5.0, float("nan")):
                with pytest.raises(WireError, match="duty pumps are not stopped"):
                    await hall.put(bad, "pump")
            await hall.handle("pump").hand_back(CDU)
            assert hall.truth("coolant.control") == "auto"

    run(story)


def test_pumps_that_are_asked_first_are_taken_as_soon_as_the_valve_is(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            pumps = asyncio.ensure_future(hall.now_at("pump"))
            await asyncio.sleep(1.0)
            await hall.now_at()
            await hall.put(45.0)
            assert await pumps == pytest.approx(hall.number("pump.command", f"{CDU}/pump0"), abs=0.6)

    run(story)


def test_pumps_are_no_heartbeat(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            await hall.put(45.0)
            await hall.now_at("pump")
            refused = [await hall.hold(80.0, 1, "pump") for _ in range(20)]
            assert hall.truth("coolant.control") == "auto"
            assert "waits until" in str(refused[-1])

    run(story)


@pytest.mark.parametrize("cdu", ["rpu", "dcd"])
def test_a_pressure_is_asked_for_and_put_back_as_it_stood(tmp_path: Path, cdu: str) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, cdu, "setpoint") as hall:
            assert await hall.now_at("pressure") == pytest.approx(100.0)
            await hall.put(120.0, "pressure")
            await hall.put(110.0, "pressure")
            hall.check("auto", "coolant.pressure_asked", 110.0)
            assert (await hall.handle("pressure").hand_back(CDU)).effect is Effect.PRESENT
            assert hall.number("coolant.pressure_asked") == pytest.approx(100.0)

    run(story)


def test_a_pressure_that_another_has_changed_is_left_to_him(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, authority="setpoint") as hall:
            await hall.now_at("pressure")
            await hall.put(120.0, "pressure")
            hall.do(SetPressure(CDU, 90.0))
            hall.take_names()
            for _ in range(3):
                with pytest.raises(WireError, match="asked for 90 kPa, and we had written 120"):
                    await hall.put(121.0, "pressure")
            sight = await hall.handle("pressure").hand_back(CDU)
            assert (sight.effect, hall.take_names()) == (Effect.UNKNOWN, [])
            assert "we had written 120" in sight.text

    run(story)


def test_a_takeover_by_the_plc_is_no_other_hand(tmp_path: Path) -> None:
    """The standby comes in for a pump that has tripped: from then on it is turned in its place."""

    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            await hall.hold(45.0, 2)
            await hall.now_at("pump")
            await hall.put(80.0, "pump")
            hall.do(FailPump(CDU, 0, failed=True))
            assert await hall.hold(45.0, 12) == []
            await hall.put(70.0, "pump")
            assert await hall.hold(45.0, 8) == []
            assert hall.truth("pump.state", f"{CDU}/pump1") == "running"
            assert hall.number("pump.speed", f"{CDU}/pump1") == pytest.approx(70.0)

    run(story)
