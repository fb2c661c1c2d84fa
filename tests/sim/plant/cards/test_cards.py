import math
from collections.abc import Callable

import msgspec
import pytest

from sim_hardware.plant import cards
from sim_hardware.plant.cards.orders import (
    BrakePower,
    CapCard,
    FallOff,
    HangCard,
    IsolateCard,
    LeakMemory,
    PowerNode,
    RaiseCode,
    ReplaceCard,
    ResetCard,
    SlowCard,
    StormEcc,
)
from sim_hardware.plant.words import Happening, Order, OrderError, PlantError, UnknownSensorError
from sim_hardware.rack import generate_rack

RACK = generate_rack(2, 8)
FULL, IDLE, OTHER = 600.0, 90.0, 600.0


def begin(load: float = 1.0) -> cards.State:
    state = cards.start(RACK, 1)
    return cards.update(state, 0.0, msgspec.structs.replace(state.inputs, load=(load,) * 16))


def play(state: cards.State, seconds: float, **inputs: object) -> cards.State:
    """On to a time, event by event, keeping all that happened."""
    happened: list[Happening] = []
    end, now = state.at + seconds, msgspec.structs.replace(state.inputs, **inputs)
    while state.at < end:
        state = cards.update(state, min(end, max(state.next_time, state.at)), now)
        happened += state.happened
    return msgspec.structs.replace(state, happened=tuple(happened))


def kinds(state: cards.State) -> list[tuple[float, str, str]]:
    return [(news.at, news.kind, news.subject) for news in state.happened]


def test_power_lies_between_idle_and_full() -> None:
    assert set(cards.list_watts(begin(0.0))) == {IDLE}
    assert set(cards.list_watts(begin(1.0))) == {FULL}
    assert cards.list_watts(begin(0.5))[0] == pytest.approx((FULL + IDLE) / 2)
    assert cards.list_node_watts(begin(1.0)) == pytest.approx((8 * FULL + OTHER,) * 2)


def test_throttling_takes_the_clock_to_60_percent_and_slows_the_card() -> None:
    state = play(begin(), 1.0, throttled=(True,) + (False,) * 15)
    assert cards.sense(state, "n0/card0", "card.clock") == pytest.approx(0.6 * 1800.0)
    assert cards.list_speeds(state)[:2] == (0.6, 1.0)
    assert cards.list_watts(state)[0] == pytest.approx(IDLE + (FULL - IDLE) * 0.6**2.2)


def test_a_brake_holds_the_clock_at_30_percent_even_when_throttled() -> None:
    state = play(cards.apply(begin(), BrakePower("n0/card0", on=True)), 1.0, throttled=(True,) * 16)
    assert cards.list_speeds(state)[:2] == (0.3, 0.6)


@pytest.mark.parametrize("cap", [120.0, 250.0, 400.0, 599.0])
def test_a_cap_is_kept_at_full_load(cap: float) -> None:
    state = cards.apply(begin(), CapCard("n0/card0", cap))
    assert cards.list_watts(state)[0] == pytest.approx(cap)
    assert 0.0 < cards.list_speeds(state)[0] < 1.0
    assert cards.list_watts(cards.apply(state, CapCard("n0/card0", None)))[0] == FULL


def test_slow_card_computes_slower_at_the_same_clock() -> None:
    state = cards.apply(begin(), SlowCard("n0/card1", 25.0))
    assert cards.list_speeds(state)[1] == 0.75
    assert cards.sense(state, "n0/card1", "card.clock") == 1800.0


def test_a_hung_card_draws_idle_power_and_computes_nothing_but_its_process_lives() -> None:
    state = cards.apply(begin(), HangCard("n0/card2", hung=True))
    assert kinds(state) == [(0.0, "card.hung", "n0/card2")]
    assert (cards.list_watts(state)[2], cards.list_speeds(state)[2], cards.list_alive(state)[2]) == (IDLE, 0.0, True)
    assert cards.sense(state, "n0/card2", "card.utilisation") == 0.0
    state = cards.apply(state, HangCard("n0/card2", hung=False))
    assert (kinds(state), cards.list_speeds(state)[2]) == ([(0.0, "card.recovered", "n0/card2")], 1.0)


def test_a_reset_frees_a_hung_card_after_8_s() -> None:
    state = cards.apply(cards.apply(begin(), HangCard("n0/card2", hung=True)), ResetCard("n0/card2"))
    assert (cards.sense(state, "n0/card2", "card.present"), state.next_time) == (0.0, 8.0)
    assert not cards.list_alive(state)[2]
    state = play(state, 8.0)
    assert (8.0, "card.reset", "n0/card2") in kinds(state)
    assert (cards.sense(state, "n0/card2", "card.present"), cards.list_speeds(state)[2]) == (1.0, 1.0)


def test_a_card_that_fell_off_cannot_be_reset_but_its_node_can_be_switched() -> None:
    state = cards.apply(begin(), FallOff("n0/card3", off=True))
    assert cards.sense(state, "n0/card3", "card.health") == frozenset({"40F84E00"})
    with pytest.raises(OrderError, match="n0/card3 is not on its bus"):
        cards.apply(state, ResetCard("n0/card3"))
    state = cards.apply(cards.apply(state, PowerNode("n0", on=False)), PowerNode("n0", on=True))
    state = play(state, 60.0)
    assert cards.sense(state, "n0/card3", "card.present") == 1.0


def test_replacing_a_card_changes_its_serial_and_clears_its_faults() -> None:
    state = begin()
    for order in (StormEcc("n0/card0", 5.0, 2), RaiseCode("n0/card0", "80E21007", present=True), IsolateCard("n0/card0", isolated=True)):
        state = cards.apply(state, order)
    assert cards.sense(state, "n0/card0", "card.health") == frozenset({"80E21007", "80E01801"})
    state = play(cards.apply(state, ReplaceCard("n0/card0", "NEW1")), 8.0)
    assert cards.sense(state, "n0/card0", "card.serial") == "NEW1"
    assert cards.sense(state, "n0/card0", "card.health") == frozenset()
    assert cards.sense(state, "n0/card0", "card.isolated") == 1.0  # a hold is on the slot until somebody takes it away
    with pytest.raises(OrderError, match="already in a slot"):
        cards.apply(state, ReplaceCard("n0/card1", "NEW1"))


def test_an_isolated_card_computes_nothing_and_no_process_lives_on_it() -> None:
    state = cards.apply(begin(), IsolateCard("n0/card4", isolated=True))
    assert kinds(state) == [(0.0, "card.isolated", "n0/card4")]
    assert (cards.list_watts(state)[4], cards.list_speeds(state)[4], cards.list_alive(state)[4]) == (IDLE, 0.0, False)
    state = cards.apply(state, IsolateCard("n0/card4", isolated=False))
    assert (kinds(state), cards.list_alive(state)[4]) == ([(0.0, "card.released", "n0/card4")], True)


def test_power_lost_is_off_until_it_returns_and_then_60_s_of_boot() -> None:
    state = play(begin(), 10.0)
    state = play(state, 5.0, available=(False, True))
    assert kinds(state) == [(10.0, "node.off", "n0")]
    assert (cards.list_node_watts(state)[0], cards.list_watts(state)[0], cards.list_alive(state)[0]) == (0.0, 0.0, False)
    assert cards.sense(state, "n0/card0", "card.health") is None
    state = play(state, 61.0, available=(True, True))
    assert kinds(state) == [(15.0, "node.booting", "n0"), (75.0, "node.on", "n0")]
    assert cards.sense(state, "n0", "node.up_s") == pytest.approx(1.0)


def test_nodes_have_long_been_up_at_the_beginning() -> None:
    assert cards.sense(begin(), "n0", "node.up_s") == 86_400.0


def test_a_node_switched_off_stays_off_when_power_returns() -> None:
    state = cards.apply(begin(), PowerNode("n0", on=False))
    state = play(play(state, 5.0, available=(False, True)), 100.0, available=(True, True))
    assert cards.sense(state, "n0", "node.power") == "off"


def test_a_leak_fills_the_memory_at_the_time_that_arithmetic_says() -> None:
    state = cards.apply(begin(), LeakMemory("n0/card0", 1e9))
    free = 96 * 2**30 - cards.list_memory(state)[0]
    assert state.next_time == pytest.approx(free / 1e9)
    state = play(state, 60.0)
    assert [kind for _, kind, _ in kinds(state)] == ["card.out_of_memory"]
    assert not cards.list_alive(state)[0]
    state = cards.apply(state, LeakMemory("n0/card0", 0.0))
    assert cards.list_alive(state)[0]


def test_a_storm_corrects_about_as_many_errors_as_it_says() -> None:
    state = play(cards.apply(begin(), StormEcc("n0/card0", corrected_per_s=7.0)), 1000.0)
    assert cards.sense(state, "n0/card0", "card.ecc_corrected") == pytest.approx(7000.0, rel=0.05)
    assert cards.sense(state, "n0/card1", "card.ecc_corrected") == 0.0


def test_a_card_at_110_c_shuts_itself_down_once_until_its_node_is_switched_off() -> None:
    state = play(begin(), 3.0, temperature=(110.5,) + (109.5,) * 15)
    assert kinds(state) == [(0.0, "card.shut_down", "n0/card0")]
    assert cards.list_watts(state)[:2] == (0.0, FULL)
    assert cards.sense(state, "n0/card0", "card.health") == frozenset({"80E18005"})
    assert (cards.sense(state, "n0/card0", "card.present"), cards.list_alive(state)[:2]) == (0.0, (False, True))
    state = play(state, 3.0, temperature=(60.0,) * 16)
    assert cards.list_watts(state)[0] == 0.0
    state = cards.apply(cards.apply(state, PowerNode("n0", on=False)), PowerNode("n0", on=True))
    assert cards.list_watts(play(state, 61.0))[:2] == (FULL, FULL)


def test_outputs_are_the_same_objects_while_nothing_changes() -> None:
    state = begin()
    later = cards.update(state, 0.5, msgspec.structs.replace(state.inputs, temperature=(41.0,) * 16))
    assert later.outputs is state.outputs


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: CapCard("n0/card99", 300.0), "n0/card99: no such card"),
        (lambda: CapCard("n0/card0", 80.0), "80, outside 9"),
        (lambda: CapCard("n0/card0", math.nan), "nan, outside"),
        (lambda: SlowCard("n0/card0", 120.0), "120, outside 0 to 99"),
        (lambda: StormEcc("n0/card0", -1.0), "-1, outside"),
        (lambda: LeakMemory("n0/card0", math.inf), "inf, outside"),
        (lambda: PowerNode("n9", on=False), "n9: no such node"),
        (Order, "Order is no order for cards"),
    ],
)
def test_orders_that_cannot_be_say_what_and_which_limit(make: Callable[[], Order], words: str) -> None:
    with pytest.raises(OrderError, match=words):
        cards.apply(begin(), make())


def test_every_sensor_answers_and_no_other() -> None:
    state = begin()
    assert all(
        cards.sense(state, sensor.subject, sensor.quantity) is not None or sensor.quantity == "card.cap" for sensor in cards.sensors(state)
    )
    with pytest.raises(UnknownSensorError, match="n0/card0 has no sensor of"):
        cards.sense(state, "n0/card0", "card.colour")
    with pytest.raises(PlantError, match="cannot go back"):
        cards.update(play(state, 5.0), 4.0, state.inputs)
