"""What is said of a ring by what its ports show: broken, miswired, unsure, and not before its time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import supernoded_ring
from supernoded.history import History
from supernoded.limits import Limits
from supernoded.model import Level, Reading, Severity, State, Verdict
from supernoded.plugin import Node, Rule
from supernoded.testing import ManualClock, MemoryHost, MemoryWires, judge
from supernoded.topology import Ring, RingLevel, Topology
from supernoded_ring.lookout import Lookout
from supernoded_ring.picture import WATCHES
from supernoded_ring.settings import RingSettings
from tests.plugins.ring.wiring import Mates, card, cut, make_plans, make_site, swap, wire, wire_order

UNITS = {
    "link.neighbour": "text",
    "ring.broken_at": "text",
    "ring.mode": "text",
    "host.uptime": "s",
    "hop.latency": "us",
    "hop.jitter": "us",
}
RING = "ring/r0"


def make_node(folder: Path, site: Topology | None = None, *maintenance: str) -> Node:
    wires, clock, host = MemoryWires(), ManualClock(), MemoryHost()
    return Node("n0", site or make_site(), Limits(), wires, clock, host, folder, maintenance)


def find_rule(node: Node, kind: str, scope: str = RING) -> Rule[Any]:
    (rule,) = [rule for rule in supernoded_ring.supernoded_rules(RingSettings(), node) if (rule.kind, rule.scope) == (kind, scope)]
    return rule


def read(subject: str, quantity: str, value: float | str | None, at: float = 1.0, note: str = "") -> Reading:
    state = State.GOOD if value is not None else State.UNKNOWN
    return Reading(subject=subject, quantity=quantity, value=value, unit=UNITS.get(quantity, "1"), at=at, state=state, note=note)


def show(mates: Mates, ports: Mapping[str, str] | None = None, *, neighbours: bool = True, at: float = 1.0) -> list[Reading]:
    """Every port of the ring as its sensors see it."""
    readings = [read(port, "link.state", float(port in mates), at) for port in ports or wire(make_plans())]
    told = [read(port, "link.neighbour", mate, at) for port, mate in mates.items()]
    return [*readings, *(told if neighbours else [])]


def ask(node: Node, kind: str, readings: list[Reading], scope: str = RING) -> Verdict:
    return judge(find_rule(node, kind, scope), readings)[-1]


GOOD = wire(make_plans())


@pytest.mark.parametrize("described", [True, False])
def test_a_good_ring_is_whole_and_in_order(tmp_path: Path, described: bool) -> None:
    node = make_node(tmp_path, make_site(described=described))
    for kind in ("ring.broken", "ring.order"):
        verdict = ask(node, kind, show(GOOD))
        assert (verdict.level, verdict.subject, verdict.unseen) == (Level.CLEAR, RING, ())


def test_a_broken_hop_is_named(tmp_path: Path) -> None:
    verdict = ask(make_node(tmp_path), "ring.broken", show(cut(GOOD, card(3, 0))))
    assert (verdict.level, verdict.severity) == (Level.RAISED, Severity.CRITICAL)
    assert verdict.text == (
        "ring/r0 is broken at n0/card3/port0 -> n0/card4/port1: the link at n0/card3/port0 is down and the link at n0/card4/port1 is down"
    )
    assert ask(make_node(tmp_path), "ring.order", show(cut(GOOD, card(3, 0)))).level is Level.CLEAR


def test_one_end_that_is_down_is_enough(tmp_path: Path) -> None:
    readings = [one for one in show(GOOD) if one.subject not in (card(3, 0), card(4, 1))]
    verdict = ask(make_node(tmp_path), "ring.broken", [*readings, read(card(4, 1), "link.state", 0.0, note="polling")])
    assert verdict.text == "ring/r0 is broken at n0/card3/port0 -> n0/card4/port1: the link at n0/card4/port1 is down (polling)"


def test_a_neighbour_that_was_seen_before_the_link_went_down_does_not_count(tmp_path: Path) -> None:
    readings = [one for one in show(GOOD) if (one.subject, one.quantity) != (card(3, 0), "link.state")]
    verdict = ask(make_node(tmp_path), "ring.broken", [*readings, read(card(3, 0), "link.state", 0.0)])
    assert verdict.level is Level.RAISED
    assert "at n0/card3/port0 -> n0/card4/port1:" in verdict.text


def test_without_neighbours_it_is_whole_but_its_order_is_not_seen(tmp_path: Path) -> None:
    readings = show(GOOD, neighbours=False)
    assert ask(make_node(tmp_path), "ring.broken", readings).level is Level.CLEAR
    order = ask(make_node(tmp_path), "ring.order", readings)
    assert (order.level, len(order.unseen)) == (Level.UNSURE, 8)
    assert order.unseen[0] == "n0/card0/port0 -> n0/card1/port1: a link is up, where it leads is not seen"


def test_what_is_not_seen_is_neither_whole_nor_broken(tmp_path: Path) -> None:
    readings = [one for one in show(GOOD) if one.subject not in (card(3, 0), card(4, 1))]
    verdict = ask(make_node(tmp_path), "ring.broken", readings)
    assert (verdict.level, verdict.unseen) == (
        Level.UNSURE,
        ("n0/card3/port0 -> n0/card4/port1: neither link.state nor link.neighbour is seen at either end",),
    )


def test_ends_that_contradict_each_other_are_believed_neither(tmp_path: Path) -> None:
    readings = [one for one in show(GOOD) if (one.subject, one.quantity) != (card(4, 1), "link.neighbour")]
    readings = [one for one in readings if one.subject != card(7, 0)]
    verdict = ask(make_node(tmp_path), "ring.order", [*readings, read(card(4, 1), "link.neighbour", card(7, 0))])
    assert verdict.level is Level.UNSURE
    assert any("n0/card3/port0 sees n0/card4/port1, but n0/card4/port1 sees n0/card7/port0" in text for text in verdict.unseen)


def test_a_cable_that_is_moved_between_two_looks_is_no_contradiction(tmp_path: Path) -> None:
    """Sending ports are asked before, receiving ones after the move; by their next turn all agree."""
    split = swap(GOOD, card(0, 1), card(4, 1))
    after = [one for one in show(split, at=61.2) if one.subject.endswith("port1")]
    mixed = [one for one in show(GOOD, at=60.6) if one.subject.endswith("port0")]
    for readings in ([*show(GOOD), *mixed, *after], [*show(GOOD), *mixed, *after, *show(split, at=120.0)]):
        verdict = ask(make_node(tmp_path), "ring.order", readings)
        assert (verdict.level, verdict.text.startswith("ring/r0 is split")) == (Level.RAISED, True)
    back = [*show(split), *(one for one in show(GOOD, at=60.6) if one.subject.endswith("port1"))]
    assert ask(make_node(tmp_path), "ring.order", [*back, *show(split, at=60.0)]).level is Level.CLEAR


def test_of_two_sources_the_newer_word_counts(tmp_path: Path) -> None:
    swapped = swap(GOOD, card(3, 0), card(3, 1))
    old = [msgspec.structs.replace(one, source="a") for one in show(GOOD, at=1.0)]
    new = [msgspec.structs.replace(one, source="b") for one in show(swapped, at=31.0)]
    assert ask(make_node(tmp_path), "ring.order", [*old, *new]).level is Level.RAISED


@pytest.mark.parametrize(
    ("mates", "words"),
    [
        (swap(GOOD, card(3, 0), card(3, 1)), "ring/r0 is miswired: The two cables at n0/card3 are swapped"),
        (swap(GOOD, card(2, 1), card(6, 1)), "ring/r0 is split: The cables of n0/card1/port0 -> n0/card2/port1 and n0/card5/port0"),
        (swap(GOOD, card(2, 1), card(4, 0)), "ring/r0 is miswired: The segment n0/card2, n0/card3, n0/card4 is wired the other way"),
    ],
)
def test_miswirings_are_named_with_their_moves(tmp_path: Path, mates: Mates, words: str) -> None:
    verdict = ask(make_node(tmp_path), "ring.order", show(mates))
    assert (verdict.level, verdict.severity) == (Level.RAISED, Severity.CRITICAL)
    assert verdict.text.startswith(words)
    assert "2 re-plugged cable ends repair it: (1) Take the end in" in verdict.text
    assert ask(make_node(tmp_path), "ring.broken", show(mates)).level is Level.CLEAR


def test_a_logical_order_that_is_not_the_physical_one(tmp_path: Path) -> None:
    verdict = ask(make_node(tmp_path), "ring.order", show(wire_order([0, 2, 1, 3, 4, 5, 6, 7])))
    assert "n0/card1 and n0/card2 have changed places in the ring r0." in verdict.text


def test_one_end_of_each_link_is_enough_to_see_swapped_ports(tmp_path: Path) -> None:
    mates = swap(GOOD, card(3, 0), card(3, 1))
    readings = [one for one in show(mates) if one.quantity == "link.state" or one.subject.startswith("n0/card2/")]
    verdict = ask(make_node(tmp_path), "ring.order", readings)
    assert (verdict.level, "The two cables at n0/card3 are swapped" in verdict.text) == (Level.RAISED, True)
    assert ask(make_node(tmp_path), "ring.broken", readings).level is Level.CLEAR


@pytest.mark.parametrize("uptime", [40.0, 299.0])
def test_a_node_that_has_just_booted_is_not_judged(tmp_path: Path, uptime: float) -> None:
    readings = [*show(cut(GOOD, card(3, 0))), read("n0", "host.uptime", uptime)]
    verdict = ask(make_node(tmp_path), "ring.broken", readings)
    assert verdict.level is Level.UNSURE
    assert f"n0 booted {uptime:.0f} s ago, it is judged from 300 s on" in verdict.unseen[0]


@pytest.mark.parametrize(
    ("ups", "level"), [(range(0, 30, 5), Level.RAISED), (range(0, 15, 5), Level.UNSURE), (range(0, 60, 10), Level.UNSURE)]
)
def test_a_link_that_was_up_steadily_since_the_boot_is_lost(tmp_path: Path, ups: range, level: Level) -> None:
    ports = (card(3, 0), card(4, 1))
    before = [read(port, "link.state", 1.0 if at in ups else 0.0, float(at)) for at in range(0, 60, 5) for port in ports]
    readings = [*before, *show(cut(GOOD, card(3, 0)), at=60.0), read("n0", "host.uptime", 62.0, 60.0)]
    assert ask(make_node(tmp_path), "ring.broken", readings).level is level


def test_a_node_that_is_up_for_long_is_judged(tmp_path: Path) -> None:
    readings = [*show(cut(GOOD, card(3, 0))), read("n0", "host.uptime", 301.0)]
    assert ask(make_node(tmp_path), "ring.broken", readings).level is Level.RAISED


def test_a_card_under_maintenance_is_not_judged(tmp_path: Path) -> None:
    readings = show(cut(GOOD, card(3, 0), card(3, 1)))
    verdict = ask(make_node(tmp_path, make_site(), "n0/card3"), "ring.broken", readings)
    assert (verdict.level, verdict.unseen[0]) == (Level.UNSURE, "n0/card2/port0 -> n0/card3/port1: under maintenance")
    assert ask(make_node(tmp_path, make_site(), "n0/card5"), "ring.broken", readings).level is Level.RAISED


def test_two_rings_are_judged_apart(tmp_path: Path) -> None:
    node, plans = make_node(tmp_path, make_site(rings=2)), make_plans(8, 2)
    readings = show(cut(wire(plans), card(3, 0, node=1)), wire(plans))
    assert ask(node, "ring.broken", readings).level is Level.CLEAR
    assert ask(node, "ring.broken", readings, "ring/r1").level is Level.RAISED


def test_a_ring_of_nodes_by_uplinks_that_nobody_described(tmp_path: Path) -> None:
    cluster = {"name": "c", "level": "cluster", "order": ["n0", "n1"]}
    site = msgspec.convert({"nodes": [{"name": "n0", "cards": 1}, {"name": "n1", "cards": 1}], "rings": [cluster]}, Topology)
    node = make_node(tmp_path, site)
    up = [read(f"{name}/nic/mlx5_0", "link.state", 1.0) for name in ("n0", "n1")]
    told = [read(f"{name}/nic/mlx5_0", "link.neighbour", f"switch/s0/port{name[1]}") for name in ("n0", "n1")]
    spare = [read("n1/nic/mlx5_9", "link.state", 0.0)]  # not provisioned
    assert ask(node, "ring.broken", [*up, *told, *spare], "ring/c").level is Level.CLEAR
    down = [read("n1/nic/mlx5_0", "link.state", 0.0)]
    verdict = ask(node, "ring.broken", [up[0], told[0], *down, *spare], "ring/c")
    assert (verdict.level, "n1/nic/mlx5_" in verdict.text) == (Level.RAISED, True)
    assert ask(node, "ring.broken", [read("n0", "host.uptime", 1e6)], "ring/c").level is Level.UNSURE


def make_rack() -> Topology:
    """Two nodes with a ring of cards each, and a ring of nodes over a switch of which no cable is described."""
    site = make_site(rings=2)
    return msgspec.structs.replace(site, rings=(*site.rings, Ring(name="c", level=RingLevel.CLUSTER, order=("n0", "n1"))))


def show_uplinks(state: float = 1.0, at: float = 1.0) -> list[Reading]:
    """Cards with all links up, which have nothing to do with it, and the uplinks; that of n1 as it is."""
    up = [read(f"{name}/nic/mlx5_0", "link.state", value, at) for name, value in (("n0", 1.0), ("n1", state))]
    return [*up, *show(wire(make_plans(8, 2)), wire(make_plans(8, 2)), at=at)]


def tell_switch(*nodes: str, at: float = 1.0) -> list[Reading]:
    return [read(f"{name}/nic/mlx5_0", "link.neighbour", f"switch/s0/port{name[1]}", at) for name in nodes]


def test_the_uplink_of_a_node_is_named_though_all_its_cards_are_linked(tmp_path: Path) -> None:
    node = make_node(tmp_path, make_rack())
    healthy = [*show_uplinks(), *tell_switch("n0", "n1")]
    for kind in ("ring.broken", "ring.order"):
        assert ask(node, kind, healthy, "ring/c").level is Level.CLEAR
    verdict = ask(node, "ring.broken", [*healthy, *show_uplinks(0.0, at=2.0), *tell_switch("n0", at=2.0)], "ring/c")
    assert verdict.level is Level.RAISED
    assert verdict.text == "ring/c is broken at n1/nic/mlx5_0 -> switch/s0/port1: the link at n1/nic/mlx5_0 is down"
    never_told = ask(node, "ring.broken", [*show_uplinks(0.0), *tell_switch("n0")], "ring/c")
    assert (never_told.level, "n1/nic/mlx5_0" in never_told.text) == (Level.RAISED, True)


def test_a_node_that_is_silent_makes_the_ring_unsure_and_its_uplink_is_named(tmp_path: Path) -> None:
    rule, history = find_rule(make_node(tmp_path, make_rack()), "ring.broken", "ring/c"), History(WATCHES)
    for reading in (*show_uplinks(), *tell_switch("n0", "n1")):
        history.add([reading], 13.0 if reading.subject.startswith("n1") else 1e6)
    levels = {}
    for now in (10.0, 20.0):
        _, (verdict,) = rule.judge(history.view(now, rule.watches), None)
        levels[now] = verdict.level
    assert levels == {10.0: Level.CLEAR, 20.0: Level.UNSURE}
    assert verdict.unseen == ("n1/nic/mlx5_0 -> switch/s0/port1: neither link.state nor link.neighbour is seen at either end",)


def test_an_uplink_that_is_up_and_leads_who_knows_where_is_whole_but_its_order_is_not_seen(tmp_path: Path) -> None:
    node, readings = make_node(tmp_path, make_rack()), [*show_uplinks(), *tell_switch("n0")]
    assert ask(node, "ring.broken", readings, "ring/c").level is Level.CLEAR
    order = ask(node, "ring.order", readings, "ring/c")
    assert (order.level, "n1/nic/mlx5_0" in order.text) == (Level.UNSURE, True)


def test_all_who_are_asked_at_one_instant_share_a_look_and_one_who_asks_again_looks_again(tmp_path: Path) -> None:
    (plan,) = make_plans()
    lookout, history = Lookout(plan, make_node(tmp_path), RingSettings()), History({"link.state": 600.0, "link.neighbour": 600.0})
    history.add(show(GOOD), 60.0)
    first, _ = lookout.look(history.view(2.0, WATCHES), "a")
    assert lookout.look(history.view(2.0, WATCHES), "b")[0] is first
    history.add([read(card(3, 0), "link.state", 0.0, 1.5)], 60.0)
    assert lookout.look(history.view(2.0, WATCHES), "a")[1].verdict == "broken"
    assert lookout.look(history.view(3.0, WATCHES), "b")[1].verdict == "broken"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.data())
def test_no_reading_makes_it_raise_an_error(tmp_path: Path, data: st.DataObject) -> None:
    subjects = st.sampled_from([*GOOD, "n0", RING, "n0/card0", "cable/x", "switch/s/port1", ""])
    texts = st.one_of(subjects, st.text(max_size=5))
    readings = data.draw(
        st.lists(
            st.one_of(
                st.builds(read, subjects, st.just("link.neighbour"), st.one_of(st.none(), texts), st.just(1.0)),
                st.builds(read, subjects, st.sampled_from(["link.state", "ring.closed"]), st.sampled_from([None, 0.0, 1.0])),
                st.builds(read, subjects, st.just("ring.broken_at"), texts),
                st.builds(read, subjects, st.just("host.uptime"), st.sampled_from([1.0, 1e6])),
                st.builds(read, subjects, st.sampled_from(["hop.latency", "hop.jitter"]), st.floats(0, 1e7)),
            ),
            max_size=40,
        )
    )
    node = make_node(tmp_path)
    for rule in supernoded_ring.supernoded_rules(RingSettings(), node):
        for verdict in judge(rule, [one for one in readings if one.quantity in rule.watches]):
            assert verdict.kind == rule.kind
            assert (verdict.level is not Level.UNSURE) or verdict.unseen
