"""Whose a CDU is: two nodes, two lives, other hands (safety rules 1, 15, 16)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from sim_hardware.plant.cooling.orders import AddMaster, Beat, SetControl, SetPump, SetTemperature, SetValve
from sim_hardware.plant.words import Order
from supernoded.model import Effect
from supernoded.plugin import WireError
from tests.plugins.modbus.benches import run
from tests.plugins.modbus.coolants import CDU, MAPS, Hall, enter_hall, leave_record, make_folder, open_hall, place_record

YIELDED = "another hand is on it and it is yielded"


@pytest.mark.parametrize("cdu", ["dcd", "plc"])
def test_another_node_waits_for_the_watchdog_and_starts_from_where_it_stands(tmp_path: Path, cdu: str) -> None:
    async def story() -> None:
        async with open_hall(make_folder(tmp_path, "n0"), cdu) as first, enter_hall(first, "n1", make_folder(tmp_path, "n1")) as second:
            await first.now_at()
            await first.hold(55.0, 5)
            for _ in range(13):  # the first has died
                with pytest.raises(WireError, match=r"another hand is on it: control is direct, and its watchdog has \d.*not this daemon"):
                    await second.now_at()
                await asyncio.sleep(1.0)
            await asyncio.sleep(2.0)
            assert first.truth("coolant.control") == "auto"
            assert await second.now_at() == pytest.approx(first.number("coolant.valve"), abs=0.06)
            assert await second.hold(50.0, 20) == []
            assert first.truth("coolant.control") == "direct"

    run(story)


def test_who_comes_back_late_neither_writes_nor_beats(tmp_path: Path) -> None:
    """Its pen still writes, as if a lease had been misjudged: what the CDU shows is enough."""

    async def story() -> None:
        async with open_hall(make_folder(tmp_path, "n0")) as first, enter_hall(first, "n1", make_folder(tmp_path, "n1")) as second:
            await first.now_at()
            await first.hold(55.0, 3)
            await asyncio.sleep(16.0)
            await second.now_at()
            await second.hold(50.0, 3)
            first.take_names()
            for _ in range(2):
                with pytest.raises(WireError, match=r"its heartbeat reads .* which is not ours"):
                    await first.put(70.0)
            assert (await first.handle("valve").hand_back(CDU)).effect is Effect.UNKNOWN
            with pytest.raises(WireError, match="another hand is on it"):
                await first.now_at()
            assert first.take_names() == []
            assert await second.hold(51.0, 20) == []
            assert first.number("coolant.valve_command") == pytest.approx(51.0)

    run(story)


@pytest.mark.parametrize("cdu", MAPS)
def test_the_same_node_takes_its_own_again_at_once(tmp_path: Path, cdu: str) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, cdu) as hall:
            await hall.now_at()
            await hall.hold(55.0, 5)
            async with enter_hall(hall, "n0", tmp_path) as again:
                assert await again.now_at() == pytest.approx(55.0, abs=0.06)
                hall.take_names()
                assert await again.hold(55.0, 20) == []
                assert set(hall.take_names()) == {"Beat"}
                assert hall.truth("coolant.control") == "direct"

    run(story)


def test_a_node_that_dies_between_its_writes_is_not_trusted_by_itself(tmp_path: Path) -> None:
    """Engaged and no heartbeat yet: the next life cannot tell, and waits for the watchdog like anybody."""

    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            leave_record(tmp_path, '{"token": 7, "control": "direct", "fallback": 22.0}')
            hall.do(SetControl(CDU, "direct"))
            with pytest.raises(WireError, match="another hand is on it"):
                await hall.now_at()
            await asyncio.sleep(16.0)
            await hall.now_at()
            assert await hall.hold(50.0, 3) == []

    run(story)


def test_a_damaged_record_is_nobodys(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            await hall.hold(55.0, 2)
            place_record(tmp_path).write_text('{"token": 1')
            async with enter_hall(hall, "n0", tmp_path) as again:
                with pytest.raises(WireError, match="another hand is on it"):
                    await again.now_at()
                await asyncio.sleep(16.0)
                await again.now_at()
                assert await again.hold(50.0, 3) == []
                assert json.loads(place_record(tmp_path).read_text())["control"] == "direct"

    run(story)


async def tell_yielded(hall: Hall) -> object:
    return (await hall.bench.read("modbus.cdu/0.yielded"))[CDU, "coolant.yielded"].value


async def see_yielded(hall: Hall, name: str, reason: str, value: float) -> None:
    """Every put names both values, nothing is written, and the watchdog has the CDU back."""
    hall.take_names()
    refused = await hall.hold(value, 20, name)
    assert len(refused) == 20
    assert all(reason in one and YIELDED in one for one in refused), refused[0]
    assert "Beat" not in hall.take_names()
    assert hall.truth("coolant.control") == "auto"
    assert await tell_yielded(hall) == 1.0


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        (SetValve(CDU, 80.0), "its valve reads 80 %, and we had written 45"),
        (SetControl(CDU, "setpoint"), "control is setpoint, and we had set direct"),
        (SetControl(CDU, "auto"), "control is auto, and we had set direct"),
    ],
)
def test_a_valve_that_another_has_turned_is_yielded_until_it_is_handed_back(tmp_path: Path, order: Order, reason: str) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            assert await hall.hold(45.0, 3) == []
            hall.do(order)
            assert await tell_yielded(hall) == 0.0
            await see_yielded(hall, "valve", reason, 46.0)
            assert (await hall.handle("valve").hand_back(CDU)).effect is Effect.PRESENT
            assert await tell_yielded(hall) == 0.0
            await hall.now_at()
            assert await hall.hold(46.0, 3) == []

    run(story)


def test_a_cdu_that_was_away_and_starts_anew_is_taken_again(tmp_path: Path) -> None:
    """Its PLC has lost its power for a moment and begins with its own control: that was nobody's hand."""

    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            assert await hall.hold(45.0, 3) == []
            hall.silence(silent=True)
            hall.do(SetControl(CDU, "auto"))
            refused = await hall.hold(45.0, 3)
            assert len(refused) == 3
            assert all("no answer" in one for one in refused)
            hall.silence(silent=False)
            await asyncio.sleep(1.0)
            assert await hall.hold(45.0, 3) == []
            assert hall.truth("coolant.control") == "direct"

    run(story)


def test_a_setpoint_that_another_writes_every_second_is_not_fought_over(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, authority="setpoint") as hall:
            await hall.now_at("setpoint")
            assert await hall.hold(22.5, 3, "setpoint") == []
            hall.do(AddMaster(CDU, 27.5))
            await asyncio.sleep(1.5)
            await see_yielded(hall, "setpoint", "its setpoint reads 27.5 C, and we had written 22.5", 22.5)
            assert hall.number("coolant.setpoint") == pytest.approx(22.0)

    run(story)


def test_pumps_that_another_turns_end_the_engagement_of_the_valve_too(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            await hall.hold(45.0, 2)
            await hall.now_at("pump")
            await hall.put(80.0, "pump")
            hall.do(SetPump(CDU, 0, 60.0))
            with pytest.raises(WireError, match="pump 0 reads 60 %, and we had written 80"):
                await hall.put(81.0, "pump")
            await see_yielded(hall, "valve", "pump 0 reads 60 %", 45.0)

    run(story)


def test_what_was_yielded_is_not_taken_by_the_next_life_either(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, authority="setpoint") as hall:
            await hall.now_at("setpoint")
            await hall.hold(22.5, 3, "setpoint")
            hall.do(SetTemperature(CDU, 25.0))
            assert len(await hall.hold(22.5, 1, "setpoint")) == 1
            async with enter_hall(hall, "n0", tmp_path) as again:
                hall.do(Beat(CDU))  # the other keeps it
                with pytest.raises(WireError, match=r"it was yielded: .* reads 25 C, and we had written 22\.5"):
                    await again.now_at("setpoint")
                await asyncio.sleep(16.0)  # and no more
                await again.now_at("setpoint")
                assert await again.hold(22.5, 2, "setpoint") == []

    run(story)


def test_a_cdu_in_other_hands_gets_neither_pressure_nor_flow(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, authority="setpoint") as hall:
            hall.do(SetControl(CDU, "direct"))
            hall.take_names()
            flow = next(one for one in hall.bench.actuators if "coolant.flow" in one.kinds)
            refusals: list[Callable[[], Awaitable[object]]] = [
                lambda: hall.now_at("pressure"),
                lambda: hall.put(120.0, "pressure"),
                lambda: flow.apply(hall.act("coolant.flow", amount=120.0)),
            ]
            for refused in refusals:
                with pytest.raises(WireError, match="another hand is on it"):
                    await refused()
            assert hall.take_names() == []

    run(story)
