"""What the ring tools print."""

from __future__ import annotations

import pytest

from supernoded_ascend.ring_answers import list_numbers, parse_check, parse_hops

ORDER = tuple(f"n0/card{card}" for card in (0, 1, 3, 2))


def check(text: str) -> dict[str, tuple[object, str]]:
    found = parse_check(text, ORDER, 7.0, "ring/b")
    assert {reading.subject for reading in found} == {"ring/b"}
    return {reading.quantity: (reading.value, reading.note) for reading in found}


def test_closed() -> None:
    assert check("Ring status: OK, nodes: [0,1,2,3]\n") == {"ring.closed": (1.0, ""), "ring.broken_at": (None, "not broken")}
    assert check("Ring status: OK, nodes: [0,1,...,3]\n")["ring.closed"] == (1.0, "")
    assert check("Ring status: OK\n")["ring.closed"] == (1.0, "")


def test_broken_at_a_member_by_the_rings_order() -> None:
    assert check("Ring broken at node 2\n") == {"ring.closed": (0.0, "broken at 2"), "ring.broken_at": ("n0/card3", "")}
    assert check("Ring broken at node 256\n") == {"ring.closed": (0.0, "broken at 256"), "ring.broken_at": (None, "there is no member 256")}


def test_closed_over_too_few_is_not_closed() -> None:
    found = check("Ring status: OK, nodes: [0,1,3]")
    assert found == {"ring.closed": (0.0, "closed over 3 of 4 members, without 2"), "ring.broken_at": ("n0/card3", "")}


def test_closed_in_another_order() -> None:
    assert check("Ring status: OK, nodes: [0,2,1,3]")["ring.closed"] == (1.0, "closed in another order: '0,2,1,3'")


@pytest.mark.parametrize(("mode", "told"), [("star", "star"), ("AllReduce", "allreduce"), ("sar_ring", "sar_ring"), ("NA", None)])
def test_modes(mode: str, told: str | None) -> None:
    found = check(f"Ring status: UNKNOWN, mode: {mode}\n")
    assert found["ring.closed"] == (None, "the tool says 'unknown'")
    assert found["ring.mode"][0] == told


@pytest.mark.parametrize("text", ["", "segmentation fault", "Ring status: OK, nodes: [0,,1]", "Ring status: OK, nodes: [0,...]"])
def test_another_shape_is_unknown(text: str) -> None:
    value, note = check(text)["ring.closed"]
    assert value is None
    assert note


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("0,1,2", [0, 1, 2]), ("0, 1, 2, ..., 5", [0, 1, 2, 3, 4, 5]), ("...,3", None), ("", None), ("0,x", None), ("0,...,9999999", None)],
)
def test_numbers(text: str, numbers: list[int] | None) -> None:
    assert list_numbers(text) == numbers


def test_hops() -> None:
    text = "Ring size: 3\nRing order: 0,1,2\nHop 0->1: 2.05 us\nHop 1 -> 2 : 2.10µs\nHop 2->0: timeout\nRing latency: timeout\n"
    hops = parse_hops(text)
    assert [(hop.one, hop.other, hop.latency) for hop in hops] == [(0, 1, 2.05), (1, 2, 2.1), (2, 0, None)]
    assert hops[2].note == "no latency: 'timeout'"
    assert parse_hops("Ring latency: 2.0 us") == []
