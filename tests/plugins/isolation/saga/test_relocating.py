"""A node dies with ranks of a job: all go to spares that have passed, or with their replicas, or it stays ended; or nothing is done."""

from __future__ import annotations

import json

import msgspec
import pytest

from supernoded.plugin import ASSUMED, Hold, Incident, Outcome, Result, Severity
from supernoded.topology import Spare, Supernode
from supernoded_isolation.saga import ProcessRemedy
from supernoded_isolation.saga.place import WATCHES
from supernoded_isolation.saga.spares import reserve
from tests.plugins.isolation.saga.theatre import Theatre, but
from tests.plugins.isolation.site import JOB, SETTINGS, SITE, TABLE, Site

WIDE = msgspec.structs.replace(
    SITE,
    nodes=(*SITE.nodes, Supernode(name="n3", cards=4, loop="cdu1")),
    spares=tuple(Spare(card=card) for card in ("n1/card3", "n2/card0", *(f"n3/card{slot}" for slot in range(4)))),
)
NARROW = SITE  # its spares are n2/card0 and a card of the node that dies


def lose(others: str = "waiting", site: Site | None = None, **more: object) -> Theatre:
    """Node n1 dies with ranks 4 to 6."""
    site = site if site is not None else Site(topology=WIDE)
    site.more[JOB, "job.durable_step"] = 60.0
    site.pass_time()
    site.pass_time()
    site.kill("n1", others)
    play = Theatre("job.lost", JOB, site=site, **more)  # type: ignore[arg-type]
    play.stands = others == "gone"  # a job of which no rank is left has no collective to end
    return play


def revive(play: Theatre) -> None:
    """The machine is back, without its ranks."""
    play.site.mute, play.site.dead = set(), set()
    play.site.places = {rank: card for rank, card in play.site.places.items() if not card.startswith("n1/")}
    play.site.pass_time()
    play.site.pass_time()


def find_maps(play: Theatre) -> list[dict[str, str]]:
    return [json.loads(step.details["cards"]) for step in play.log if step.kind == "job.remap"]


def test_all_its_ranks_go_to_spares_that_have_passed_and_people_hear_what_is_lost() -> None:
    play = lose()
    play.run()
    assert play.kinds == ["card.hold", "job.abort", "card.test", "card.test", "card.test", "job.remap", "job.resume"]
    assert find_maps(play) == [{"4": "n3/card0", "5": "n3/card1", "6": "n3/card2"}]  # of its own loop, and in their order
    assert [(hold.subject, hold.cause) for hold in play.world.holds] == [("n1", "gone")]
    assert "These go to spares that pass their test" in play.told[0]
    assert "n1 is out of service" in play.told[-1]
    assert "steps are done again" in play.told[-1]


def test_a_job_of_which_no_rank_is_left_has_no_collective_to_end() -> None:
    play = lose("gone")
    play.run()
    assert play.kinds == ["card.hold", "card.test", "card.test", "card.test", "job.remap", "job.resume"]


def test_one_spare_that_fails_is_held_and_another_one_takes_its_turn() -> None:
    play = lose()
    play.faulty = {"n3/card1"}
    play.run()
    assert find_maps(play) == [{"4": "n2/card0", "5": "n3/card0", "6": "n3/card2"}] or find_maps(play) == [
        {"4": "n3/card0", "5": "n3/card2", "6": "n3/card3"}
    ]
    assert {hold.subject for hold in play.world.holds} == {"n1", "n3/card1"}


def test_with_too_few_spares_whole_replicas_are_given_up() -> None:
    site = Site(topology=NARROW)
    site.places = dict(enumerate(["n0/card0", "n0/card1", "n0/card2", "n0/card3", "n1/card0", "n1/card1", "n1/card2", "n1/card3"]))
    site.more[JOB, "job.plan"] = "tp=2 pp=1 dp=4 ep=1"
    play = lose(site=site)
    play.run(140)
    (remap,) = [step for step in play.log if step.kind == "job.remap"]
    assert (json.loads(remap.details["cards"]), json.loads(remap.details["drop"])) == ({}, [4, 5, 6, 7])
    assert "card.test" not in play.kinds
    assert play.kinds[-1] == "job.resume"


def test_without_spares_and_another_replica_it_stays_ended_and_a_person_is_told() -> None:
    play = lose(site=Site(topology=NARROW, more={(JOB, "job.plan"): "tp=7 pp=1 dp=1 ep=1"}))
    play.run(140)
    assert play.kinds == ["card.hold", "job.abort"]
    assert "A person has to see to it" in play.told[-1]
    assert play.world.holds


def test_while_the_take_out_is_refused_nothing_is_touched() -> None:
    play = lose(plan=but(card_hold=Result.REFUSED))
    for _ in range(40):
        play.turn()
    assert set(play.kinds) == {"card.hold"}
    assert not play.world.holds


def test_a_node_that_is_back_before_anything_was_done_is_left_in_service_and_the_job_started_anew_there() -> None:
    play = lose()
    play.turn()  # people are told
    assert play.kinds == []
    places = dict(play.site.places)
    play.site.unheard = {"n1/card0"}
    revive(play)
    play.turn()
    assert play.kinds == []  # until all its cards are seen well
    play.site.unheard = set()
    play.site.pass_time()
    play.site.places = places
    play.run()
    assert play.kinds == ["job.abort", "job.resume"]
    assert "No card was taken out" in play.told[-1]


def test_a_node_that_is_back_when_it_is_only_held_is_let_go_and_the_job_started_anew_there() -> None:
    play = lose()
    play.turn()
    play.turn()
    assert play.kinds == ["card.hold"]
    revive(play)
    play.run()
    assert play.kinds == ["card.hold", "card.unhold", "job.abort", "job.resume"]
    assert not play.world.holds


@pytest.mark.parametrize("told", ["unknown", "cleared"])
def test_before_it_has_begun_it_waits_while_nobody_can_say(told: str) -> None:
    play = lose()
    play.turn()
    if told == "unknown":
        play.site.dead = None
    else:
        play.still_raised = False
    play.site.pass_time()
    for _ in range(5):
        play.turn()
    assert play.kinds == []


def test_two_nodes_at_once_are_told_and_none_is_taken_out() -> None:
    site = Site(topology=WIDE)
    site.places = {0: "n0/card0", 1: "n1/card0", 2: "n2/card0"}
    site.pass_time()
    site.kill("n2")
    play = lose(site=site)
    play.run()
    assert play.kinds == []
    assert "n1 and n2 are gone together, and none is taken out" in play.told[0]


def test_jobs_that_are_lost_together_are_told_and_nothing_is_taken_out() -> None:
    play = lose()
    play.incident = msgspec.structs.replace(play.incident, subject="site", members=(JOB, "job/b", "job/c"))
    play.run()
    assert play.kinds == []
    assert "see to what these jobs share" in play.told[0]


def test_when_no_rank_is_left_to_tell_a_person_is_told() -> None:
    site = Site(topology=WIDE, places={0: "n1/card0", 1: "n1/card1"})
    play = lose(site=site)
    play.run()
    assert play.kinds == []
    assert "Nothing is done while that is so" in play.told[0]


def test_it_waits_for_an_older_card_of_its_job() -> None:
    play = lose()
    older = Incident(
        id="i0", kind="card.silent", subject="n0/card1", scope="spares", opened=1.0, severity=Severity.CRITICAL, text="n0/card1 is silent."
    )
    play.others = (older,)
    play.run()
    assert play.kinds == []
    assert "It waits for card.silent of n0/card1" in play.told[0]


def test_a_process_of_a_job_whose_other_ranks_are_gone_is_not_started_anew() -> None:
    play = lose()
    play.kind, play.remedy = "rank.silent", ProcessRemedy(TABLE, SETTINGS)
    play.incident = msgspec.structs.replace(play.incident, kind="rank.silent", subject=f"{JOB}/rank2")
    play.run()
    assert play.log == []


def test_the_node_is_let_go_when_all_its_cards_have_been_well_for_a_probation() -> None:
    play = lose()
    play.run()
    assert play.remedy.keeps_open(play.case(), play.world)
    play.still_raised = False
    revive(play)
    play.turn()
    assert "n1 is back and all its cards are well" in play.told[-1]
    play.site.pass_time(SETTINGS.probation_s / 2)
    play.site.dead = {"n1"}  # it falls away again: the probation begins anew
    play.site.pass_time()
    play.turn()
    assert "n1 is gone again" in play.told[-1]
    play.site.dead = set()
    play.site.pass_time()
    play.turn()
    play.site.pass_time(SETTINGS.probation_s / 2)
    play.turn()
    assert "card.unhold" not in play.kinds
    play.site.pass_time(SETTINGS.probation_s)
    play.run()
    assert play.kinds[-1] == "card.unhold"
    assert not play.remedy.keeps_open(play.case(), play.world)


def test_a_hold_that_a_person_lifts_ends_its_way_back() -> None:
    play = lose()
    play.run()
    play.holds = [msgspec.structs.replace(hold, lifted=play.site.now) for hold in play.holds]
    play.holds.append(Hold(id="h9", subject="n1", serial="", reason="x", owner="fleet", placed=1.0))
    assert not play.remedy.keeps_open(play.case(), play.world)


def test_a_younger_saga_leaves_it_the_spares_that_it_takes() -> None:
    play = lose()
    mine = msgspec.structs.replace(play.incident, id="i-other", kind="card.silent", subject="n0/card3", opened=play.site.now + 1.0)
    taken = reserve(play.site.see(WATCHES), play.world, mine, "job/other", TABLE, play.site.now)
    assert taken == ("n3/card0", "n3/card1", "n3/card2")


def test_it_can_be_rehearsed_to_its_end() -> None:
    """As in `observe`: nothing happens, and each step is taken to go well."""
    play = lose()
    for _ in range(40):
        steps = play.ask()
        if not steps:
            break
        for step in steps:
            play.log.append(step)
            play.done[step.name] = Outcome(action="a", result=Result.DONE, text=ASSUMED, at=play.site.now)
    assert not play.ask()
    assert play.kinds == ["card.hold", "job.abort", "card.test", "card.test", "card.test", "job.remap", "job.resume"]


@pytest.mark.parametrize("turns", range(1, 9))
def test_a_later_life_goes_on_where_the_earlier_was(turns: int) -> None:
    """All that it knows is what is written down and read."""
    play = lose()
    for _ in range(turns):
        play.turn()
    fresh = Site(
        topology=WIDE, now=play.site.now, step=play.site.step, states=play.site.states, places=play.site.places, mute={"n1"}, dead={"n1"}
    )
    fresh.more = play.site.more
    for _ in range(3):
        fresh.pass_time()
    play.site = fresh
    play.run()
    assert play.kinds.count("job.remap") == play.kinds.count("job.abort") == play.kinds.count("job.resume") == 1
    assert find_maps(play) == [{"4": "n3/card0", "5": "n3/card1", "6": "n3/card2"}]
