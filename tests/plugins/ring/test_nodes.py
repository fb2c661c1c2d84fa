"""Rings of nodes: described cables, cables to switches, or whatever links there are."""

from __future__ import annotations

import msgspec
import pytest

from supernoded.topology import Cable, Ring, RingLevel, Supernode, Switch, Topology
from supernoded_ring.plan import build_plans
from supernoded_ring.verify import Report, verify
from tests.plugins.ring.wiring import Mates, cut, join, make_site, swap

NODES = ("n0", "n1", "n2", "n3")
STEPS = tuple(zip(NODES, (*NODES[1:], NODES[0]), strict=True))


def make_cluster(*cables: Cable) -> Topology:
    return Topology(
        nodes=tuple(Supernode(name=name, cards=2) for name in NODES),
        rings=(Ring(name="c", level=RingLevel.CLUSTER, order=NODES),),
        cables=cables,
        switches=(Switch(name="s0"),),
    )


def check(site: Topology, mates: Mates, *known: str) -> Report:
    return verify(build_plans(site), mates, known=known)


DIRECT = make_cluster(*(Cable(a=f"{one}/card1/port0", b=f"{two}/card0/port1") for one, two in STEPS))
DIRECT_LINKS = join((cable.a, cable.b) for cable in DIRECT.cables)


def test_described_cables_between_nodes() -> None:
    assert check(DIRECT, DIRECT_LINKS).verdict == "closed"
    broken = check(DIRECT, cut(DIRECT_LINKS, "n1/card1/port0"))
    assert (broken.verdict, broken.findings[0].subject) == ("broken", "n1/card1/port0")
    split = check(DIRECT, swap(DIRECT_LINKS, "n1/card0/port1", "n3/card0/port1"))
    assert (split.verdict, len(split.moves)) == ("split", 2)


def test_several_cables_between_two_nodes() -> None:
    site = make_cluster(*(Cable(a=f"{one}/card{rail}/port0", b=f"{two}/card{rail}/port1") for one, two in STEPS for rail in (0, 1)))
    mates = join((cable.a, cable.b) for cable in site.cables)
    assert check(site, mates).verdict == "closed"
    report = check(site, swap(mates, "n1/card0/port1", "n1/card1/port1"))
    assert (report.verdict, [finding.kind for finding in report.findings], len(report.moves)) == ("miswired", ["exchanged_cables"], 2)


def test_a_ring_over_switches_is_its_uplinks() -> None:
    site = make_cluster(*(Cable(a=f"{node}/card0/port0", b=f"switch/s0/port{number}") for number, node in enumerate(NODES)))
    mates = join((cable.a, cable.b) for cable in site.cables)
    assert check(site, mates).verdict == "closed"
    broken = check(site, cut(mates, "n2/card0/port0"))
    assert (broken.verdict, [finding.subject for finding in broken.findings]) == ("broken", ["n2/card0/port0"])
    exchanged = check(site, swap(mates, "switch/s0/port1", "switch/s0/port2"))
    assert (exchanged.verdict, exchanged.findings[0].kind) == ("miswired", "exchanged_cables")


LOOSE = make_cluster()
LOOSE_LINKS = join((f"{one}/nic/mlx5_0/port1", f"{two}/nic/mlx5_1/port1") for one, two in STEPS)


def test_without_described_cables_any_link_between_neighbours_counts() -> None:
    assert check(LOOSE, LOOSE_LINKS).verdict == "closed"
    split = check(LOOSE, swap(LOOSE_LINKS, "n1/nic/mlx5_1/port1", "n3/nic/mlx5_1/port1"))
    assert split.verdict == "split"
    broken = check(LOOSE, cut(LOOSE_LINKS, "n1/nic/mlx5_0/port1"), "n1/nic/mlx5_0/port1")
    assert (broken.verdict, broken.findings[0].subject) == ("broken", "n1/nic/mlx5_0/port1")


def test_without_described_cables_a_ring_of_two_has_two_hops() -> None:
    site = msgspec.structs.replace(LOOSE, rings=(Ring(name="c", level=RingLevel.CLUSTER, order=("n0", "n1")),))
    both = join([("n0/nic/a", "n1/nic/b"), ("n1/nic/a", "n0/nic/b")])
    assert check(site, both).verdict == "closed"
    assert check(site, cut(both, "n0/nic/a")).verdict == "broken"


def test_without_described_cables_over_switches() -> None:
    mates = join((f"{node}/nic/mlx5_0", f"switch/s0/port{number}") for number, node in enumerate(NODES))
    assert check(LOOSE, mates).verdict == "closed"
    report = check(LOOSE, cut(mates, "n2/nic/mlx5_0"), "n2/nic/mlx5_0")
    assert (report.verdict, [finding.subject for finding in report.findings]) == ("broken", ["n2/nic/mlx5_0"])


def test_a_ring_of_nodes_does_not_take_the_links_of_rings_of_cards() -> None:
    site = make_site(rings=2)
    site = msgspec.structs.replace(site, rings=(*site.rings, Ring(name="c", level=RingLevel.CLUSTER, order=("n0", "n1"))))
    mates = join((cable.a, cable.b) for cable in site.cables)
    report = check(site, mates)
    assert [ring.verdict for ring in report.rings] == ["closed", "closed", "unseen"]
    assert report.verdict == "closed"  # the crew that wired the cards has seen nothing of the nodes
    one_link = mates | join([("n0/nic/mlx5_0", "n1/nic/mlx5_1")])
    assert [ring.verdict for ring in check(site, one_link).rings] == ["closed", "closed", "broken"]


@pytest.mark.parametrize("names", [("port0", "port1"), ("nic/eth1/port0", "nic/eth0/port1")])
def test_names_of_ports_say_which_sends(names: tuple[str, str]) -> None:
    sending, receiving = names
    mates = join((f"{one}/{sending}", f"{two}/{receiving}") for one, two in STEPS[:3])
    report = check(LOOSE, mates, f"n3/{sending}", f"n0/{receiving}")
    assert [finding.sentence for finding in report.findings] == [
        f"The hop n3/{sending} -> n0/{receiving} is missing: no link is seen at either end."
    ]
