"""Which spare: the nearest that is free, well and seen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.history import History
from supernoded.plugin import Hold, Incident, Reading, Severity, Topology, World
from supernoded.topology import CoolantLoop, Ring, RingLevel, Spare, Supernode
from supernoded_isolation.saga.place import WATCHES
from supernoded_isolation.saga.spares import choose_spare, measure_distance
from tests.plugins.isolation.site import CARDS, JOB, SITE, SPARES, TABLE, Site

NODES = [f"n{number}" for number in range(6)]
BIG = Topology(
    nodes=tuple(Supernode(name=node, cards=2, loop="cdu1" if node in {"n0", "n4"} else "cdu2") for node in NODES),
    rings=(Ring(name="pod", level=RingLevel.CLUSTER, order=("n0", "n1", "n2")),),
    loops=(CoolantLoop(name="cdu1"), CoolantLoop(name="cdu2")),
    spares=tuple(Spare(card=f"{node}/card1") for node in reversed(NODES)),
)


def make_world(holds: tuple[Hold, ...] = (), incidents: tuple[Incident, ...] = (), site: Topology = SITE) -> World:
    return World(topology=site, holds=holds, incidents=incidents)


def choose(site: Site, world: World | None = None) -> tuple[str, ...]:
    site.pass_time()
    return choose_spare("n0/card2", world or make_world(), site.see(WATCHES), TABLE)


def test_same_supernode_before_same_loop() -> None:
    assert choose(Site()) == ("n1/card3", "n2/card0")


def test_one_whose_rank_has_ended_for_good_is_free_again() -> None:
    site, spare = Site(), SPARES[1]
    site.more.update({("job/old/rank0", "rank.card"): spare, ("job/old/rank0", "rank.state"): "stopped"})
    assert choose(site) == ("n1/card3", "n2/card0")
    site.more["job/old", "job.launcher"] = 1.0
    assert choose(site) == ("n2/card0",), "it may be started again"


def test_a_card_of_a_replica_that_was_given_up_is_free_again() -> None:
    site, spare = Site(), SPARES[1]
    site.places[7] = spare
    assert choose(site) == ("n2/card0",)
    del site.places[7]
    site.pass_time(60.0)
    assert choose(site) == ("n1/card3", "n2/card0")


def test_what_its_job_has_freed_comes_after_the_spares_and_for_that_job_alone() -> None:
    """A replica of two ranks is given up, and the two behind it close up onto other numbers."""
    site = Site(places=dict(enumerate(CARDS[:6])))
    site.pass_time()
    assert choose_spare("n0/card5", make_world(), site.see(WATCHES), TABLE, (), JOB) == ("n1/card3", "n2/card0")
    site.places = dict(enumerate((*CARDS[:2], *CARDS[4:6])))
    site.more[JOB, "job.plan"] = "tp=2 pp=1 dp=2 ep=1"
    for _ in range(6):
        site.pass_time()
    for reading in ("rank2", "rank3"):  # as another node has told of them once
        there = Reading(
            subject=f"{JOB}/{reading}", quantity="rank.card", value=f"n0/card{reading[-1]}", unit="1", at=site.now - 20.0, source="z"
        )
        site.history.add([there], 13.0)
    seen = site.see(WATCHES)
    assert choose_spare("n0/card5", make_world(), seen, TABLE, (), JOB) == ("n1/card3", "n2/card0", "n0/card2", "n0/card3")
    assert choose_spare("n0/card5", make_world(), seen, TABLE, (), "job/other") == ("n1/card3", "n2/card0")
    held = Hold(id="h1", subject="n0/card2", serial="", reason="x", owner="isolation", placed=1.0)
    assert choose_spare("n0/card5", make_world((held,)), seen, TABLE, SPARES, JOB) == ("n0/card3",)
    site.more[JOB, "job.plan"] = "tp=4 pp=1 dp=1 ep=1"
    site.pass_time()
    assert choose_spare("n0/card5", make_world(), site.see(WATCHES), TABLE, SPARES, JOB) == (), "two ranks are no replica of four"


def test_same_node_then_ring_then_loop_then_anywhere() -> None:
    assert [measure_distance("n0/card0", f"{node}/card1", BIG) for node in NODES] == [0, 1, 1, 3, 2, 3]


@pytest.mark.parametrize("change", ["hung", "gone", "code", "rank", "hold", "node", "incident", "unread"])
def test_none_that_is_not_free_well_and_seen(change: str) -> None:
    site, spare = Site(), SPARES[1]
    world = make_world()
    match change:
        case "hung" | "gone":
            getattr(site, change).add(spare)
        case "code":
            site.codes[spare] = frozenset({"XID94"})
        case "rank":
            site.places[7] = spare
        case "hold" | "node":
            subject = spare if change == "hold" else "n1"
            world = make_world((Hold(id="h1", subject=subject, serial="", reason="x", owner="operator alice", placed=1.0),))
        case "incident":
            one = Incident(id="i1", kind="card.fault", subject=spare, scope="node", opened=1.0, severity=Severity.WARNING, text="x")
            world = make_world(incidents=(one,))
        case _:
            site.pass_time()
            site.now += 60.0
            assert choose_spare("n0/card2", world, site.see(WATCHES), TABLE) == ()
            return
    assert choose(site, world) == ("n2/card0",)


@given(st.sets(st.sampled_from([spare.card for spare in BIG.spares])))
def test_never_one_that_is_taken_and_always_the_nearest(taken: set[str]) -> None:

    history = History({})
    history.add([Reading(subject=spare.card, quantity="card.present", value=1.0, unit="1", at=0.0) for spare in BIG.spares], 10.0)
    chosen = choose_spare("n0/card0", make_world(site=BIG), history.view(1.0, WATCHES), TABLE, taken)
    distances = [measure_distance("n0/card0", spare, BIG) for spare in chosen]
    assert not set(chosen) & taken
    assert len(chosen) == len(BIG.spares) - len(taken)
    assert distances == sorted(distances)
