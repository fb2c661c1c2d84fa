from itertools import pairwise

import pytest

from sim_hardware.plant.cooling.orders import BlockFlow, CloseBranch, FailDieSensor, HeatSpot
from tests.sim.plant.cooling.cooled import give, list_kinds, load, read, run, start_site


def test_dies_are_cool_at_full_load_and_hardly_spread() -> None:
    state = start_site()
    state, _ = run(state, 10.0, load(state))
    shown = [read(state, f"n0/card{slot}", "card.temperature") for slot in range(8)]
    assert 50.0 < min(shown) <= max(shown) < 70.0
    assert max(shown) - min(shown) < 0.2  # T2: 0.1 C either way


def test_noise_is_there_bounded_and_the_same_for_whoever_asks_twice() -> None:
    state = start_site()
    seen: list[float] = []
    state, _ = run(state, 100.0, load(state), lambda now: seen.append(read(now, "n0/card0", "card.temperature")))
    assert 0.15 < max(seen) - min(seen) < 0.2 + 1e-9
    assert read(state, "n0/card0", "card.temperature") == seen[-1]


def test_one_stuck_sensor_moves_max_a_little_mean_and_no_median() -> None:
    state = start_site()
    state, _ = run(state, 10.0, load(state))
    mean, median = read(state, "n0/card0", "card.temperature.mean"), read(state, "n0/card0", "card.temperature.median")
    state = give(state, FailDieSensor("n0/card0", 150.0))
    assert read(state, "n0/card0", "card.temperature") == 150.0
    assert 0.5 < read(state, "n0/card0", "card.temperature.mean") - mean < 1.0
    assert read(state, "n0/card0", "card.temperature.median") == median
    assert read(state, "n0/card0", "card.throttled") == 0.0
    state = give(state, FailDieSensor("n0/card0", None))
    assert read(state, "n0/card0", "card.temperature.mean") == mean


def test_a_hot_spot_throttles_one_card_until_it_is_lifted() -> None:
    state = start_site()
    state, _ = run(state, 10.0, load(state))
    state, happened = run(give(state, HeatSpot("n0/card3", 40.0)), 60.0, load(state))
    assert [(h.kind, h.subject) for h in happened] == [("card.throttled", "n0/card3")]
    assert read(state, "n0/card3", "card.throttled") == 1.0
    assert 95.0 < read(state, "n0/card3", "card.temperature") < 105.0
    state, happened = run(give(state, HeatSpot("n0/card3", 0.0)), 150.0, load(state))
    assert [(h.kind, h.subject) for h in happened] == [("card.unthrottled", "n0/card3")]
    assert state.spots == {}


def test_without_flow_a_card_throttles_within_a_minute_and_then_breaks() -> None:
    state = start_site()
    state, _ = run(state, 10.0, load(state))
    state, happened = run(give(state, CloseBranch("n0", closed=True)), 80.0, load(state))
    throttled = next(h.at for h in happened if h.kind == "card.throttled")
    broken = next(h.at for h in happened if h.kind == "card.overheated")
    assert 20.0 < throttled - 10.0 < 60.0
    assert throttled + 3.0 < broken
    assert list_kinds(happened, "n0/card0") == ["card.throttled", "card.overheated"]


def test_less_flow_means_hotter_dies() -> None:
    temperatures = []
    for share in (0.0, 0.2, 0.4, 0.6, 0.8, 0.9):
        state = start_site(nodes=2)
        state, _ = run(state, 1.0, load(state))
        state, _ = run(give(state, BlockFlow("n0", share)), 300.0, load(state))
        temperatures.append(state.nodes[0].cards.dies[0])
    assert all(one < other for one, other in pairwise(temperatures))


@pytest.mark.parametrize("share", [0.0, 0.2, 1.0])
def test_more_watts_mean_hotter_dies_over_their_coolant(share: float) -> None:
    state = start_site()
    state, _ = run(state, 10.0, load(state, share))
    over = state.nodes[0].cards.dies[0] - state.nodes[0].inlet
    assert over == pytest.approx(share * 33.0, abs=1.5)
