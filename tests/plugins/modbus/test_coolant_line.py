"""A CDU on a poor serial line: a put that raises nothing is so in the plant, and nothing else is a heartbeat."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path

import pytest

from sim_hardware.bus import Line as Bus
from sim_hardware.bus import LineFaults
from supernoded.plugin import WireError
from supernoded_modbus.maps import RegisterMap, load_map
from supernoded_modbus.places import lay_out, list_polled, make_blocks
from tests.plugins.modbus.benches import run
from tests.plugins.modbus.coolants import CDU, UNIT, Hall, open_hall

SECONDS = 12  # under each fault
FAULTS = {
    "none": LineFaults(),
    "lost bytes": LineFaults(drop_bytes=0.01),
    "lost answers": LineFaults(drop_frames=0.3),
    "flipped bits": LineFaults(flip=0.01),
    "two pieces": LineFaults(split_s=0.01),
    "said twice": LineFaults(duplicate=0.6),
    "late": LineFaults(late_s=0.4, late_share=0.3),
    "usb": LineFaults(usb_ms=16.0),
    "silent": LineFaults(silent=frozenset({UNIT})),
    "another id": LineFaults(wrong_unit=frozenset({UNIT})),
    "held": LineFaults(stuck="held"),
    "babble": LineFaults(stuck="babble"),
    "echo": LineFaults(echo=True),
    "poor": LineFaults(late_s=0.4, late_share=0.2, duplicate=0.3, drop_frames=0.1, drop_bytes=0.002),
}
HARMLESS = {"none", "two pieces", "usb"}


def bus(hall: Hall) -> Bus:
    return hall.bench.buses["/bus/cdu0"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_put_is_true_and_only_a_true_one_is_a_heartbeat(tmp_path: Path, fault: str) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, "rpu") as hall:
            dice = random.Random(fault)
            await hall.now_at()
            await hall.put(45.0)
            bus(hall).faults = FAULTS[fault]
            toll, wanted = Counter[str](), 45.0
            for _ in range(SECONDS):
                wanted = float(dice.randrange(30, 60))
                hall.take_names()
                try:
                    await asyncio.wait_for(hall.put(wanted), 3.0)
                except (WireError, TimeoutError) as error:
                    toll["refused"] += 1
                    assert "yielded" not in str(error), error  # a poor line is no second master
                else:
                    toll["done"] += 1
                    hall.check("direct", "coolant.valve_command", wanted)
                names = hall.take_names()
                assert "Beat" not in names or hall.number("coolant.valve_command") == pytest.approx(wanted)
                await asyncio.sleep(1.0)
            if fault in HARMLESS:
                assert toll["done"] == SECONDS
            bus(hall).faults = LineFaults()
            await asyncio.sleep(25.0)
            assert await hall.hold(50.0, 3) == []
            assert hall.number("coolant.valve_command") == pytest.approx(50.0)

    run(story)


def test_a_write_whose_answer_was_lost_is_no_second_master(tmp_path: Path) -> None:
    """It has landed and nobody knows: the next put finds the old or the new value, and both are ours."""

    async def story() -> None:
        async with open_hall(tmp_path, "rpu") as hall:
            await hall.now_at()
            await hall.put(45.0)
            for wanted in (50.0, 40.0, 55.0):
                bus(hall).faults = LineFaults(late_s=5.0)
                with pytest.raises(WireError, match="no answer"):
                    await hall.put(wanted)
                bus(hall).faults = LineFaults()
                await asyncio.sleep(1.0)
                await hall.put(wanted + 1.0)
                assert hall.number("coolant.valve_command") == pytest.approx(wanted + 1.0)

    run(story)


def test_what_its_sensors_read_on_a_poor_line_is_right_or_nothing(tmp_path: Path) -> None:
    async def story() -> int:
        good = 0
        async with open_hall(tmp_path, "rpu") as hall:
            for faults in FAULTS.values():
                bus(hall).faults = faults
                for _ in range(3):
                    seen = await hall.bench.read("modbus.cdu/0.1s")
                    reading = seen[CDU, "coolant.return_temperature"]
                    good += reading.value is not None
                    assert reading.value is None or reading.value == pytest.approx(hall.number("coolant.return_temperature"), abs=0.3)
                    await asyncio.sleep(1.0)
        return good

    assert run(story) > len(FAULTS)


def test_a_cdu_that_is_dead_takes_a_tenth_of_its_line_however_often_its_loop_asks(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, "rpu") as hall:
            await hall.now_at()
            await hall.put(45.0)
            bus(hall).faults = LineFaults(silent=frozenset({UNIT}))
            await hall.hold(45.0, 20)
            begun = bus(hall).record.counts["frames"]
            refused = await hall.hold(45.0, 60)
            assert len(refused) == 60
            assert bus(hall).record.counts["frames"] - begun < 0.1 * 60 / 0.3
            bus(hall).faults = LineFaults()
            await hall.hold(45.0, 30)
            assert hall.truth("coolant.control") == "direct"

    run(story)


# how much of the line's time it takes


def time_polls(found: RegisterMap, turnaround_s: float) -> float:
    """Seconds of the wire that a second of polls takes at 19200 baud, when all periods fall together: 11 bits a byte."""
    polled = list_polled(lay_out(found, CDU, branches=[f"n{place}" for place in range(8)]))
    total = 0.0
    for period in {place.row.refresh_s for place in polled}:
        blocks = make_blocks([place for place in polled if place.row.refresh_s == period], found)
        total += sum(take(8 + 5 + 2 * block.size, turnaround_s) for block in blocks)
    return total


def take(count: int, turnaround_s: float) -> float:
    return (count * 11 + 2 * 3.5 * 11) / 19200 + turnaround_s


def test_polls_and_a_step_of_a_loop_fit_well_inside_a_second_at_19200_baud() -> None:
    """With the 20 ms that a slow unit takes to answer; a step is three looks, a write and a heartbeat, each read back."""
    step = sum(take(count, 0.02) for count in (8 + 7, 8 + 7, 8 + 11, 11 + 8, 8 + 7, 11 + 8, 8 + 7))
    polls = time_polls(load_map("rpu"), 0.02)
    assert polls < 0.5
    assert step < 0.25
    assert polls + step < 0.75


def test_the_line_of_a_steered_cdu_is_busy_for_a_third_of_its_time_at_most(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_hall(tmp_path, "rpu") as hall:
            names = [name for name in hall.bench.sensors if name.startswith("modbus.cdu/0")]
            await hall.now_at()
            begun = bus(hall).record.counts["bytes"]
            for second in range(20):
                for name in names:
                    if second % round(hall.bench.sensors[name].period) == 0:
                        await hall.bench.read(name)
                await hall.put(40.0 + second)
                await asyncio.sleep(1.0)
            busy = (bus(hall).record.counts["bytes"] - begun) * 10 / 19200
            assert busy / 20 < 0.3

    run(story)
