"""Cabling as data: graphs, modes, hops, and what they are worth."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.plant.links import Inputs, orders, ring_factor, sense, update
from sim_hardware.plant.links.rings import ALLREDUCE, SAR_RING, STAR, trace_ring
from sim_hardware.rack import generate_rack
from tests.sim.plant.links.plants import CABLE, FIRST, build, do, kinds, number, run

RING = "ring/backplane-n0"
ORDER = tuple(f"n0/card{slot}" for slot in range(8))


def test_a_good_ring() -> None:
    state = run(build(4), 1000.0, step=10.0)
    assert sense(state, "n0", "ring.mode") == sense(state, "ring/cluster", "ring.mode") == SAR_RING
    assert ring_factor(state, "n0") == 1.0
    for tick in range(200):
        assert 1.4 <= number(run(state, state.at + tick / 2), RING, "hop.latency") <= 2.1  # R8


@pytest.mark.parametrize("level", [1, 4])
def test_swapped_ports_make_a_star(level: int) -> None:
    """R7: it still closes, with 18 us a hop."""
    state = do(build(level), orders.MovePlug("n0/card3/port0", "n0/card3/port1"))
    assert sense(state, RING, "ring.mode") == STAR
    assert sense(state, RING, "ring.closed") == 0.0
    assert 15.0 <= number(state, RING, "hop.latency") <= 20.0
    assert ring_factor(state, "n0") == pytest.approx(3.0, abs=0.01)
    assert kinds(state) == ["cable.moved", "ring.broken", "ring.mode_changed"]


def test_a_broken_link_makes_an_all_reduce() -> None:
    """R5, R6."""
    state = do(build(), orders.CutLink("n0/card2/port0", cut=True))
    assert sense(state, RING, "ring.mode") == ALLREDUCE
    assert sense(state, RING, "ring.broken_at") == "n0/card2/port0"
    assert ring_factor(state, "n0") == pytest.approx(312 / 89)


def test_two_closed_rings_are_not_one() -> None:
    state = do(build(), orders.MovePlug("n0/card0/port0", "n0/card4/port0"))
    assert sense(state, RING, "ring.mode") == ALLREDUCE
    assert sense(state, RING, "ring.cycles") == 2.0
    assert sense(state, "n0/card0/port0", "link.state") == 1.0  # all counters are good
    assert sense(state, "n0/card0/port0", "link.neighbour") == "n0/card5/port1"


def test_a_ring_of_nodes_hangs_on_its_uplinks() -> None:
    state = do(build(4), orders.Unplug("n2/nic/mlx5_0", absent=True))
    assert sense(state, "ring/cluster", "ring.mode") == ALLREDUCE
    assert sense(state, "ring/cluster", "ring.broken_at") == "n2/nic/mlx5_0"
    assert sense(state, "n0", "ring.mode") == SAR_RING
    dark = update(build(4), 0.5, Inputs(dark=frozenset({"switch/s1"})))
    assert sense(dark, "ring/cluster", "ring.broken_at") == "n0/nic/mlx5_0"


PORTS = st.sampled_from([f"n{node}/card{slot}/port{port}" for node in (0, 1) for slot in range(8) for port in (0, 1)])


@given(PORTS, PORTS)
def test_a_plug_moved_there_and_back_restores_everything(source: str, target: str) -> None:
    before = build(2)
    after = do(before, orders.MovePlug(source, target), orders.MovePlug(source, target))
    assert (after.peers, after.plugs, after.rings, after.factors) == (before.peers, before.plugs, before.rings, before.factors)
    assert [port.up for port in after.ports] == [port.up for port in before.ports]


@given(st.lists(st.tuples(PORTS, PORTS), max_size=6))
def test_whatever_is_moved_links_have_two_ends(moves: list[tuple[str, str]]) -> None:
    state = do(build(2), *(orders.MovePlug(*move) for move in moves))
    for number_, peer in enumerate(state.peers):
        assert peer < 0 or (state.peers[peer] == number_ and state.plugs[peer] == state.plugs[number_] ^ 1)
        assert peer < 0 or state.ports[peer].up == state.ports[number_].up


@given(st.permutations(range(8)), st.lists(st.booleans(), min_size=8, max_size=8))
def test_only_the_right_order_is_the_ring(order: list[int], flipped: list[bool]) -> None:
    """Cards cabled in another order, or turned round, are a star when they close."""
    across: dict[str, str] = {}
    for place, slot in enumerate(order):
        after = order[(place + 1) % 8]
        one = f"n0/card{slot}/port{1 if flipped[slot] else 0}"
        other = f"n0/card{after}/port{0 if flipped[after] else 1}"
        across |= {one: other, other: one}
    found = trace_ring(ORDER, lambda port: across.get(port, ""))
    start = order.index(0)
    right = [*order[start:], *order[:start]] == list(range(8)) and not any(flipped)
    assert found.cycles == 1
    assert found.mode == (SAR_RING if right else STAR)


def test_slow_hops_and_lost_lanes_slow_a_ring() -> None:
    slow = do(build(), orders.SlowHop(CABLE, 5.0))
    assert number(slow, CABLE, "hop.latency") == pytest.approx(6.7, abs=0.4)
    assert number(slow, RING, "hop.latency") == number(slow, CABLE, "hop.latency")
    assert 1.3 < ring_factor(slow, "n0") < 2.0
    assert ring_factor(do(slow, orders.SlowHop(CABLE, 0.0)), "n0") == 1.0
    assert ring_factor(do(build(), orders.LoseLanes(FIRST, 2)), "n0") == 2.0


def test_a_cable_without_a_link_has_no_latency() -> None:
    assert sense(do(build(), orders.CutLink(FIRST, cut=True)), CABLE, "hop.latency") is None


def test_a_rack_of_one_card_has_no_ring() -> None:
    state = build(1, 1)
    assert ring_factor(state, "n0") == 1.0
    assert len(generate_rack(1, 1).rings) == 0
    assert sense(state, "n0/card0/port0", "link.phys_state") == "Polling"


SWITCH = "switch/s1"


def counts(state_orders: tuple[orders.Congest | orders.SetThresholds, ...]) -> tuple[float, float, float]:
    state = run(do(build(4), *state_orders), 10.0)
    drops, marks, pauses = (number(state, SWITCH, f"switch.{kind}") for kind in ("drops", "marks", "pauses"))
    assert (number(state, f"{SWITCH}/port0", "link.discards") > 0) == (drops > 0)
    assert (number(state, "n0/nic/mlx5_0", "link.cnp") > 0) == (marks > 0)
    assert (number(state, "n0/nic/mlx5_0", "link.pfc_received") > 0) == (pauses > 0)
    return drops, marks, pauses


def test_a_switch_that_is_set_right_marks_and_pauses_and_keeps_all() -> None:
    assert counts((orders.Congest(SWITCH, 0.5),)) == (0.0, 0.0, 0.0)
    drops, marks, pauses = counts((orders.Congest(SWITCH, 1.0),))
    assert (drops, pauses) == (0.0, 0.0)
    assert marks > 0
    assert counts((orders.Congest(SWITCH, 2.0),))[2] > 0


@pytest.mark.parametrize(
    "wrong", [orders.SetThresholds(SWITCH, 120_000, 119_000), orders.SetThresholds(SWITCH, 120_000, 110_000, ecn=False)]
)
def test_ecn_too_late_is_hidden_loss(wrong: orders.SetThresholds) -> None:
    """N6: drops, and neither marks nor pauses."""
    drops, marks, pauses = counts((wrong, orders.Congest(SWITCH, 1.5)))
    assert drops > 0
    assert (marks, pauses) == (0.0, 0.0)


def test_a_wrong_pfc_threshold_loses(  # N4
) -> None:
    drops, marks, _ = counts((orders.SetThresholds(SWITCH, 90_000, 80_000), orders.Congest(SWITCH, 1.5)))
    assert drops > 0
    assert marks > 0


def test_dropping_is_told_once() -> None:
    wrong = orders.SetThresholds(SWITCH, 120_000, 125_000)
    state = do(build(4), wrong, orders.Congest(SWITCH, 1.5), orders.Congest(SWITCH, 1.6), orders.Congest(SWITCH, 0.0))
    assert kinds(state) == ["switch.dropping", "switch.kept"]


def test_what_is_lost_or_queues_is_jitter() -> None:
    uplink = "cable/n0/nic/mlx5_0--switch/s1/port0"
    quiet = build(4)
    busy = do(quiet, orders.Congest(SWITCH, 1.2))
    lossy = do(quiet, orders.SetErrorRate("n0/nic/mlx5_0", 1e-8))
    assert number(quiet, uplink, "hop.jitter") == pytest.approx(0.3, abs=0.01)
    assert number(busy, uplink, "hop.jitter") > 1.0
    assert number(lossy, uplink, "hop.jitter") > 1.0
    assert number(busy, uplink, "hop.latency") > number(quiet, uplink, "hop.latency") + 1.0


def test_hidden_loss_slows_the_ring_between_nodes() -> None:
    marked = do(build(4), orders.Congest(SWITCH, 1.5))
    hidden = do(marked, orders.SetThresholds(SWITCH, 120_000, 125_000))
    assert ring_factor(hidden, "n0") > ring_factor(marked, "n0") > 1.0
    assert ring_factor(do(hidden, orders.Congest(SWITCH, 0.0)), "n0") == 1.0


def test_a_new_sender_is_counted_from_when_it_is_plugged_in() -> None:
    traffic = Inputs(traffic=tuple(slot / 8 for slot in range(8)))
    state = run(build(), 10.0, traffic)
    assert number(state, FIRST, "link.bits") == pytest.approx(10.0 * 200e9 * 1 / 8)  # what card 1 sent
    state = run(do(state, orders.MovePlug(FIRST, "n0/card4/port0")), 20.0, traffic)
    assert number(state, FIRST, "link.bits") == pytest.approx(10.0 * 200e9 * (1 / 8 + 5 / 8))
