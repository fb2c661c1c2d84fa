"""The fan loop on the simulated air of a node: it holds, does not hunt, and is never worse than the BMC it took the fans from."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sim_hardware.plant import cooling
from sim_hardware.plant.cooling.orders import StopFan
from supernoded.model import Reading
from tests.plugins.thermal.node.room import PARTS, Room, read

LIMITS = {"optics": 70.0, "nic": 85.0, "vrm": 110.0, "dimm": 85.0}


def lose(*subjects: str) -> Callable[[Reading], Reading]:
    return lambda one: read(one.subject, one.quantity, None, one.at, "EIO") if one.subject in subjects and "temper" in one.quantity else one


def show(subject: str, value: float) -> Callable[[Reading], Reading]:
    return lambda one: (
        read(one.subject, one.quantity, value, one.at) if (one.subject, one.quantity) == (subject, "card.temperature") else one
    )


def assert_parts_are_well(room: Room) -> None:
    assert "part.overheated" not in room.told
    assert all(room.sense("n0", f"air.temperature.{part}") < LIMITS[part] for part in PARTS)


@pytest.mark.parametrize("air_cooled", [False, True])
def test_it_takes_over_without_a_bump_and_keeps_still(air_cooled: bool) -> None:
    room = Room(air_cooled=air_cooled)
    room.watch(60.0)
    before = room.sense("n0/fan0", "fan.duty")
    room.steer(1200.0)
    assert room.put[0] == pytest.approx(before, abs=2.0)
    assert len(set(room.put[150:])) == 1  # after 300 s nothing moves
    assert set(room.notes) == {""}
    assert_parts_are_well(room)


@pytest.mark.parametrize("air_cooled", [False, True])
def test_a_step_of_load_is_held_as_well_as_by_the_bmc(air_cooled: bool) -> None:
    peaks = []
    for steers in (False, True):
        room, hottest = Room(air_cooled=air_cooled, load=0.4), 0.0
        room.watch(60.0)
        room.load = 1.0
        for _ in range(90):
            (room.steer if steers else room.watch)(10.0)
            hottest = max(hottest, room.sense("n0", "air.temperature.optics"))
        peaks.append(hottest)
        assert_parts_are_well(room)
    assert peaks[1] <= peaks[0] + 1.0


@pytest.mark.parametrize("half_s", [20.0, 60.0, 180.0])
def test_a_square_load_makes_no_limit_cycle(half_s: float) -> None:
    room = Room(air_cooled=True, load=1.0)
    room.watch(300.0)
    for number in range(int(1440.0 / half_s)):
        room.load = 0.4 if number % 2 else 1.0
        room.steer(half_s)
    earlier, later = room.put[240:480], room.put[480:]
    assert max(later) - min(later) <= max(earlier) - min(earlier) + 1.0
    assert max(later) <= 50.0
    room.load, end = 1.0, len(room.put)
    room.steer(600.0)
    assert len(set(room.put[end + 200 :])) <= 2
    assert_parts_are_well(room)


def test_one_of_128_sensors_at_150_c_does_nothing() -> None:
    room = Room(air_cooled=True)
    room.steer(400.0)
    before = room.put[-1]
    room.spoil = show("n0/card3", 150.0)
    room.steer(120.0)
    assert set(room.put[200:]) == {before}
    assert "n0/card3 shows 150 C and draws 600 W" in room.notes[-1]
    assert "voted out" not in room.notes[-1]


@pytest.mark.parametrize(
    ("lost", "least", "why"),
    [
        (("n0/sensor/optics",), 70.0, "at 70 % at least: optics are not read (host.temperature of n0/sensor/optics: EIO)"),
        (("n0/sensor/dimm",), 60.0, "at 60 % at least: parts are not read (host.temperature of n0/sensor/dimm: EIO)"),
        (("n0/card3",), 80.0, "at 80 % at least: dies are not read (card.temperature of n0/card3: EIO)"),
        (
            (*(f"n0/sensor/{part}" for part in PARTS), *(f"n0/card{slot}" for slot in range(8))),
            100.0,
            "at 100 % at least: no temperature of n0 is known",
        ),
    ],
)
def test_what_is_lost_has_a_floor_of_its_own_and_it_is_said(lost: tuple[str, ...], least: float, why: str) -> None:
    room = Room(air_cooled=True)
    room.watch(300.0)
    room.steer(50.0)
    before, room.spoil = room.put[-1], lose(*lost)
    room.steer(18.0)
    assert room.put[-1] == before
    assert room.notes[-1].startswith("by the last good reading of")
    room.steer(60.0)
    assert (room.put[-1], room.notes[-1]) == (least, why)
    room.spoil = lambda one: one
    room.steer(900.0)
    assert room.put[-1] <= before + 6.0
    assert room.notes[-1] == ""


def test_a_die_that_is_frozen_is_not_believed() -> None:
    room = Room(air_cooled=True, load=0.4)
    room.steer(100.0)
    room.spoil = show("n0/card3", 45.0)
    room.steer(40.0)
    room.load = 1.0
    room.steer(60.0)
    assert "n0/card3 has stayed at 45 C while its power moved by 360 W: frozen" in room.notes[-1]
    assert room.put[-1] == 80.0


def test_a_failed_fan_speeds_the_others_up() -> None:
    room = Room()
    room.steer(100.0)
    room.state = cooling.apply(room.state, StopFan("n0", 2, stopped=True))
    room.steer(60.0)
    assert (room.put[-1], room.notes[-1]) == (70.0, "at 70 % at least: n0/fan2 failed")
    room.state = cooling.apply(room.state, StopFan("n0", 5, stopped=True))
    room.steer(60.0)
    assert room.put[-1] == 100.0


def test_after_a_shed_they_come_back_calmly() -> None:
    room = Room()
    room.steer(300.0)
    before, room.is_live = room.put[-1], False
    room.steer(10.0)
    room.is_live = True
    room.steer(120.0)
    assert max(room.put[150:]) <= before + 12.0
    assert not any("failed" in note for note in room.notes)
    assert_parts_are_well(room)


def test_a_long_loss_of_their_power_winds_nothing_up() -> None:
    room = Room()
    room.steer(300.0)
    before, room.is_live = room.put[-1], False
    room.steer(40.0)
    assert room.put[-1] == before
    assert room.notes[-1] == "at its last duty: all fans of n0 stand, their power is away"


@pytest.mark.parametrize("shown", [0.0, -40.0])
def test_a_broken_sensor_is_never_a_cold_one(shown: float) -> None:
    room = Room()
    room.steer(100.0)
    room.spoil = lambda one: read(one.subject, one.quantity, shown, one.at) if one.subject == "n0/sensor/optics" else one
    room.steer(60.0)
    assert room.put[-1] == 70.0
    assert f"n0/sensor/optics shows {shown:g} C" in room.notes[-1]
