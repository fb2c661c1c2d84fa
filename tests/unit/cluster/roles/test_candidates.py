from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from supernoded.cluster.roles.candidates import list_candidates, list_near
from supernoded.topology import CoolantLoop, Ring, Topology
from supernoded.topology.site import RingLevel, Supernode

NAMES = st.lists(st.sampled_from([f"n{number}" for number in range(12)]), min_size=1, max_size=12, unique=True)


def make_site(*names: str) -> Topology:
    """The first half hangs in cdu0 and on feed A, the other half in the loop `west` and on feed B."""
    half = len(names) // 2
    nodes = [
        Supernode(name=name, cards=1, loop="cdu0" if index < half else "west", feeds=("A",) if index < half else ("B",))
        for index, name in enumerate(names)
    ]
    ring = Ring(name="pod", level=RingLevel.CLUSTER, order=tuple(names[:2]))
    return Topology(nodes=tuple(nodes), loops=(CoolantLoop(name="cdu0"), CoolantLoop(name="west")), rings=(ring,))


SITE = make_site("n0", "n1", "n2", "n3", "n4", "n5")


def test_a_role_of_a_loop_a_feed_or_a_ring_is_for_its_own_nodes() -> None:
    assert list_near("cdu/0", SITE) == ["n0", "n1", "n2"]
    assert list_near("cdu/west", SITE) == ["n3", "n4", "n5"]
    assert list_near("feed/B", SITE) == ["n3", "n4", "n5"]
    assert list_near("ring/pod", SITE) == ["n0", "n1"]
    assert list_near("fleet", SITE) == ["n0", "n1", "n2", "n3", "n4", "n5"]


def test_where_no_node_says_that_it_is_near_all_are() -> None:
    assert list_near("cdu/9", SITE) == list_near("feed/C", SITE) == list_near("fleet", SITE)


def test_the_settings_win_the_role_itself_before_patterns_and_of_these_the_first() -> None:
    told = {"cdu/*": ("n5",), "*": ("n4", "n3"), "cdu/0": ("n2", "n1")}
    assert list_candidates("cdu/0", SITE, told, 3) == ("n2", "n1")
    assert list_candidates("cdu/west", SITE, told, 3) == ("n5",)
    assert list_candidates("fleet", SITE, told, 3) == ("n4", "n3")


def test_roles_are_spread_over_the_nodes() -> None:
    first = {list_candidates(f"x/{number}", SITE, {}, 1) for number in range(60)}
    assert len(first) == 6


@given(NAMES, st.text(max_size=20), st.integers(1, 16))
def test_candidates_are_so_many_different_nodes_of_the_site(names: list[str], role: str, most: int) -> None:
    found = list_candidates(role, make_site(*names), {}, most)
    assert len(found) == len(set(found)) <= most
    assert len(found) >= 1
    assert set(found) <= set(names)


@given(NAMES, st.integers(1, 4), st.data())
def test_a_node_that_goes_leaves_the_order_of_the_others(names: list[str], most: int, data: st.DataObject) -> None:
    gone = data.draw(st.sampled_from(names))
    rest = [name for name in names if name != gone]
    before = list_candidates("fleet", make_site(*names), {}, len(names))
    after = list_candidates("fleet", make_site(*rest), {}, most) if rest else ()
    assert after == tuple(name for name in before if name != gone)[:most]
    assert before == list_candidates("fleet", make_site(*reversed(names)), {}, len(names))
