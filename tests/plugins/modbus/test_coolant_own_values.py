"""What a device makes of a value of ours is not another's hand: rounded, cut off, late, or not to be read for a moment."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from sim_hardware.plant.cooling.orders import SetPressure, SetValve
from sim_hardware.plant.words import Order, Value
from supernoded.plugin import WireError
from tests.plugins.modbus.benches import run
from tests.plugins.modbus.coolants import CDU, Hall, enter_hall, leave_record, open_hall


def bend(monkeypatch: pytest.MonkeyPatch, hall: Hall, change: Callable[[Order], Order | None]) -> None:
    """The device makes something else of an order that comes over the wire, or nothing."""
    world, order = hall.bench.world, hall.bench.world.order

    def take(given: Order) -> None:
        changed = change(given)
        if changed is not None:
            order(changed)

    monkeypatch.setattr(world, "order", take)


def cut_off(order: Order) -> Order:
    """As a register at its stop."""
    if isinstance(order, SetValve) and order.percent > 60.0:
        return SetValve(order.cdu, 60.0)
    return SetPressure(order.cdu, min(order.kilopascals, 110.0)) if isinstance(order, SetPressure) else order


def test_a_valve_that_stops_short_is_told_falls_back_and_is_never_yielded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            assert await hall.hold(45.0, 3) == []
            bend(monkeypatch, hall, cut_off)
            hall.take_names()
            refused = await hall.hold(80.0, 14)
            assert "valve_set shows 60.0 where 80.0 was written; it takes no such value" in refused[0]
            assert all("80 was written and never seen" in one for one in refused[1:])
            assert hall.take_names() == ["SetValve"]
            await asyncio.sleep(2.0)
            assert hall.truth("coolant.control") == "auto"
            assert await hall.hold(55.0, 3) == []  # from where it stands
            hall.check("direct", "coolant.valve_command", 55.0)

    run(story)


def test_a_value_that_shows_only_after_several_puts_is_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            assert await hall.hold(45.0, 3) == []
            loop, order, late = asyncio.get_running_loop(), hall.bench.world.order, list[float]()

            def delay(given: Order) -> None:
                if isinstance(given, SetValve):
                    late.append(given.percent)
                    loop.call_later(2.5, order, given)
                else:
                    order(given)

            monkeypatch.setattr(hall.bench.world, "order", delay)
            refused = [*await hall.hold(46.0, 1), *await hall.hold(47.0, 1), *await hall.hold(48.0, 1), *await hall.hold(49.0, 1)]
            assert late == [46.0, 47.0, 48.0, 49.0]
            assert not any("another hand" in one for one in refused), refused
            monkeypatch.setattr(hall.bench.world, "order", order)
            await asyncio.sleep(3.0)
            assert await hall.hold(50.0, 3) == []

    run(story)


@pytest.mark.parametrize(("name", "shown"), [("coolant.valve_command", math.nan), ("coolant.valve_command", 250.0)])
def test_what_cannot_be_read_for_a_moment_is_nobodys_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, shown: float) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            assert await hall.hold(45.0, 3) == []
            world, sense = hall.bench.world, hall.bench.world.sense

            def garble(subject: str, quantity: str) -> Value:
                return shown if quantity == name else sense(subject, quantity)

            monkeypatch.setattr(world, "sense", garble)
            hall.take_names()
            with pytest.raises(WireError, match="its valve_set cannot be read now; nothing is written"):
                await hall.put(46.0)
            assert hall.take_names() == []
            monkeypatch.setattr(world, "sense", sense)
            assert await hall.hold(46.0, 3) == []

    run(story)


def test_a_heartbeat_that_cannot_be_read_is_neither_yielded_nor_taken_for_given_back(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, authority="setpoint") as hall:
            await hall.now_at("setpoint")
            assert await hall.hold(23.0, 3, "setpoint") == []
            unit = hall.bench.devices[CDU].unit
            field = unit.layout.names["heartbeat"]
            beat = unit.writes.keep(field)
            unit.writes.apply(field, 0xFFFF)
            with pytest.raises(WireError, match="its heartbeat cannot be read now"):
                await hall.put(23.0, "setpoint")
            with pytest.raises(WireError, match="its heartbeat cannot be read now: whose it is is not known"):
                await hall.handle("setpoint").hand_back(CDU)
            unit.writes.apply(field, beat)
            await hall.handle("setpoint").hand_back(CDU)
            assert hall.truth("coolant.control") == "auto"

    run(story)


def test_a_pressure_that_the_unit_cuts_off_can_be_asked_for_again_and_put_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, authority="setpoint") as hall:
            bend(monkeypatch, hall, cut_off)
            flow = hall.bench.actuator("coolant.flow")
            with pytest.raises(WireError, match=r"pressure_set shows 110.0 where 130.0 was written"):
                await flow.apply(hall.act("coolant.flow", amount=130.0))
            await flow.apply(hall.act("coolant.flow", amount=105.0))
            hall.check("auto", "coolant.pressure_asked", 105.0)
            await flow.apply(hall.act("coolant.flow"))
            hall.check("auto", "coolant.pressure_asked", 100.0)

    run(story)


def test_a_life_that_died_between_its_record_and_its_write_is_no_other_hand(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, authority="setpoint") as hall:
            leave_record(tmp_path, '{"pressure_before": 100.0, "pressure_ours": 130.0}')
            async with enter_hall(hall, "n0", tmp_path) as again:
                flow = again.bench.actuator("coolant.flow")
                await flow.apply(again.act("coolant.flow", amount=120.0))
                hall.check("auto", "coolant.pressure_asked", 120.0)
                hall.do(SetPressure(CDU, 100.0))  # from then on it is
                with pytest.raises(WireError, match="another hand is on it"):
                    await flow.apply(again.act("coolant.flow", amount=130.0))
                sight = await flow.observe(again.act("coolant.flow", amount=130.0))
                assert "we had written 120; another hand is on it" in sight.text

    run(story)
