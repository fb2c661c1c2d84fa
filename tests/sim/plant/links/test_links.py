"""Ports, their faults and what follows from them."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim_hardware.plant.links import Inputs, orders, sense, sensors, update
from sim_hardware.plant.words import Order, OrderError, UnknownSensorError
from tests.sim.plant.links.plants import CABLE, FIRST, SECOND, build, do, kinds, number, run

COUNTERS = (
    "link.bits",
    "link.symbol_errors",
    "link.receive_errors",
    "link.recoveries",
    "link.downed",
    "link.waits",
    "link.discards",
    "link.fec.corrected",
    "link.fec.uncorrected",
    "link.changes",
)


def test_a_healthy_rack() -> None:
    state = build(4)
    assert state.next_time == math.inf
    assert sense(state, FIRST, "link.state") == 1.0
    assert sense(state, FIRST, "link.phys_state") == "LinkUp"
    assert sense(state, FIRST, "link.speed") == 200.0
    assert sense(state, FIRST, "link.neighbour") == SECOND
    assert sense(state, "n1/nic/mlx5_0", "link.neighbour") == "switch/s1/port1"
    assert sense(state, "switch/s1/port1", "link.neighbour_mac") == sense(state, "n1/nic/mlx5_0", "link.mac")
    assert sense(state, "switch/s1/port47", "link.phys_state") == "Polling"
    assert 1e-10 < number(state, FIRST, "link.ber.pre_fec") < 1e-6
    assert sense(state, FIRST, "link.ber.post_fec") == 1e-15


def test_every_sensor_answers() -> None:
    state = build(2, 2)
    listed = list(sensors(state))
    assert len({(sensor.subject, sensor.quantity) for sensor in listed}) == len(listed)
    for sensor in listed:
        value = sense(state, sensor.subject, sensor.quantity)
        assert value is None or isinstance(value, str if sensor.unit == "text" else float), sensor
    with pytest.raises(UnknownSensorError, match=r"link.state"):
        sense(state, FIRST, "fan.speed")
    with pytest.raises(UnknownSensorError):
        sense(state, "n9/card0/port0", "link.state")


def test_a_healthy_pod_has_few_errors_in_an_hour() -> None:
    """At 1e-15 and 200 Gb/s, 0.72 an hour and port."""
    state = run(build(16), 3600.0, step=60.0)
    ports = [f"n{node}/card{card}/port{port}" for node in range(16) for card in range(8) for port in (0, 1)]
    errors = sum(number(state, port, "link.symbol_errors") for port in ports)
    mean = 0.72 * len(ports)
    assert abs(errors - mean) < 5.0 * math.sqrt(mean)
    assert not state.happened


def test_bits_are_exact() -> None:
    state = run(build(), 100.0, Inputs(traffic=(0.25,) * 8))
    assert number(state, FIRST, "link.bits") == pytest.approx(0.25 * 200e9 * 100.0, rel=1e-9)


def test_errors_match_their_rate() -> None:
    state = run(do(build(), orders.SetErrorRate(FIRST, 1e-9)), 100.0)
    mean = 1e-9 * 200e9 * 100.0
    assert abs(number(state, FIRST, "link.symbol_errors") - mean) < 5.0 * math.sqrt(mean)
    assert abs(number(state, FIRST, "link.receive_errors") - mean / 2) < 5.0 * math.sqrt(mean / 2)  # half of the line carries data
    lanes = [number(state, FIRST, f"link.fec.corrected.lane{lane}") for lane in range(4)]
    assert number(state, FIRST, "link.fec.corrected") == sum(lanes) > 1e8  # such a rate is left by very many before correction


def test_a_ramp_degrades_on_its_way() -> None:
    """1e-15 to 1e-8 in 70 s crosses 1e-12 after 30 s (L2), and is exact to the event."""
    state = run(do(build(), orders.SetErrorRate(FIRST, 1e-8, over_s=70.0)), 100.0)
    (event,) = [happening for happening in state.happened if happening.kind.startswith("link.")]
    assert (event.kind, event.subject) == ("link.degraded", FIRST)
    assert event.at == pytest.approx(30.0)
    assert sense(state, FIRST, "link.ber.post_fec") == 1e-8
    back = run(do(state, orders.SetErrorRate(FIRST, None, over_s=10.0)), 120.0)
    assert kinds(back) == ["link.degraded", "link.restored"]
    assert sense(back, FIRST, "link.ber.post_fec") == 1e-15


def test_a_ramp_counts_the_same_however_time_is_cut() -> None:
    ramp = orders.SetErrorRate(FIRST, 1e-9, over_s=50.0)
    fine, coarse = (run(do(build(), ramp), 60.0, step=step) for step in (0.1, 7.0))
    for quantity in COUNTERS:
        assert number(fine, FIRST, quantity) == pytest.approx(number(coarse, FIRST, quantity), rel=1e-6, abs=1.0)


@given(st.floats(0.0, 12.0), st.floats(0.0, 12.0))
def test_more_attenuation_is_never_better(one: float, other: float) -> None:
    low, high = (do(build(1, 2), orders.Attenuate(FIRST, level)) for level in sorted((one, other)))
    assert number(high, FIRST, "link.state") <= number(low, FIRST, "link.state")
    assert number(high, FIRST, "link.rx_power") <= number(low, FIRST, "link.rx_power")
    if number(high, FIRST, "link.state"):
        for quantity in ("link.ber.pre_fec", "link.ber.post_fec"):
            assert number(high, FIRST, quantity) >= number(low, FIRST, quantity)


def test_darkness_is_loss_of_signal() -> None:
    state = do(build(), orders.Attenuate(FIRST, 12.0))
    assert sense(state, FIRST, "link.los") == 1.0
    assert sense(state, SECOND, "link.los") == 0.0
    assert sense(state, SECOND, "link.state") == 0.0  # a link takes two


def test_a_tight_bend_makes_a_link_unsteady() -> None:
    """L7: seen as an unstable link with low received power."""
    state = do(build(), orders.Bend(CABLE, 10.5))
    assert number(state, FIRST, "link.rx_power") < 0.5
    state = run(state, 120.0)
    assert kinds(state).count("link.down") >= 2
    assert kinds(state).count("link.up") >= 2
    well = do(state, orders.Bend(CABLE, None))
    assert sense(well, CABLE, "cable.bend_radius") == 60.0
    assert well.next_time == math.inf


def test_a_loose_module_flaps_and_one_that_is_home_does_not() -> None:
    loose = do(build(), orders.Unplug(FIRST, loose=True))
    assert sense(loose, FIRST, "link.present") == 1.0
    assert number(loose, FIRST, "link.rx_power") < number(build(), FIRST, "link.rx_power")
    state = run(loose, 200.0)
    downs = kinds(state).count("link.down")
    assert downs >= 6
    assert number(state, FIRST, "link.downed") == number(state, SECOND, "link.downed") == downs / 2
    home = run(do(state, orders.Reseat(FIRST)), 400.0)
    assert kinds(home).count("link.down") == downs
    assert sense(home, FIRST, "link.state") == 1.0


def test_a_module_that_is_out_is_absent_and_nothing_else() -> None:
    state = do(build(), orders.Unplug(FIRST, absent=True))
    assert sense(state, FIRST, "link.present") == 0.0
    assert sense(state, FIRST, "link.rx_power") is None
    assert kinds(state)[-1] == "module.absent" or "module.absent" in kinds(state)
    assert sense(state, SECOND, "link.los") == 1.0
    assert sense(state, SECOND, "link.present") == 1.0
    back = do(state, orders.Reseat(FIRST))
    assert "module.present" in kinds(back)
    assert sense(back, FIRST, "link.state") == 1.0


def test_flapping_is_exact_and_remembered() -> None:
    state = run(do(build(), orders.Flap(FIRST, period_s=3.0, down_share=0.1, times=4)), 60.0)
    edges = [(happening.at, happening.kind) for happening in state.happened if happening.subject == FIRST]
    due = [(start + off, kind) for start in (0.0, 3.0, 6.0, 9.0) for off, kind in ((0.0, "link.down"), (0.3, "link.up"))]
    assert [kind for _, kind in edges] == [kind for _, kind in due]
    assert [at for at, _ in edges] == pytest.approx([at for at, _ in due])
    assert number(state, FIRST, "link.recoveries") == 4.0
    flaps = json.loads(str(sense(state, FIRST, "link.flaps")))
    assert flaps[0] == [9.3, "UP"]
    assert len(flaps) == 9  # with the first UP


def test_lost_lanes_are_lost_speed() -> None:
    state = run(do(build(), orders.LoseLanes(FIRST, 2)), 10.0)
    assert sense(state, FIRST, "link.speed") == sense(state, SECOND, "link.speed") == 100.0
    assert sense(state, FIRST, "link.rx_power.lane3") == 0.0
    assert number(state, FIRST, "link.waits") > 0
    assert number(state, FIRST, "link.bits") == pytest.approx(0.5 * 100e9 * 10.0)
    assert sense(do(state, orders.LoseLanes(FIRST, 0)), FIRST, "link.state") == 0.0


def test_a_port_that_is_shut_is_disabled_and_its_peer_polls() -> None:
    state = do(build(), orders.SetPort(FIRST, up=False))
    assert sense(state, FIRST, "link.phys_state") == "Disabled"
    assert sense(state, SECOND, "link.phys_state") == "Polling"
    assert sense(state, FIRST, "link.neighbour") is None
    again = do(state, orders.SetPort(FIRST, up=True))
    assert kinds(again) == [
        "link.down",
        "link.down",
        "ring.broken",
        "ring.mode_changed",
        *["link.up"] * 2,
        "ring.closed",
        "ring.mode_changed",
    ]


def test_without_power_everything_is_dark_and_forgotten() -> None:
    state = run(do(build(), orders.SetErrorRate(FIRST, 1e-9)), 10.0)
    assert number(state, FIRST, "link.symbol_errors") > 0
    off = update(state, 10.5, Inputs(dark=frozenset({"n0/card0"})))
    assert sense(off, FIRST, "link.phys_state") == "Sleep"
    assert sense(off, SECOND, "link.phys_state") == "Polling"
    assert sense(off, FIRST, "link.temperature") is None
    assert all(number(off, FIRST, quantity) == 0.0 for quantity in COUNTERS)
    on = update(off, 11.0, Inputs())
    assert sense(on, FIRST, "link.state") == 1.0
    assert kinds(on).count("link.up") == 4  # both ends of the card's two links


def test_hot_modules_lose_light() -> None:
    cool = update(build(), 0.5, Inputs(optics=(50.0,)))
    hot = update(build(), 0.5, Inputs(optics=(90.0,)))
    assert sense(hot, FIRST, "link.temperature") == 90.0
    assert number(hot, FIRST, "link.tx_power") < number(cool, FIRST, "link.tx_power")
    assert number(hot, FIRST, "link.ber.pre_fec") > number(cool, FIRST, "link.ber.pre_fec")
    assert number(hot, FIRST, "link.bias") > number(cool, FIRST, "link.bias")


def test_cleared_counters_begin_again() -> None:
    state = run(do(build(), orders.SetErrorRate(FIRST, 1e-9)), 10.0)
    cleared = do(state, orders.ClearCounters(FIRST))
    assert number(cleared, FIRST, "link.symbol_errors") == number(cleared, FIRST, "link.bits") == 0.0
    assert number(run(cleared, 20.0), FIRST, "link.symbol_errors") > 0


@pytest.mark.parametrize(
    "order",
    [
        orders.SetPort("n9/card0/port0", up=False),
        orders.Attenuate(FIRST, -1.0),
        orders.Attenuate(FIRST, math.nan),
        orders.AgeLaser(FIRST, 1.0),
        orders.LoseLanes(FIRST, 5),
        orders.SetErrorRate(FIRST, 0.0),
        orders.SetErrorRate(FIRST, 0.9),
        orders.Bend("cable/x--y", 10.0),
        orders.Bend(CABLE, 0.0),
        orders.SlowHop(CABLE, math.inf),
        orders.Congest("switch/s9", 1.0),
        orders.SetThresholds("switch/s1", -1.0, 0.0),
        orders.Flap(FIRST, 1.0, down_share=1.5),
        orders.Flap(FIRST, 1e-9),
        orders.SetErrorRate(FIRST, 1e-9, over_s=-1.0),
        orders.MovePlug("switch/s1/port40", FIRST),
        Order(),
    ],
    ids=str,
)
def test_impossible_orders_are_refused_with_the_reason(order: Order) -> None:
    with pytest.raises(OrderError, match=r"."):
        do(build(1, 8), order)


ORDERS = st.sampled_from(
    [
        orders.Attenuate(FIRST, 2.8),
        orders.Attenuate(FIRST, 0.0),
        orders.Bend(CABLE, 12.0),
        orders.Bend(CABLE, None),
        orders.SetErrorRate(SECOND, 1e-7, over_s=5.0),
        orders.SetErrorRate(SECOND, None, over_s=3.0),
        orders.Flap(FIRST, 0.7),
        orders.Flap(FIRST, 0.0),
        orders.CutLink(SECOND, cut=True),
        orders.CutLink(SECOND, cut=False),
        orders.LoseLanes(FIRST, 2),
        orders.LoseLanes(FIRST, 4),
        orders.MovePlug(FIRST, "n0/card2/port0"),
        orders.MovePlug(FIRST, "n0/card0/port1"),
        orders.Unplug(FIRST, loose=True),
        orders.Unplug(FIRST, absent=True),
        orders.Reseat(FIRST),
        orders.AgeLaser(SECOND, 0.3),
        orders.SetPort(SECOND, up=False),
        orders.SetPort(SECOND, up=True),
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(ORDERS, st.floats(0.1, 4.0), st.floats(0.0, 1.0)), max_size=12))
def test_counters_never_fall_and_histories_repeat(history: list[tuple[Order, float, float]]) -> None:
    """Whatever is done; and the same again gives the same, also when nobody looked."""
    state = twin = build(1, 4)
    last = dict.fromkeys(COUNTERS, 0.0)
    for order, duration, traffic in history:
        inputs = Inputs(traffic=(traffic,) * 4)
        state, twin = (run(do(one, order), one.at + duration, inputs) for one in (state, twin))
        now = {quantity: number(state, FIRST, quantity) for quantity in COUNTERS}
        assert all(now[quantity] >= last[quantity] for quantity in COUNTERS), (last, now)
        last = now
    assert twin == state
    assert {quantity: number(twin, FIRST, quantity) for quantity in COUNTERS} == last or not history


@given(st.floats(0.01, 1e9), st.floats(1e-13, 9e-13), st.floats(1.1e-12, 1e-8))
def test_every_ramp_tells_both_crossings(over: float, low: float, high: float) -> None:
    """However slow or flat it is, and late in the plant's life."""
    state = build(1, 2)
    state = update(do(state, orders.SetErrorRate(FIRST, low)), 1e5, Inputs())
    state = do(state, orders.SetErrorRate(FIRST, high, over_s=over))
    seen: list[str] = []
    while state.next_time < math.inf:
        state = update(state, state.next_time, Inputs())
        seen += kinds(state)
    state = do(state, orders.SetErrorRate(FIRST, low, over_s=over))
    while state.next_time < math.inf:
        state = update(state, state.next_time, Inputs())
        seen += kinds(state)
    assert seen == ["link.degraded", "link.restored"]
