"""What the plugin hands in, and what it tells people to touch."""

from __future__ import annotations

from pathlib import Path

import supernoded_link_ber
from supernoded.limits import Limits
from supernoded.model import Incident, Outcome, Result, Severity
from supernoded.plugin import Case, Node, World
from supernoded.testing import ManualClock, MemoryHost, MemoryWires
from supernoded.topology import Cable, Supernode, Topology
from supernoded_link_ber.ber import BerRule
from supernoded_link_ber.settings import LinkBerSettings

TOPOLOGY = Topology(nodes=(Supernode(name="n0", cards=2),), cables=(Cable(a="n0/card0/port0", b="n0/card1/port1"),))


def make_node(folder: Path) -> Node:
    return Node(name="n0", topology=TOPOLOGY, limits=Limits(), wires=MemoryWires(), clock=ManualClock(), host=MemoryHost(), state=folder)


def make_case(subject: str = "n0/card0/port0", members: tuple[str, ...] = (), kind: str = "link.ber") -> Case:
    incident = Incident(
        id="i1", kind=kind, subject=subject, scope="node", opened=1.0, severity=Severity.WARNING, text=f"{subject}: bad", members=members
    )
    return Case(incident=incident)


def test_the_parts(tmp_path: Path) -> None:
    node, settings = make_node(tmp_path), supernoded_link_ber.supernoded_settings()()
    assert isinstance(settings, LinkBerSettings)
    assert [rule.kind for rule in supernoded_link_ber.supernoded_rules(settings, node)] == ["link.ber", "link.down", "link.saturated"]
    assert [remedy.answers for remedy in supernoded_link_ber.supernoded_remedies(settings, node)] == ["link.ber", "link.down"]


def test_the_limit_is_the_documents(tmp_path: Path) -> None:
    rule, *_ = supernoded_link_ber.supernoded_rules(LinkBerSettings(), make_node(tmp_path))
    assert isinstance(rule, BerRule)
    assert rule._limit == 1e-12  # L2


def test_one_notice_says_what_to_touch_at_both_ends(tmp_path: Path) -> None:
    remedy, _ = supernoded_link_ber.supernoded_remedies(LinkBerSettings(), make_node(tmp_path))
    case, world = make_case(), World(topology=TOPOLOGY)
    step = remedy.next(case, world, 2.0)
    assert step is not None
    assert (step.kind, step.target) == ("notify", "n0/card0/port0")
    assert step.reason == (
        "n0/card0/port0: bad. Reseat the optic of n0/card0/port0 and of n0/card1/port1: 90 % of ring breaks are an optic not fully "
        "seated. Then look for a fibre bent below 30 mm. If it comes back, replace cable or optic."
    )
    done = {step.name: Outcome(action="i1/notify", result=Result.DONE, text="", at=3.0)}
    assert remedy.next(Case(incident=case.incident, done=done), world, 4.0) is None
    assert remedy.next(Case(incident=case.incident, still_raised=False), world, 4.0) is None


def test_a_shared_thing_names_its_members(tmp_path: Path) -> None:
    _, remedy = supernoded_link_ber.supernoded_remedies(LinkBerSettings(), make_node(tmp_path))
    step = remedy.next(make_case("cable/a--b", ("a", "b"), "link.down"), World(topology=TOPOLOGY), 2.0)
    assert step is not None
    assert "optic of a and of b:" in step.reason
