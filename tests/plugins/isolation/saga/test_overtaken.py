"""What overtakes a saga: the card answers again, and people who act at the same time."""

from __future__ import annotations

import msgspec

from supernoded.plugin import Hold, Result, Topology
from tests.plugins.isolation.saga.theatre import CARD, Theatre, but, silent


def hold(play: Theatre) -> None:
    """Up to the hold, and no further."""
    for step in play.ask():
        play.perform(step, Result.DONE)
    play.site.pass_time()
    assert {hold.subject for hold in play.world.holds} == {CARD}


def lift(play: Theatre) -> None:
    play.holds = [msgspec.structs.replace(one, lifted=play.site.now, lifted_by="operator alice") for one in play.holds]


def run_until(play: Theatre, kind: str) -> None:
    while not any(step.kind == kind for step in play.turn()):
        pass


def test_a_job_that_steps_again_before_it_was_ended_is_let_run_and_its_card_let_go() -> None:
    play = silent()
    hold(play)
    play.site.hung.clear()
    play.site.states, play.site.behind, play.still_raised = {}, set(), False
    for _ in range(3):
        play.site.pass_time()
    play.run()
    assert play.kinds == ["card.capture", "card.hold", "card.unhold"]
    assert not play.world.holds
    assert not play.remedy.keeps_open(play.case(), play.world)
    (told,) = play.told
    assert "n0/card2 answers again, and job/llm steps" in told
    assert "person" not in told


def test_a_card_whose_hold_was_lifted_first_keeps_its_rank() -> None:
    play = silent()
    hold(play)
    lift(play)
    play.run()
    assert play.kinds == ["card.capture", "card.hold"]
    assert "Its hold was lifted before anything else was done" in play.told[0]
    assert not play.remedy.keeps_open(play.case(), play.world)


def test_a_hold_that_is_lifted_later_keeps_no_job_waiting_for_a_fence_that_is_refused() -> None:
    play = silent(plan=but(card_isolate=Result.REFUSED))
    run_until(play, "job.abort")
    lift(play)
    play.run()
    assert "card.isolate" not in play.kinds
    assert play.kinds[-1] == "job.resume"
    assert play.told[0].startswith("n0/card2 was let go again by somebody else")


def test_holds_that_are_not_read_yet_are_not_taken_for_lifted() -> None:
    play = silent()
    hold(play)
    world = msgspec.structs.replace(play.world, holds=(), ages={"holds": float("inf")})
    steps = play.remedy.next(play.case(), world, play.site.now)
    assert all("lifted" not in step.reason for step in steps)
    assert play.remedy.keeps_open(play.case(), world)
    assert not play.remedy.keeps_open(play.case(), msgspec.structs.replace(world, ages={}))


def test_a_spare_whose_test_was_not_seen_to_end_in_time_is_not_held_for_that() -> None:
    """The program that tests may be slow, or the spare's node may not answer: others are tried, then it once more, and then it is left."""
    play = silent(plan=but(card_test=Result.UNCONFIRMED))
    play.run()
    assert sorted(step.target for step in play.log if step.kind == "card.test") == ["n1/card3", "n1/card3", "n2/card0", "n2/card0"]
    assert [step.target for step in play.log if step.kind == "card.hold"] == [CARD]


def test_a_card_that_a_person_isolates_at_the_same_time_has_its_job_go_on_elsewhere_and_its_fence_left_alone() -> None:
    play = silent(plan=but(card_isolate=Result.REFUSED))
    by_hand = Hold(id="h1", subject=CARD, serial="", reason="x", owner="operator alice", placed=play.site.now)
    play.holds.append(by_hand)
    play.run()
    assert play.kinds == ["card.capture", "card.hold", "job.abort", "card.test", "job.remap", "job.resume"]
    play.site.hung.clear()
    play.still_raised = False
    play.run(200)
    assert play.kinds[-1] == "job.resume", "what a person holds is not tested"
    play.holds.remove(by_hand)
    play.run(200)
    assert play.kinds[-2:] == ["card.test", "card.unhold"]


def test_a_hold_whose_saga_stopped_before_the_fence_has_a_way_back_too() -> None:
    play = silent(plan=but(job_abort=Result.UNCONFIRMED))
    play.run()
    assert play.kinds == ["card.capture", "card.hold", "job.abort", "card.test", "job.abort"]
    play.site.places = {rank: card for rank, card in play.site.places.items() if rank != 2}  # its people start the job without it
    play.site.history.forget(play.site.now + 1.0)
    play.site.states, play.site.behind, play.still_raised = {}, set(), False
    play.site.hung.clear()
    play.plan = but()
    play.run(200)
    assert play.kinds[-2:] == ["card.test", "card.unhold"]
    assert not play.remedy.keeps_open(play.case(), play.world)


def test_a_spare_that_somebody_holds_after_its_test_is_not_used() -> None:
    play = silent()
    run_until(play, "card.test")
    (tested,) = (step.target for step in play.log if step.kind == "card.test")
    play.holds.append(Hold(id="h1", subject=tested, serial="", reason="x", owner="operator alice", placed=play.site.now))
    play.run()
    assert play.kinds.count("card.test") == 2
    assert play.site.places[2] not in {tested, CARD}


def test_a_spare_that_another_job_uses_after_its_test_is_not_used() -> None:
    play = silent()
    run_until(play, "card.test")
    (tested,) = (step.target for step in play.log if step.kind == "card.test")
    play.site.more.update({("job/other/rank0", "rank.card"): tested, ("job/other/rank0", "rank.state"): "running"})
    play.site.pass_time()
    play.run()
    assert play.site.places[2] not in {tested, CARD}


def test_a_card_whose_node_is_described_no_more_keeps_no_incident_open_for_ever() -> None:
    play = silent()
    hold(play)
    world = msgspec.structs.replace(play.world, topology=Topology.empty("n9", cards=8))
    (told,) = play.remedy.next(play.case(), world, play.site.now)
    assert "n0/card2 is in no node of the topology any more" in told.reason
    assert not play.remedy.keeps_open(play.case(), world)


def test_a_spare_that_somebody_holds_while_its_map_is_on_its_way_is_not_asked_for_again() -> None:
    play = silent(plan=but(job_remap=Result.UNCONFIRMED))
    run_until(play, "job.remap")
    play.holds.append(Hold(id="by-hand", subject="n1/card3", serial="", reason="x", owner="operator alice", placed=play.site.now))
    play.plan = but()
    play.run()
    assert [step.details["cards"] for step in play.log if step.kind == "job.remap"] == ['{"2": "n1/card3"}', '{"2": "n2/card0"}']
    assert play.site.places[2] == "n2/card0"
