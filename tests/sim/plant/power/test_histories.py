"""What holds whatever happens: random histories of orders, loads and waiting."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_hardware.plant.power import Inputs, State, apply, energy, sense, start, update
from sim_hardware.plant.power.orders import (
    AddLoad,
    AgeBattery,
    ArmShed,
    CycleOutlet,
    DisarmShed,
    FailGenerator,
    FailUps,
    FireShed,
    LockOutlet,
    PressEmergencyOff,
    ResetBreaker,
    Sag,
    SetUpsMode,
    ShiftFrequency,
    StartTest,
    StopTest,
    SwapCords,
    SwitchOutlet,
    TripBreaker,
)
from sim_hardware.plant.words import Order, OrderError
from sim_hardware.rack.shape import SimUps
from tests.sim.plant.power.sites import build_rack, draw_full

Step = tuple[Order | None, float, float]  # an order, how long to wait after it, and the share of full load

_FEEDS = st.sampled_from("AB")
_PDUS = st.sampled_from(["A1", "B1"])
_OUTLETS = st.integers(1, 6)
_BOOLS = st.booleans()
_SHORT = st.floats(0.0, 30.0)
_ORDERS: st.SearchStrategy[Order] = st.one_of(
    st.builds(
        Sag, _FEEDS, st.sampled_from([0.0, 0.05, 0.15, 0.5, 1.0]), st.sampled_from([frozenset({"L2"}), frozenset({"L1", "L2", "L3"})])
    ),
    st.builds(SetUpsMode, _FEEDS, st.sampled_from(["normal", "eco", "bypass", "off"])),
    st.builds(FailUps, _FEEDS, st.sampled_from(["battery", "inverter", "transfer", "earth", "charger"]), _BOOLS),
    st.builds(AgeBattery, _FEEDS, st.sampled_from([1.0, 0.3, 0.01, 0.0])),
    st.builds(AddLoad, _FEEDS, st.sampled_from(["L1", "L3"]), st.sampled_from([0.0, 2e3, 1e4])),
    st.builds(StartTest, _FEEDS, st.sampled_from(["selftest", "calibration"])),
    st.builds(StopTest, _FEEDS),
    st.builds(FailGenerator, _BOOLS),
    st.builds(ShiftFrequency, _FEEDS, st.sampled_from([None, 49.0, 55.0])),
    st.builds(SwitchOutlet, _PDUS, _OUTLETS, _BOOLS, _SHORT),
    st.builds(CycleOutlet, _PDUS, _OUTLETS, _SHORT),
    st.builds(LockOutlet, _PDUS, _OUTLETS, _BOOLS),
    st.builds(ArmShed, _PDUS, st.sampled_from([(3, 4), (3,)]), st.floats(0.1, 10.0), st.floats(1.0, 60.0)),
    st.builds(FireShed, _PDUS),
    st.builds(DisarmShed, _PDUS),
    st.builds(PressEmergencyOff, _FEEDS, _BOOLS),
    st.builds(TripBreaker, _PDUS),
    st.builds(ResetBreaker, _PDUS),
    st.builds(SwapCords, st.sampled_from(["n0", "n1"]), _BOOLS),
)
_WAITS = st.one_of(st.sampled_from([0.0, 0.005, 0.5, 1.2]), st.floats(0.0, 60.0))
_HISTORIES: st.SearchStrategy[list[Step]] = st.lists(
    st.tuples(st.one_of(st.none(), _ORDERS), _WAITS, st.sampled_from([0.3, 1.0, 1.5])), max_size=25
)
_KINDS = st.sampled_from(["online", "line-interactive"])


def list_energies(state: State) -> list[float]:
    """What is in each battery, J."""
    values = [sense(state, f"ups/{ups.name}", "ups.battery_energy") for ups in state.spec.ups]
    return [value for value in values if isinstance(value, float)]


def carry_out(state: State, order: Order, look: Callable[[State, State], None]) -> State:
    try:
        after = apply(state, order)
    except OrderError:
        return state
    look(state, after)
    return after


def play(kind: str, history: list[Step], look: Callable[[State, State], None], cuts: int = 1) -> State:
    """Play a history, and look at each pair of states that follow each other."""
    ups = SimUps(minutes=0.5, kind="online" if kind == "online" else "line-interactive")
    rack = build_rack(ups, generator=True)
    full = draw_full(rack)
    state = start(rack, 0)
    for order, wait, share in history:
        if order is not None:
            state = carry_out(state, order, look)
        inputs = Inputs({load: share * watts for load, watts in full.items()})
        begin = state.at
        for cut in range(1, cuts + 1):
            after = update(state, begin + wait * (cut / cuts), inputs)
            look(state, after)
            state = after
    return state


@settings(max_examples=150, deadline=None)
@given(_KINDS, _HISTORIES)
def test_what_came_in_went_out_was_lost_or_is_stored(kind: str, history: list[Step]) -> None:
    def look(before: State, after: State) -> None:
        book = energy(after)
        assert book.drawn == pytest.approx(book.delivered + book.lost + book.batteries + book.shelves, abs=1e-3, rel=1e-9)
        assert book.lost >= energy(before).lost - 1e-6
        assert book.delivered >= energy(before).delivered - 1e-6

    state = play(kind, history, look)
    full = sum(spec.full_j for spec in state.spec.ups)
    assert energy(state).batteries == pytest.approx(sum(list_energies(state)) - full, abs=1e-3)


@settings(max_examples=100, deadline=None)
@given(_KINDS, _HISTORIES)
def test_a_battery_never_gains_without_input(kind: str, history: list[Step]) -> None:
    def look(before: State, after: State) -> None:
        gained = [two - one for one, two in zip(list_energies(before), list_energies(after), strict=True)]
        drawn = energy(after).drawn - energy(before).drawn
        assert sum(gain for gain in gained if gain > 0.0) <= drawn + 1e-3
        for spec, ups, held in zip(after.spec.ups, after.ups, list_energies(after), strict=True):
            assert 0.0 <= held <= spec.full_j * ups.share + 1e-6

    play(kind, history, look)


@settings(max_examples=100, deadline=None)
@given(_KINDS, _HISTORIES)
def test_nothing_closes_under_the_emergency_button_or_a_lock(kind: str, history: list[Step]) -> None:
    def look(before: State, after: State) -> None:
        for outlet, (was, now) in enumerate(zip(before.closed, after.closed, strict=True)):
            pressed = after.pdus[after.spec.outlets[outlet][0]].emergency
            assert not (pressed and now)
            assert not (now and not was and outlet in after.locked)

    play(kind, history, look)


@settings(max_examples=100, deadline=None)
@given(_KINDS, _HISTORIES)
def test_a_shed_closes_only_what_it_opened(kind: str, history: list[Step]) -> None:
    open_by_shed: set[str] = set()

    def look(_: State, after: State) -> None:
        for one in after.happened:
            if one.kind == "outlet.opened" and "by shed" in one.text:
                open_by_shed.add(one.subject)
            if one.kind == "outlet.closed":
                assert "by restore" not in one.text or one.subject in open_by_shed
                open_by_shed.discard(one.subject)

    play(kind, history, look)


@settings(max_examples=100, deadline=None)
@given(_KINDS, _HISTORIES, st.integers(2, 7))
def test_it_does_not_matter_how_an_interval_is_cut(kind: str, history: list[Step], cuts: int) -> None:
    told: list[list[tuple[str, str]]] = [[], []]
    times: list[list[float]] = [[], []]

    def look_into(number: int) -> Callable[[State, State], None]:
        def look(_: State, after: State) -> None:
            told[number].extend((one.kind, one.subject) for one in after.happened)
            times[number].extend(one.at for one in after.happened)

        return look

    whole = play(kind, history, look_into(0))
    parts = play(kind, history, look_into(1), cuts)
    assert told[0] == told[1]
    assert times[0] == pytest.approx(times[1], rel=1e-9, abs=1e-9)
    assert energy(whole).drawn == pytest.approx(energy(parts).drawn, rel=1e-9, abs=1e-3)
    assert whole.closed == parts.closed
    assert whole.live == parts.live


@settings(max_examples=50, deadline=None)
@given(_KINDS, _HISTORIES)
def test_times_only_go_forward(kind: str, history: list[Step]) -> None:
    def look(before: State, after: State) -> None:
        assert after.next_time > after.at
        assert all(before.at <= one.at <= after.at for one in after.happened)

    play(kind, history, look)
