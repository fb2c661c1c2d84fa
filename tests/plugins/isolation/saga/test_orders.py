"""Both orders, stage by stage."""

from __future__ import annotations

import json

import msgspec
import pytest

from supernoded.history import History
from supernoded.plugin import Result
from tests.plugins.isolation.saga.theatre import CARD, alive, but, silent
from tests.plugins.isolation.site import CARDS, JOB


def test_a_silent_card_is_replaced() -> None:
    play = silent()
    play.run()
    assert play.kinds == ["card.capture", "card.hold", "job.abort", "card.test", "card.isolate", "job.remap", "job.resume"]
    assert play.site.places[2] == "n1/card3"  # of the same supernode, before one that shares the loop
    (told,) = play.told
    assert "It was at step 101 and went on from step 60: 41 steps are done again." in told
    (hold,) = play.holds
    assert (hold.subject, hold.cause, hold.serial, hold.expires) == (CARD, "silent", f"S-{CARD}", None)


@pytest.mark.parametrize(
    ("durable", "said"),
    [
        (82.0, "went on from step 81 or an earlier one: at least 20 steps are done again"),  # saved since
        (81.0, "went on from step 81: 20 steps are done again"),
        (None, "went on from step 81 or an earlier one: at least 20 steps are done again"),
    ],
)
def test_the_first_step_that_is_heard_of_is_not_the_one_that_was_restored(durable: float | None, said: str) -> None:
    play = silent()
    play.site.more[JOB, "job.durable_step"] = durable
    play.site.history = History({})
    play.site.pass_time()
    play.site.pass_time()
    play.run()
    assert said in play.told[0]


def test_orders_to_the_launcher_name_the_start_of_the_job_that_they_are_about() -> None:
    play = silent()
    play.site.more[JOB, "job.incarnation"] = 3.0
    play.site.pass_time()
    play.turn()
    play.site.more[JOB, "job.incarnation"] = 4.0
    play.run()
    orders = [step for step in play.log if step.kind in {"job.abort", "job.remap", "job.resume"}]
    assert [step.details["incarnation"] for step in orders] == ["3", "3", "3"]


def test_a_hold_has_room_for_its_reason() -> None:
    play = silent()
    play.incident = msgspec.structs.replace(play.incident, text="x" * 5_000)
    play.turn()
    (hold,) = play.holds
    assert len(hold.reason) <= 1_000


def test_a_card_that_is_alive_saves_first() -> None:
    play = alive()
    play.run()
    assert play.kinds == [
        "card.capture",
        "job.checkpoint",
        "card.hold",
        "card.test",
        "job.abort",
        "card.isolate",
        "job.remap",
        "job.resume",
    ]
    assert play.holds[0].cause == "fault"


def test_a_durable_step_that_is_newer_than_the_trouble_will_do() -> None:
    play = alive()
    play.site.pass_time(60.0)
    play.site.more[JOB, "job.durable_age"] = 10.0
    play.site.pass_time()
    play.run()
    assert "job.checkpoint" not in play.kinds
    assert play.kinds[-1] == "job.resume"


def test_without_a_checkpoint_a_card_that_is_alive_stays() -> None:
    play = alive(plan=but(job_checkpoint=Result.UNCONFIRMED))
    play.run()
    assert play.kinds == ["card.capture", "job.checkpoint"]
    assert "is left in service: no step is durable and newer than its trouble" in play.told[0]


def test_it_goes_on_when_a_step_is_durable_later() -> None:
    play = alive(plan=but(job_checkpoint=Result.UNCONFIRMED))
    play.run()
    play.site.more[JOB, "job.durable_age"] = 1.0
    play.run()
    assert play.kinds[-1] == "job.resume"


def test_a_card_that_is_lost_needs_no_checkpoint() -> None:
    play = alive()
    play.site.codes.clear()
    play.site.gone.add(CARD)
    play.site.pass_time()
    play.run()
    assert "job.checkpoint" not in play.kinds
    assert play.holds[0].cause == "lost"


def test_a_job_that_comes_to_a_stand_meanwhile_gives_no_checkpoint() -> None:
    play = alive()
    play.site.silence(2)
    play.site.pass_time()
    play.run()
    assert "job.checkpoint" not in play.kinds
    assert play.kinds[-1] == "job.resume"


def test_a_job_that_died_has_no_collective_to_end() -> None:
    play = alive(stands=True)
    play.site.gone.add(CARD)
    play.site.states = dict.fromkeys(play.site.places, "gone")
    play.site.pass_time()
    play.run()
    assert play.kinds == ["card.capture", "card.hold", "card.test", "card.isolate", "job.remap", "job.resume"]


def test_a_job_that_died_and_was_started_by_somebody_is_left_as_it_is() -> None:
    play = alive(stands=True, faulty={"n1/card3", "n2/card0"})
    play.site.gone.add(CARD)
    play.site.states = dict.fromkeys(play.site.places, "gone")
    play.site.pass_time()
    play.run(10)
    assert "job.stop" not in play.kinds
    play.stands, play.site.states = False, {}
    play.site.places[2] = CARDS[7]
    play.site.more[JOB, "job.plan"] = "tp=7 pp=1 dp=2 ep=1"
    play.run()
    assert {"job.abort", "job.remap", "job.resume"} & set(play.kinds) == set()


def test_a_card_without_a_rank_is_held_and_fenced() -> None:
    play = alive()
    del play.site.places[2]
    play.site.history.forget(1e9)
    play.site.pass_time()
    play.run()
    assert play.kinds == ["card.capture", "card.hold", "card.isolate"]
    assert "is out of service" in play.told[0]


def test_a_card_whose_rank_is_not_heard_is_not_taken_for_unused() -> None:
    play = alive()
    play.site.places = {}
    play.site.now += 60.0
    play.site.pass_time()
    play.run()
    assert play.kinds == []


def test_a_job_that_somebody_else_has_started_is_left_as_it_is() -> None:
    play = silent(faulty={"n1/card3", "n2/card0"})
    play.run(10)
    play.stands, play.site.states, play.site.behind = False, {}, set()
    play.site.places[2] = CARDS[7]
    play.faulty, play.site.more[JOB, "job.plan"] = set(), "tp=7 pp=1 dp=2 ep=1"
    play.run()
    assert "job.remap" not in play.kinds


def test_a_spare_that_fails_its_test_is_held_and_the_next_is_tried() -> None:
    play = silent(faulty={"n1/card3"})
    play.run()
    assert play.site.places[2] == "n2/card0"
    assert {hold.subject for hold in play.holds} == {CARD, "n1/card3"}


def test_a_spare_that_was_never_tested_is_not_held() -> None:
    play = silent(plan=lambda step: Result.EXPIRED if step.target == "n1/card3" else Result.DONE)
    play.run()
    assert play.site.places[2] == "n2/card0"
    assert {hold.subject for hold in play.holds} == {CARD}


def test_without_a_spare_a_whole_replica_is_given_up() -> None:
    play = silent(faulty={"n1/card3", "n2/card0"})
    play.site.places = dict(enumerate(CARDS[:6]))
    play.site.more[JOB, "job.plan"] = "tp=2 pp=1 dp=3 ep=1"
    play.site.silence(2)
    play.site.pass_time()
    play.run()
    (remap,) = [step for step in play.log if step.kind == "job.remap"]
    assert json.loads(remap.details["drop"]) == [2, 3]
    assert sorted(play.site.places) == [0, 1, 4, 5]
    assert play.kinds[-1] == "job.resume"


def test_a_fence_that_hangs_keeps_no_job_waiting() -> None:
    play = silent()
    while not any(step.kind == "card.isolate" for step in play.ask()):
        play.turn()
    for step in (steps := play.ask()):
        if step.kind != "card.isolate":
            play.perform(step, Result.DONE)
    running = frozenset(step.name for step in steps if step.kind == "card.isolate")
    assert play.ask(running) == ()
    for _ in range(3):
        play.site.pass_time()
    assert [step.kind for step in play.ask(running)] == ["job.remap"]


def test_the_one_replica_that_is_left_is_started() -> None:
    play = silent(faulty={"n1/card3", "n2/card0"})
    play.site.places = dict(enumerate(CARDS[:4]))
    play.site.more[JOB, "job.plan"] = "tp=2 pp=1 dp=2 ep=1"
    play.site.silence(2)
    play.site.pass_time()
    play.run()
    assert sorted(play.site.places) == [0, 1]
    assert play.kinds[-1] == "job.resume"
    assert play.told[-1].startswith(f"{CARD} is out of service")


def test_a_replica_is_given_up_once_however_its_order_ended() -> None:
    play = silent(faulty={"n1/card3", "n2/card0"})
    play.site.places = dict(enumerate(CARDS[:6]))
    play.site.more[JOB, "job.plan"] = "tp=2 pp=1 dp=3 ep=1"
    play.site.silence(2)
    play.site.pass_time()
    play.plan = but(job_remap=Result.UNCONFIRMED)
    play.run()
    assert play.kinds.count("job.remap") == 1
    assert "job.resume" not in play.kinds
    assert "A person has to see to it" in play.told[-1]


def test_no_replica_is_given_up_while_a_spare_is_only_not_heard_of() -> None:
    play = silent()
    play.site.places = dict(enumerate(CARDS[:6]))
    play.site.more[JOB, "job.plan"] = "tp=2 pp=1 dp=3 ep=1"
    play.site.silence(2)
    play.site.history = History({})  # the network has just come together, and of the spares nothing came yet
    play.site.unheard = {"n1/card3", "n2/card0"}
    play.site.pass_time()
    for _ in range(5):
        play.turn()
    assert "card.isolate" in play.kinds
    assert not {"card.test", "job.remap"} & set(play.kinds)
    play.site.unheard = set()
    play.site.pass_time()
    play.run()
    (remap,) = [step for step in play.log if step.kind == "job.remap"]
    assert json.loads(remap.details["drop"]) == []


@pytest.mark.parametrize("plan", ["tp=7 pp=1 dp=1 ep=1", "nonsense", ""])
def test_without_spare_and_replica_a_person_is_told(plan: str) -> None:
    play = silent(faulty={"n1/card3", "n2/card0"})
    play.site.more[JOB, "job.plan"] = plan
    play.site.pass_time()
    play.run()
    assert "job.remap" not in play.kinds
    assert "card.isolate" in play.kinds
    assert "no spare takes the place" in play.told[0]
    assert "The hold stands. A person has to see to it." in play.told[0]


def test_a_running_job_without_a_substitute_is_stopped_at_a_saved_step() -> None:
    play = alive(faulty={"n1/card3", "n2/card0"})
    play.run()
    assert "job.abort" not in play.kinds
    assert play.kinds[-2:] == ["job.stop", "card.isolate"]
