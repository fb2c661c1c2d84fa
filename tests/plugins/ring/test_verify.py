"""Each way to wire a ring wrongly is called by its name, and its healthy partner is not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.plant.links.rings import trace_ring
from supernoded_ring.links import join_links, recognise
from supernoded_ring.plan import build_plans
from supernoded_ring.verify import Report, verify
from tests.plugins.ring.wiring import Mates, card, cut, join, make_plans, make_site, swap, wire, wire_order

KINDS = {
    *("missing_hop", "wrong_port", "exchanged_cables", "reversed_segment", "closed_sub_ring", "wrong_order", "unknown_port", "duplicate")
}


def name(report: Report) -> list[tuple[str, str]]:
    return [(finding.kind, finding.subject) for finding in report.findings]


def check(mates: Mates, members: int = 8, rings: int = 1) -> Report:
    return verify(make_plans(members, rings), mates)


@pytest.mark.parametrize("members", [2, 3, 8])
@pytest.mark.parametrize("described", [True, False])
def test_a_good_ring_is_closed(members: int, described: bool) -> None:
    plans = build_plans(make_site(members, described=described))
    report = verify(plans, wire(make_plans(members)))
    assert (report.verdict, report.findings, report.moves) == ("closed", (), ())


def test_a_broken_hop_is_named_with_both_ports() -> None:
    report = check(cut(wire(make_plans()), card(3, 0)))
    assert (report.verdict, name(report)) == ("broken", [("missing_hop", "n0/card3/port0")])
    assert report.findings[0].sentence == "The hop n0/card3/port0 -> n0/card4/port1 is missing: no link is seen at either end."


def test_the_last_hop_closes_the_ring() -> None:
    report = check(cut(wire(make_plans()), card(7, 0)))
    assert "n0/card7/port0 -> n0/card0/port1" in report.findings[0].sentence


@pytest.mark.parametrize("number", range(8))
def test_swapped_ports_at_any_card(number: int) -> None:
    report = check(swap(wire(make_plans()), card(number, 0), card(number, 1)))
    assert (report.verdict, name(report), len(report.moves)) == ("miswired", [("wrong_port", f"n0/card{number}")], 2)


def test_swapped_ports_at_several_cards() -> None:
    mates = swap(wire(make_plans()), card(2, 0), card(2, 1))
    apart = check(swap(mates, card(5, 0), card(5, 1)))
    assert name(apart) == [("wrong_port", "n0/card2"), ("wrong_port", "n0/card5")]
    beside = check(swap(mates, card(3, 0), card(3, 1)))
    assert name(beside) == [("wrong_port", "n0/card2"), ("wrong_port", "n0/card3")]
    assert len(beside.moves) == 3  # one fewer than putting right card by card


def test_swapped_ports_of_the_first_card_and_of_a_pair() -> None:
    assert name(check(swap(wire(make_plans(2)), card(0, 0), card(0, 1)), 2)) == [("wrong_port", "n0/card1")]  # either is right for two


@pytest.mark.parametrize(("one", "two"), [pair for pair in combinations(range(8), 2) if (pair[1] - pair[0]) % 8 not in (1, 7)])
def test_two_exchanged_cables_make_two_rings(one: int, two: int) -> None:
    report = check(swap(wire(make_plans()), card(one, 1), card(two, 1)))
    kinds = [kind for kind, _ in name(report)]
    assert (report.verdict, kinds, len(report.moves)) == ("split", ["exchanged_cables", "closed_sub_ring", "closed_sub_ring"], 2)
    for port in (card(one, 1), card(two, 1)):
        assert port in report.findings[0].sentence
    sizes = [finding.sentence.count("n0/card") for finding in report.findings[1:]]
    assert sorted(sizes) == sorted((two - one, 8 - (two - one)))


def test_a_card_wired_to_itself() -> None:
    report = check(swap(wire(make_plans()), card(3, 1), card(4, 1)))
    assert report.verdict == "split"
    assert "n0/card3 makes a closed ring of its own, 1 of the 8 members, with all links up." in [f.sentence for f in report.findings]


@pytest.mark.parametrize(("first", "last", "segment"), [(2, 4, [2, 3, 4]), (3, 4, [3, 4]), (1, 6, [7, 0])])
def test_a_segment_turned_round(first: int, last: int, segment: Sequence[int]) -> None:
    report = check(swap(wire(make_plans()), card(first, 1), card(last, 0)))
    assert (report.verdict, name(report), len(report.moves)) == ("miswired", [("reversed_segment", f"n0/card{segment[0]}")], 2)
    assert ", ".join(f"n0/card{number}" for number in segment) in report.findings[0].sentence


@pytest.mark.parametrize(
    ("order", "subject"),
    [([0, 1, 5, 4, 3, 2, 6, 7], "n0/card2"), ([0, 7, 6, 5, 4, 3, 2, 1], "ring/r0"), ([4, 3, 2, 0, 1, 7, 6, 5], "n0/card2")],
)
def test_a_segment_in_reverse_order(order: list[int], subject: str) -> None:
    report = check(wire_order(order))
    assert (report.verdict, name(report)) == ("miswired", [("reversed_segment", subject)])


@pytest.mark.parametrize(
    ("order", "words"),
    [([0, 2, 1, 3, 4, 5, 6, 7], "n0/card1 and n0/card2"), ([5, 1, 2, 3, 4, 0, 6, 7], "n0/card0 and n0/card5")],
)
def test_two_cards_in_each_others_place(order: list[int], words: str) -> None:
    report = check(wire_order(order))
    assert (report.verdict, [f.kind for f in report.findings]) == ("miswired", ["wrong_order"])
    assert report.findings[0].sentence.startswith(f"{words} have changed places")


def test_any_other_order() -> None:
    report = check(wire_order([0, 2, 4, 6, 1, 3, 5, 7]))
    assert (report.verdict, name(report)) == ("miswired", [("wrong_order", "n0/card2")])
    assert "n0/card0 is followed by n0/card2 instead of n0/card1" in report.findings[0].sentence


def test_a_missing_card() -> None:
    mates = cut(wire(make_plans()), card(3, 0), card(3, 1))
    report = check(mates)
    assert (report.verdict, name(report), len(report.moves)) == ("broken", [("missing_hop", "n0/card3")], 4)
    past = check(mates | join([(card(2, 0), card(4, 1))]))
    assert (past.verdict, name(past), len(past.moves)) == ("broken", [("missing_hop", "n0/card3")], 3)
    assert "n0/card2/port0 leads past it to n0/card4/port1" in past.findings[0].sentence


def test_a_cable_that_leads_out_of_the_ring() -> None:
    report = check(swap(wire(make_plans()), card(4, 1), card(9, 0)))
    assert (report.verdict, name(report), len(report.moves)) == ("broken", [("wrong_port", "n0/card3/port0")], 1)
    assert report.findings[0].sentence == "n0/card3/port0 leads to n0/card9/port0 instead of n0/card4/port1, where no link is seen."


def test_cables_of_two_rings_exchanged() -> None:
    plans = make_plans(8, 2)
    report = verify(plans, swap(wire(plans), card(3, 1), card(5, 1, node=1)))
    assert [ring.verdict for ring in report.rings] == ["miswired", "miswired"]
    assert (report.verdict, name(report), len(report.moves)) == ("miswired", [("exchanged_cables", "n0/card2/port0")], 2)
    assert [len(ring.moves) for ring in report.rings] == [1, 1]


def test_one_bad_ring_of_two() -> None:
    plans = make_plans(8, 2)
    report = verify(plans, cut(wire(plans), card(3, 0, node=1)))
    told = [(ring.ring, ring.verdict, len(ring.findings), len(ring.moves)) for ring in report.rings]
    assert told == [("r0", "closed", 0, 0), ("r1", "broken", 1, 2)]
    assert report.verdict == "broken"


def test_nothing_is_seen() -> None:
    report = check({})
    assert (report.verdict, len(report.findings), len(report.moves)) == ("broken", 8, 16)


def test_links_told_by_both_ends_are_one_link() -> None:
    pairs = [(hop.a, hop.b) for plan in make_plans() for hop in plan.hops]
    known = recognise(make_site())
    assert join_links([*pairs, *((b, a) for a, b in pairs)], known) == (wire(make_plans()), [])


def test_what_contradicts_itself_is_named_by_its_entries() -> None:
    one = (card(0, 0), card(1, 1))
    pairs = [one, one, (card(2, 0), card(1, 1)), (card(3, 0), card(3, 0)), (card(4, 0), "n0/card77/port1")]
    mates, findings = join_links(pairs, recognise(make_site()))
    assert mates == join([(card(0, 0), card(1, 1))])
    assert [(finding.kind, finding.subject) for finding in findings] == [
        ("duplicate", card(0, 0)),
        ("duplicate", card(1, 1)),
        ("wrong_port", card(3, 0)),
        ("unknown_port", "n0/card77/port1"),
    ]
    assert findings[1].sentence == (
        "n0/card1/port1 leads to n0/card0/port0 by entry 1 and to n0/card2/port0 by entry 3; a port takes one cable."
    )


def test_a_closed_ring_told_twice_is_not_called_closed() -> None:
    plans = make_plans()
    pairs = [(hop.a, hop.b) for hop in plans[0].hops]
    mates, findings = join_links([*pairs, pairs[0]], recognise(make_site()))
    assert verify(plans, mates, findings).verdict == "miswired"


@given(st.integers(2, 8), st.data())
def test_any_wiring_gets_a_verdict_that_fits_its_links(members: int, data: st.DataObject) -> None:
    plans = make_plans(members)
    good = wire(plans)
    ports = data.draw(st.permutations([*good, card(members, 0), card(members, 1)]))
    mates = join(zip(ports[::2], ports[1::2], strict=True))
    mates = cut(mates, *data.draw(st.lists(st.sampled_from(ports), max_size=2)))
    report = verify(plans, mates)
    right = all(mates.get(port) == mate for port, mate in good.items())
    assert (report.verdict == "closed") == right == (not report.findings) == (not report.moves)
    assert {finding.kind for finding in report.findings} <= KINDS
    dark = any(mates.get(port, "") not in good for port in good)
    assert (report.verdict == "broken") == dark
    if report.verdict == "split":
        assert len([finding for finding in report.findings if finding.kind == "closed_sub_ring"]) > 1


@given(st.integers(2, 8), st.data())
def test_the_simulated_library_falls_back_exactly_where_the_ring_is_not_closed(members: int, data: st.DataObject) -> None:
    """Two graphs, written apart: a star is a closed cycle that was not meant; without one through all members it is an all-reduce."""
    plans = make_plans(members)
    good = wire(plans)
    ports = data.draw(st.permutations(sorted(good)))
    mates = good
    for one, two in zip(ports[:4:2], ports[1:4:2], strict=True):
        mates = swap(mates, one, two)
    mates = cut(mates, *data.draw(st.lists(st.sampled_from(ports), max_size=1)))
    mode = trace_ring(plans[0].members, lambda port: mates.get(port, "")).mode
    assert {"sar_ring": ("closed",), "star": ("miswired",), "allreduce": ("broken", "split")}[mode].count(verify(plans, mates).verdict)
