"""What holds whatever happens."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from sim_hardware.plant import cooling
from sim_hardware.plant.cooling import Inputs, State, list_designs, orders
from sim_hardware.plant.words import Order
from sim_hardware.rack import generate_rack
from tests.sim.plant.cooling.cooled import give, load, run, start_site

_SHARE = st.floats(0.0, 1.0)
_ORDERS = st.one_of(
    st.builds(orders.FailPump, st.just("cdu/0"), st.integers(0, 1), st.booleans()),
    st.builds(orders.LoseRunSignal, st.just("cdu/0"), st.integers(0, 1), st.booleans()),
    st.builds(orders.StickValve, st.just("cdu/0"), st.floats(0.0, 100.0) | st.none()),
    st.builds(orders.Leak, st.sampled_from(["n0", "cdu/0"]), st.floats(0.0, 4.0)),
    st.builds(orders.LosePrimary, st.just("cdu/0"), st.booleans()),
    st.builds(orders.ShiftPrimary, st.just("cdu/0"), st.floats(-10.0, 20.0), st.floats(-200.0, 200.0)),
    st.builds(orders.Foul, st.just("cdu/0"), st.floats(0.0, 0.9)),
    st.builds(orders.DrainLevel, st.just("cdu/0"), st.floats(0.0, 100.0)),
    st.builds(orders.AdmitAir, st.just("cdu/0"), st.floats(0.0, 0.5)),
    st.builds(orders.Humidify, st.floats(-40.0, 40.0)),
    st.builds(orders.BlockFlow, st.sampled_from(["n0", "n1"]), _SHARE),
    st.builds(orders.CloseBranch, st.sampled_from(["n0", "n1"]), st.booleans()),
    st.builds(orders.StopFan, st.just("n1"), st.integers(0, 7), st.booleans()),
    st.builds(orders.HeatSpot, st.just("n0/card1"), st.floats(0.0, 80.0), st.floats(0.1, 60.0)),
    st.builds(orders.AddMaster, st.just("cdu/0"), st.floats(5.0, 45.0) | st.none()),
)
_DEAD = st.sets(st.sampled_from(["cdu/0", "n0/fan*"])).map(frozenset)
_HISTORY = st.lists(st.tuples(st.one_of(st.none(), _ORDERS), _SHARE, _DEAD, st.floats(0.1, 60.0)), min_size=1, max_size=8)
History = list[tuple[Order | None, float, frozenset[str], float]]


def _inputs(share: float, dead: frozenset[str]) -> Inputs:
    return Inputs(tuple(600.0 * share * (1 + slot % 3) / 3 for slot in range(16)), (600.0 * share, 600.0), dead)


def _live(state: State, history: History) -> State:
    for order, share, dead, seconds in history:
        state = give(state, *([order] if order else []))
        state, _ = run(state, state.at + seconds, _inputs(share, dead))
    return state


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(list_designs()), _HISTORY)
def test_the_coolants_heat_balance_closes_and_nothing_is_nan(plant: str, history: History) -> None:
    state = _live(start_site(plant, nodes=2), history)
    (book,) = cooling.heat_book(state)
    moved = max(1.0, abs(book.into_coolant), abs(book.to_primary), abs(book.stored_in_coolant))
    assert abs(book.coolant_gap) / moved < 1e-6  # 1 % is asked
    assert book.from_cards == pytest.approx(book.to_room + book.plates_to_coolant + book.stored_in_plates, rel=1e-6, abs=10.0)
    for sensor in cooling.sensors(state):
        value = cooling.sense(state, sensor.subject, sensor.quantity)
        assert not isinstance(value, float) or math.isfinite(value), sensor
    assert all(0.0 <= value <= 1.0 for pump in state.cdus[0].pumps for value in (pump.speed, pump.command))


@settings(max_examples=15, deadline=None)
@given(_HISTORY, st.lists(st.floats(0.01, 3.0), min_size=1, max_size=6))
def test_how_an_interval_is_cut_does_not_matter(history: History, cuts: list[float]) -> None:
    state = _live(start_site(nodes=2), history)
    inputs, whole = _inputs(0.5, frozenset()), cooling.update(state, state.at + 20.0, _inputs(0.5, frozenset()))
    parts, happened = state, list(whole.happened)
    for seconds in cuts:
        parts = cooling.update(parts, min(whole.at, parts.at + seconds), inputs)
        for told in parts.happened:
            assert told == happened.pop(0)
    parts = cooling.update(parts, whole.at, inputs)
    assert list(parts.happened) == happened
    assert (parts.cdus, parts.nodes, parts.spots, parts.steps) == (whole.cdus, whole.nodes, whole.spots, whole.steps)


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(list_designs()), st.floats(0.05, 1.0), st.floats(0.0, 0.8))
def test_a_die_with_power_is_warmer_than_its_coolant_and_bounded_with_flow(plant: str, share: float, blocked: float) -> None:
    state = give(start_site(plant, nodes=2), orders.BlockFlow("n0", blocked))
    state, _ = run(state, 120.0, load(state, share))
    for node in state.nodes:
        assert all(die > plate > node.inlet for die, plate in zip(node.cards.dies, node.cards.plates, strict=True))
        assert max(node.cards.plates) >= node.outlet > node.inlet or state.site.loops[0].design.plates.air_return
        assert max(node.cards.dies) < 130.0


@settings(max_examples=10, deadline=None)
@given(_HISTORY)
def test_the_same_history_gives_the_same_site(history: History) -> None:
    assert _live(start_site(nodes=2), history) == _live(start_site(nodes=2), history)


def test_a_node_without_a_loop_is_cooled_by_its_fans() -> None:
    bare = _without_loop()
    bare, _ = run(bare, 60.0, load(bare))
    assert bare.nodes[0].cards.dies[0] > 24.0
    hot, happened = run(bare, 240.0, load(bare, 1.0, "n0/fan*"))
    assert "card.throttled" in {h.kind for h in happened}
    assert hot.nodes[0].cards.dies[0] > bare.nodes[0].cards.dies[0] + 20.0


def _without_loop() -> State:
    rack = generate_rack(1, 8)
    return cooling.start(replace(rack, loops=(), nodes=tuple(replace(node, loop="") for node in rack.nodes)), 1)
