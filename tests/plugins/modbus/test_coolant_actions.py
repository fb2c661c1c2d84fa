"""Flow of a loop and branches of nodes: performed, judged by what the CDU shows, put back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest

from sim_hardware.plant.cooling.orders import CloseBranch, FailPump, SetPressure
from sim_hardware.rack import Rack
from supernoded.model import Effect
from supernoded.parts import Actuator
from supernoded.plugin import WireError
from supernoded_modbus.coolant.flowing import judge_flow
from supernoded_modbus.coolant.record import Kept
from tests.plugins.modbus.benches import open_bench, run
from tests.plugins.modbus.coolants import CDU, MAPS, Hall, enter_hall, leave_record, open_hall, place_record


def actuator(hall: Hall, kind: str) -> Actuator:
    return hall.bench.actuator(kind)


async def flow(hall: Hall, amount: float | None) -> None:
    await actuator(hall, "coolant.flow").apply(hall.act("coolant.flow", amount=amount))


async def look(hall: Hall, amount: float | None) -> tuple[Effect, str]:
    sight = await actuator(hall, "coolant.flow").observe(hall.act("coolant.flow", amount=amount))
    return sight.effect, sight.text


@pytest.mark.parametrize("cdu", ["rpu", "dcd"])
def test_more_flow_is_asked_for_once_seen_and_put_back(tmp_path: Path, cdu: str) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, cdu, "setpoint") as hall:
            assert (await look(hall, 108.0))[0] is Effect.ABSENT
            before = hall.number("coolant.flow")
            hall.take_names()
            await flow(hall, 108.0)
            await flow(hall, 108.0)
            assert hall.take_names() == ["SetPressure"]
            effect, text = await look(hall, 108.0)
            assert (effect, "asked for 108 kPa, and shows 1" in text) == (Effect.UNKNOWN, True)  # the pumps have not followed yet
            await asyncio.sleep(20.0)
            effect, text = await look(hall, 108.0)
            assert (effect, "asked for 108 kPa, and shows 10" in text) == (Effect.PRESENT, True)
            assert hall.number("coolant.flow") > before * 1.03
            await flow(hall, 150.0)  # more than it has; and of a second step the first is not what stood before
            await asyncio.sleep(20.0)
            effect, text = await look(hall, 150.0)
            assert (effect, "all it has; it is asked for 150 kPa" in text) == (Effect.PRESENT, True)
            assert (await look(hall, None))[0] is Effect.ABSENT
            await flow(hall, None)
            assert (await look(hall, None))[0] is Effect.PRESENT
            assert hall.number("coolant.pressure_asked") == pytest.approx(100.0)

    run(story)


def test_a_loop_and_an_action_at_once_keep_one_record(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, "dcd", "setpoint") as hall:
            await hall.now_at("setpoint")
            await asyncio.gather(hall.put(23.0, "setpoint"), flow(hall, 120.0))
            kept = msgspec.json.decode(place_record(tmp_path).read_bytes(), type=Kept)
            assert (kept.control, kept.pressure_before, kept.pressure_ours) == ("setpoint", 100.0, 120.0)
            assert kept.token > 0
            assert await hall.hold(23.0, 3, "setpoint") == []

    run(story)


def test_what_stood_before_is_known_after_a_restart(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, authority="setpoint") as hall:
            hall.do(SetPressure(CDU, 90.0))
            await flow(hall, 130.0)
            async with enter_hall(hall, "n0", tmp_path) as again:
                assert (await look(again, None))[0] is Effect.ABSENT
                await flow(again, None)
                assert hall.number("coolant.pressure_asked") == pytest.approx(90.0)
                hall.take_names()
                await flow(again, None)  # nothing of ours stands any more
                assert hall.take_names() == []

    run(story)


def test_a_damaged_record_cannot_say_what_stood_before(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, authority="setpoint") as hall:
            leave_record(tmp_path, "{")
            effect, text = await look(hall, None)
            assert effect is Effect.UNKNOWN
            assert "cdu/0.json in the state folder is no record of a CDU" in text
            await flow(hall, 130.0)
            await flow(hall, None)
            assert (await look(hall, None))[0] is Effect.PRESENT

    run(story)


def test_a_pressure_that_another_has_changed_is_not_written_over(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, authority="setpoint") as hall:
            await flow(hall, 130.0)
            hall.do(SetPressure(CDU, 80.0))
            hall.take_names()
            for amount in (140.0, None):
                with pytest.raises(WireError, match="asked for 80 kPa, and we had written 130"):
                    await flow(hall, amount)
            assert (await look(hall, None))[0] is Effect.UNKNOWN
            assert hall.take_names() == []

    run(story)


def test_what_the_cdu_refuses_is_an_error_and_stands_nowhere(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, authority="setpoint") as hall:
            with pytest.raises(WireError, match="exception 4"):
                await flow(hall, 400.0)
            with pytest.raises(WireError, match="pressure_set takes 0 to 500 kPa"):
                await flow(hall, float("nan"))
            assert (await look(hall, 400.0))[0] is Effect.ABSENT
            await flow(hall, None)
            assert hall.number("coolant.pressure_asked") == pytest.approx(100.0)

    run(story)


def test_a_pump_that_fails_is_no_flow(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, authority="setpoint") as hall:
            for pump in (0, 1):
                hall.do(FailPump(CDU, pump, failed=True))
            await asyncio.sleep(20.0)
            await flow(hall, 130.0)
            effect, text = await look(hall, 130.0)
            assert (effect, text) == (Effect.UNKNOWN, "it is asked for 130 kPa, and 0 L/min flow")

    run(story)


def test_under_direct_control_the_duty_pumps_are_sped_up(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            await hall.hold(45.0, 2)
            before = hall.number("pump.speed", f"{CDU}/pump0")
            await flow(hall, 110.0)
            assert await hall.hold(45.0, 10) == []
            assert hall.number("pump.speed", f"{CDU}/pump0") == pytest.approx(before * (110.0 / 100.0) ** 0.5, rel=0.01)
            assert (await look(hall, 110.0))[0] is Effect.PRESENT
            await flow(hall, None)
            assert await hall.hold(45.0, 10) == []
            assert hall.number("pump.speed", f"{CDU}/pump0") == pytest.approx(before, rel=0.02)
            assert (await look(hall, None))[0] is Effect.PRESENT

    run(story)


def test_pumps_that_a_loop_turns_are_left_to_it(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            await hall.now_at()
            await hall.put(45.0)
            await hall.now_at("pump")
            await hall.put(90.0, "pump")
            hall.take_names()
            await flow(hall, 110.0)
            assert hall.take_names() == ["SetPressure"]
            await hall.put(91.0, "pump")

    run(story)


@pytest.mark.parametrize(
    ("asked", "shown", "flows", "speed", "effect"),
    [
        (100.0, 95.0, 800.0, 90.0, Effect.PRESENT),
        (100.0, 89.0, 800.0, 90.0, Effect.UNKNOWN),
        (100.0, 89.0, 800.0, 99.0, Effect.PRESENT),
        (100.0, 111.0, 800.0, 99.0, Effect.UNKNOWN),
        (20.0, 22.0, 800.0, 90.0, Effect.PRESENT),
        (100.0, 100.0, 0.0, 99.0, Effect.UNKNOWN),
        (100.0, 89.0, -30.0, 99.0, Effect.UNKNOWN),
        (100.0, float("nan"), 800.0, 90.0, Effect.PRESENT),
        (100.0, 100.0, float("nan"), float("nan"), Effect.PRESENT),
        (100.0, float("nan"), float("nan"), 99.0, Effect.UNKNOWN),
    ],
)
def test_how_flow_is_judged(asked: float, shown: float, flows: float, speed: float, effect: Effect) -> None:
    assert judge_flow(asked, shown, flows, speed).effect is effect


# branches


@pytest.mark.parametrize("cdu", MAPS)
def test_a_branch_is_closed_and_opened_by_its_valve(tmp_path: Path, cdu: str) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, cdu, "setpoint") as hall:
            for kind, closed in (("coolant.close", 1.0), ("coolant.open", 0.0)):
                action = hall.act(kind, "n0")
                assert (await actuator(hall, kind).observe(action)).effect is Effect.ABSENT
                await actuator(hall, kind).apply(action)
                assert (await actuator(hall, kind).observe(action)).effect is Effect.PRESENT
                assert hall.truth("coolant.closed", "n0") == closed
                await asyncio.sleep(1.0)
                seen = (await hall.bench.read("modbus.cdu/0.2s"))["n0", "coolant.branch"]
                assert seen.value == 1.0 - closed

    run(story)


def widen(rack: Rack) -> Rack:
    """The topology that the daemon has: a node more than hang on the CDU."""
    return msgspec.structs.replace(rack, nodes=(*rack.nodes, msgspec.structs.replace(rack.nodes[0], name="n7")))


@pytest.mark.parametrize("cdu", MAPS)
def test_a_wrong_count_of_branches_turns_none(tmp_path: Path, cdu: str) -> None:
    """One whose registers between others read 0 would show the branch that is not there as open."""

    async def story() -> None:
        async with open_bench(tmp_path, cdu=cdu, change=widen) as bench:
            hall = Hall(bench)
            for node in ("n0", "n7"):
                with pytest.raises(WireError, match=r"it has 1 branches, and its loop cdu0 in the topology 2 nodes.*none is turned"):
                    await actuator(hall, "coolant.close").apply(hall.act("coolant.close", node))
            assert hall.truth("coolant.closed", "n0") == 0.0

    run(story)


def test_a_branch_closes_also_where_the_supply_sensor_is_warned_of(tmp_path: Path) -> None:
    """A leak may take the sensor with it; the map is proven by what is shown all the same."""

    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            hall.bench.devices[CDU].impairment.alarms = frozenset({"supply-sensor", "leak-sensor"})
            await actuator(hall, "coolant.close").apply(hall.act("coolant.close", "n0"))
            assert hall.truth("coolant.closed", "n0") == 1.0

    run(story)


def test_a_branch_that_another_has_closed_is_seen(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path) as hall:
            hall.do(CloseBranch("n0", closed=True))
            sight = await actuator(hall, "coolant.close").observe(hall.act("coolant.close", "n0"))
            assert (sight.effect, sight.text) == (Effect.PRESENT, "its branch at cdu/0 is closed")

    run(story)
