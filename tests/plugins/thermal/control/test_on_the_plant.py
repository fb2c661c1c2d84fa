"""The valve's loop on the reference plant: what is judged is the real supply, not a gauge."""

from collections.abc import Callable, Sequence
from functools import cache

import msgspec
import pytest

from benchmarks.commissioning import commission
from benchmarks.controllers import Ours
from benchmarks.cooled import LOOP, Plant, Telling, find_design
from sim_hardware.plant import cooling
from sim_hardware.plant.cooling.orders import Foul, Humidify, LosePrimary, ShiftPrimary, StickValve
from sim_hardware.plant.words import Order
from supernoded.plugin import Reading, Setpoint
from supernoded.plugin import State as Worth
from supernoded_thermal.control.commissioning import Commissioning

SUPPLY, RETURN, VALVE = "coolant.supply_temperature", "coolant.return_temperature", "coolant.valve"
Change = Callable[[float, Sequence[Reading]], Sequence[Reading]]


@cache
def get_data(plant: str = "reference") -> Commissioning:
    return commission(find_design(plant)[1])


class Hall:
    """A plant and the loop that turns its valve; `change` is what is wrong with its gauges."""

    def __init__(self, plant: str = "reference", data: Commissioning | None = None, change: Change = lambda _, read: read) -> None:
        self.plant = Plant(find_design(plant)[1], Telling())
        self.ours = Ours(self.plant.take_over(), data or get_data(plant))
        self.change, self.began = change, self.plant.state.at
        self.supply, self.told, self.notes = list[float](), list[float | None](), list[str]()

    def go(self, seconds: int, megawatts: float = 0.8, order: Order | None = None, hand: float | None = None) -> "Hall":
        self.plant.megawatts = megawatts
        if order is not None:
            self.plant.state = cooling.apply(self.plant.state, order)
        for _ in range(seconds):
            self.plant.pass_half()
            self._turn(hand)
            self.plant.pass_half()
            self.supply.append(self.plant.sense("coolant.true_supply_temperature"))
            self.ours.take(self.change(self.plant.state.at - self.began, self.plant.poll()))
        return self

    def _turn(self, hand: float | None) -> None:
        ours, now = self.ours, self.plant.state.at
        if hand is None:
            value = ours.step(now)
        else:
            ours.memory, told = ours.loop.hold(ours.history.view(now, ours.loop.watches), ours.memory, hand)
            value = None if told is None else told.value
        self.told.append(value)
        self.notes.append(ours.note)
        if value is not None:
            self.plant.put(value)

    def worst(self, since: int = 0, until: int | None = None) -> float:
        return max(abs(celsius - 22.0) for celsius in self.supply[since:until])


def lose(quantity: str, value: float | None = None, since: float = 50.0) -> Change:
    """A gauge that is unknown from then on, or stands at a value."""
    worth = Worth.UNKNOWN if value is None else Worth.GOOD

    def change(at: float, readings: Sequence[Reading]) -> Sequence[Reading]:
        return [msgspec.structs.replace(r, value=value, state=worth) if r.quantity == quantity and at >= since else r for r in readings]

    return change


def test_a_megawatt_up_and_down_stays_within_015() -> None:
    hall = Hall().go(60).go(240, 1.6).go(240, 0.4)
    assert hall.worst() <= 0.15
    assert set(hall.notes[5:]) == {""}


@pytest.mark.parametrize("quantity", [SUPPLY, RETURN, "coolant.primary_temperature", "coolant.flow", VALVE, "card.power"])
def test_a_lost_gauge_is_said_and_the_step_is_held_all_the_same(quantity: str) -> None:
    hall = Hall(change=lose(quantity)).go(100).go(200, 1.6).go(200, 0.4)
    assert hall.worst() <= 0.35
    assert hall.notes[-1] != ""


def test_both_lost_is_silence() -> None:
    def change(at: float, readings: Sequence[Reading]) -> Sequence[Reading]:
        return lose(SUPPLY)(at, lose(RETURN)(at, readings))

    hall = Hall(change=change).go(80)
    assert hall.told[45] is not None
    assert hall.told[60:] == [None] * 20


@pytest.mark.parametrize("stands", [22.1, 21.0, 23.0])
def test_a_frozen_supply_sensor_is_found_out_and_the_supply_stays_where_cards_are_well(stands: float) -> None:
    hall = Hall(change=lose(SUPPLY, stands)).go(500)
    assert "contradict" in hall.notes[-1]
    assert min(hall.supply) > 14.0
    assert max(hall.supply) < 28.0
    assert hall.worst(since=400) < 1.0


@pytest.mark.parametrize("stands", [18.0, 24.0, 33.0])
def test_a_return_that_lies_does_not_put_the_blame_on_the_supply(stands: float) -> None:
    hall = Hall(change=lose(RETURN, stands)).go(500)
    assert not any("contradict" in note for note in hall.notes)
    assert hall.worst() < 4.0
    assert hall.worst(since=400) < 0.1


@pytest.mark.parametrize("stands", [18.0, 21.0, 33.0])
def test_two_supply_sensors_that_agree_are_believed_against_a_return_that_lies(stands: float) -> None:
    def change(at: float, readings: Sequence[Reading]) -> Sequence[Reading]:
        second = [msgspec.structs.replace(r, quantity="coolant.supply_temperature.2") for r in readings if r.quantity == SUPPLY]
        return [*lose(RETURN, stands)(at, readings), *second]

    hall = Hall(change=change).go(400)
    assert not any("contradict" in note for note in hall.notes)
    assert hall.worst(since=300) < 0.3


def test_frozen_valve_feedback_is_a_lie_that_nothing_is_integrated_against() -> None:
    hall = Hall(change=lose(VALVE, 25.0)).go(100).go(250, 1.6).go(250, 0.4)
    assert hall.worst() <= 0.3
    assert any("does not follow" in note for note in hall.notes)


def test_a_valve_that_was_stuck_comes_back_without_having_wound_up() -> None:
    hall = Hall().go(50).go(200, 1.6, StickValve(LOOP, 25.0)).go(200, 1.6, StickValve(LOOP, None))
    assert hall.worst(until=250) > 2.0
    assert hall.worst(since=330) < 0.3
    assert min(hall.supply[250:]) > 21.0


@pytest.mark.parametrize("order", [ShiftPrimary(LOOP, 3.0), ShiftPrimary(LOOP, 0.0, -40.0), Foul(LOOP, 0.3)])
def test_what_the_primary_side_does_is_made_up_for(order: Order) -> None:
    hall = Hall().go(50).go(250, 0.8, order)
    assert hall.worst() < 0.5
    assert hall.worst(since=250) < 0.15


def test_primary_water_that_is_lost_for_two_minutes_leaves_no_overcooling() -> None:
    hall = Hall().go(50).go(120, 0.8, LosePrimary(LOOP, True)).go(300, 0.8, LosePrimary(LOOP, False))
    assert min(hall.supply) > 20.5
    assert hall.worst(since=420) < 0.3


def test_a_humid_hall_lifts_the_supply_and_never_below_the_floor() -> None:
    hall = Hall().go(50).go(200, 0.8, Humidify(22.0)).go(100, 1.6)
    assert min(hall.supply[200:]) > 23.8  # 24 is the floor, 22 condenses
    assert max(hall.supply[200:]) < 24.5


def test_by_hand_and_back_there_is_no_bump() -> None:
    hall = Hall().go(50)
    stood = hall.plant.sense(VALVE)
    hall.go(60, hand=stood + 2.0).go(120)
    assert hall.worst() < 0.45
    assert max(abs(after - before) for before, after in zip(hall.supply[110:], hall.supply[111:], strict=False)) < 0.1
    assert hall.worst(since=200) < 0.15


def test_another_takes_over_in_the_middle_of_a_step() -> None:
    hall = Hall().go(50).go(25, 1.6)
    stands = hall.plant.sense(VALVE)
    fresh = Ours(stands, get_data())
    fresh.take(hall.plant.poll())
    hall.ours = fresh
    hall.go(200, 1.6)
    assert hall.worst() <= 0.3


def test_the_delay_is_learned_from_the_first_front() -> None:
    slow = find_design("reference")[1]
    far = msgspec.structs.replace(slow, piping=msgspec.structs.replace(slow.piping, return_s=26.0))
    hall = Hall()
    hall.plant = Plant(far, Telling())
    hall.ours = Ours(hall.plant.take_over(), get_data())
    hall.go(60).go(200, 1.6)
    assert hall.ours.memory.known.transport.delay == pytest.approx(26.0, abs=1.5)
    hall.go(200, 0.8)
    assert hall.worst(since=260) <= 0.12


def test_without_commissioning_data_it_is_no_worse_than_the_units_own_pi() -> None:
    hall = Hall()
    hall.ours = Ours(hall.plant.take_over(), None)
    hall.go(60).go(240, 1.6)
    assert hall.worst() < 0.65
    assert hall.worst(since=280) < 0.1
    assert hall.notes[-1] == "by PI alone: no commissioning data"


def test_a_watched_setpoint_is_put_with_its_unit() -> None:
    ours = Hall().go(2).ours
    _, told = ours.loop.steer(ours.history.view(3.0, ours.loop.watches), ours.memory)
    assert isinstance(told, Setpoint)
    assert (told.target, told.quantity, told.unit) == ("cdu/0/valve", VALVE, "%")
