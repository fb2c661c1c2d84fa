"""The plant in time: by itself, when it is looked at, with sick sensors, and with people who watch."""

from __future__ import annotations

import asyncio
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_hardware.loop import SimLoop
from sim_hardware.loop.play import play
from sim_hardware.pathology import Absent, Drift, Freeze, Late, NotANumber, Pathology, Swap, UnitSlip
from sim_hardware.plant.cards.orders import CapCard, HangCard
from sim_hardware.plant.cooling.orders import HeatSpot, SetControl
from sim_hardware.plant.power.orders import PressEmergencyOff, Sag
from sim_hardware.plant.site import TICK
from sim_hardware.plant.words import Happening, Order, OrderError, UnknownSensorError, Value
from sim_hardware.rack import generate_rack
from sim_hardware.world import World

RACK = generate_rack(1, 2)
CARD = "n0/card0"
SENSORS = ((CARD, "card.temperature"), ("ups/A", "ups.status"), ("ups/A", "ups.model"), (CARD, "card.cap"), ("job/train", "job.state"))
ALL: tuple[Pathology, ...] = (Freeze(), Freeze(1.0), NotANumber(), Absent(), Drift(60.0), UnitSlip(), UnitSlip("milli"), Late(3.0))


class Hand:
    """A world on a clock that is moved by hand."""

    def __init__(self, seed: int = 1) -> None:
        self.time = 0.0
        self.world = World(RACK, seed, lambda: self.time)

    def to(self, time: float) -> World:
        self.time = time
        return self.world


def number(value: Value) -> float:
    assert isinstance(value, float), repr(value)
    return value


def lose_power(world: World) -> None:
    for feed in ("A", "B"):
        world.order(PressEmergencyOff(feed, True))


@given(st.sampled_from(SENSORS), st.sampled_from(ALL))
@settings(max_examples=40)
def test_any_sensor_can_be_sick_and_well_again(sensor: tuple[str, str], pathology: Pathology) -> None:
    hand = Hand()
    hand.to(10.0).sicken(*sensor, pathology)
    shown = hand.to(14.0).sense(*sensor)
    assert shown is None or isinstance(shown, float | str | frozenset)
    hand.world.cure(*sensor)
    assert hand.world.sense(*sensor) == hand.world.truth(*sensor)


def test_sickness_changes_what_is_shown_and_not_what_is() -> None:
    hand, well = Hand(), Hand()
    hand.to(10.0).sicken(CARD, "card.temperature", Freeze(200.0))
    assert hand.to(50.0).sense(CARD, "card.temperature") == 200.0
    assert hand.world.truth(CARD, "card.temperature") == well.to(50.0).truth(CARD, "card.temperature")
    assert hand.world.sense("n0/card1", "card.temperature") == well.world.sense("n0/card1", "card.temperature")


def test_two_swapped_sensors_show_each_other() -> None:
    hand = Hand()
    hand.to(5.0).sicken(CARD, "card.power", Swap("n0/card1"))
    hand.world.sicken("n0/card1", "card.power", Swap(CARD))
    hand.world.order(HangCard("n0/card1", True))
    world = hand.to(9.0)
    assert world.sense(CARD, "card.power") == world.truth("n0/card1", "card.power") == RACK.sim.node.card_idle_watts
    assert number(world.sense("n0/card1", "card.power")) == number(world.truth(CARD, "card.power")) > RACK.sim.node.card_idle_watts


@pytest.mark.parametrize("looks", [(), (61.3, 61.4, 66.0)])
def test_a_late_sensor_shows_what_was_even_if_nobody_looked(looks: tuple[float, ...]) -> None:
    hand, mirror = Hand(), Hand()
    for one in (hand, mirror):
        one.to(60.0).order(HeatSpot(CARD, 30.0))
    hand.world.sicken(CARD, "card.temperature", Late(7.0))
    for look in looks:
        hand.to(look).sense(CARD, "card.temperature")
    assert hand.to(75.0).sense(CARD, "card.temperature") == mirror.to(68.0).truth(CARD, "card.temperature")
    assert number(hand.world.truth(CARD, "card.temperature")) > number(hand.world.sense(CARD, "card.temperature")) + 1.0


def test_there_is_no_sickness_of_what_is_not_there() -> None:
    hand = Hand()
    with pytest.raises(UnknownSensorError):
        hand.world.sicken("n7", "card.power", Absent())
    with pytest.raises(UnknownSensorError):
        hand.world.sicken(CARD, "card.power", Swap("n7/card0"))
    hand.world.cure("n7", "card.power")
    assert number(hand.world.sense(CARD, "card.power")) > 0.0


@pytest.mark.parametrize("order", [CapCard("n9/card0", 300.0), CapCard(CARD, math.nan), SetControl("cdu/7", "direct"), Sag("A", 1.5)])
def test_a_refused_order_changes_nothing(order: Order) -> None:
    hand = Hand()
    before = hand.to(3.25).site
    with pytest.raises(OrderError):
        hand.world.order(order)
    assert hand.world.site is before


@settings(max_examples=20)
@given(st.lists(st.floats(0.0, 40.0), max_size=8))
def test_looking_changes_nothing(looks: list[float]) -> None:
    hand, blind = Hand(), Hand()
    for look in sorted([*looks, 11.1]):
        world = hand.to(look)
        world.sense(CARD, "card.power")
        if look == 11.1:
            lose_power(world)
    lose_power(blind.to(11.1))
    assert hand.to(41.0).site == blind.to(41.0).site
    assert list(hand.world.happened) == list(blind.world.happened)
    assert "job.lost" in {happening.kind for happening in blind.world.happened}


def test_what_happened_before_an_order_is_told_too() -> None:
    hand = Hand()
    lose_power(hand.to(1.0))
    hand.to(30.0).order(PressEmergencyOff("A", False))
    kinds = [happening.kind for happening in hand.world.happened]
    assert kinds.count("node.power_lost") == kinds.count("job.lost") == 1


def test_by_itself_it_wakes_at_the_very_time() -> None:
    loop, watched = SimLoop(1), list[tuple[float, Happening]]()

    async def scenario() -> World:
        world = World(RACK, 1, loop.time)
        world.watches.append(lambda happening: watched.append((loop.time(), happening)))
        world.run()
        await asyncio.sleep(10.3337)
        lose_power(world)
        await asyncio.sleep(30.0)
        world.close()
        return world

    world = play(loop, scenario())
    assert {"node.power_lost", "node.off", "job.lost", "load.lost"} <= {happening.kind for _, happening in watched}
    assert all(time == pytest.approx(happening.at, abs=1e-9) for time, happening in watched if happening.at % 0.25)
    assert all(0.0 <= time - happening.at + 1e-9 <= TICK + 1e-9 for time, happening in watched)
    assert [happening for _, happening in watched] == list(world.happened)


def test_closed_it_stands_still_until_it_is_looked_at() -> None:
    loop, watched = SimLoop(1), list[str]()

    async def scenario() -> None:
        world = World(RACK, 1, loop.time)
        world.watches.append(lambda happening: watched.append(happening.kind))
        world.run()
        lose_power(world)
        world.close()
        before = len(watched)
        await asyncio.sleep(60.0)
        assert len(watched) == before
        assert world.truth("n0", "power.available") == 0.0
        assert "node.power_lost" in watched

    play(loop, scenario())


async def test_after_a_pause_of_its_loop_it_catches_up() -> None:
    behind = asyncio.get_running_loop().time()
    pause = [0.0]
    world = World(RACK, 1, lambda: asyncio.get_running_loop().time() - behind + pause[0])
    seen = asyncio.Event()
    world.watches.append(lambda happening: seen.set() if happening.kind == "job.lost" else None)
    world.run()
    lose_power(world)
    pause[0] = 120.0
    await asyncio.wait_for(seen.wait(), 20.0)
    world.close()
    assert next(happening.at for happening in world.happened if happening.kind == "job.lost") < 5.0
    assert world.site.at >= 119.0


def test_a_watch_may_give_an_order() -> None:
    hand = Hand()
    world = hand.world
    world.watches.append(lambda happening: world.order(HangCard(CARD, False)) if happening.kind == "card.hung" else None)
    hand.to(5.0).order(HangCard(CARD, True))
    assert [happening.kind for happening in world.happened if happening.kind.startswith("card")] == ["card.hung", "card.recovered"]
    assert hand.to(6.0).truth(CARD, "card.hung") == 0.0
