"""Whole racks late together are one trouble, of the thing they share."""

from __future__ import annotations

import pytest

from supernoded.incidents import SITE, Ledger
from supernoded.model import Level, Verdict
from supernoded.topology import CoolantLoop, Feed, Supernode, Topology

FEEDS = Topology(
    nodes=tuple(Supernode(name=f"n{n}", cards=8, feeds=("A" if n < 8 else "B",)) for n in range(16)), feeds=(Feed(name="A"), Feed(name="B"))
)
LOOPS = Topology(
    nodes=tuple(Supernode(name=f"n{n}", cards=8, feeds=("A", "B"), loop=f"cdu{n // 8}") for n in range(16)),
    loops=(CoolantLoop(name="cdu0"), CoolantLoop(name="cdu1")),
)


def raise_on(ledger: Ledger, nodes: range, begin: float, every: float, kind: str = "node.gone") -> None:
    for number, node in enumerate(nodes):
        ledger.take(Verdict(kind=kind, subject=f"n{node}", level=Level.RAISED, text="gone", at=begin + number * every))


@pytest.mark.parametrize(("site", "thing"), [(FEEDS, "feed/A"), (LOOPS, "cdu/0")])
def test_nodes_of_one_feed_or_loop_are_one_incident_of_it(site: Topology, thing: str) -> None:
    ledger = Ledger("fleet", site.shared)
    raise_on(ledger, range(8), 100.0, 1.5)
    ((subject, members),) = [(one.subject, one.members) for one in ledger.open]
    assert (subject, members) == (thing, tuple(f"n{n}" for n in range(8)))


def test_two_racks_are_two_incidents() -> None:
    ledger = Ledger("fleet", FEEDS.shared)
    raise_on(ledger, range(6, 8), 100.0, 1.0)
    raise_on(ledger, range(8, 10), 200.0, 1.0)
    assert [one.subject for one in ledger.open] == ["feed/A", "feed/B"]


def test_what_shares_nothing_is_of_the_site_from_three_on_and_what_comes_late_is_its_own() -> None:
    bare = Topology(nodes=tuple(Supernode(name=f"n{n}", cards=8) for n in range(6)))
    ledger = Ledger("fleet", bare.shared)
    raise_on(ledger, range(3), 100.0, 1.0)
    raise_on(ledger, range(4, 5), 300.0, 1.0)
    assert [(one.subject, len(one.members)) for one in ledger.open] == [(SITE, 3), ("n4", 0)]
