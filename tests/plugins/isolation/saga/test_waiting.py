"""What is waited for instead of given up: leave to take a card out, spares that are not heard, and tests that could not be done."""

from __future__ import annotations

import json
from collections.abc import Callable

import msgspec
import pytest

from supernoded.history import History
from supernoded.plugin import Hold, Result, Step
from tests.plugins.isolation.saga.theatre import CARD, Theatre, alive, but, silent
from tests.plugins.isolation.site import CARDS, JOB, SPARES

REFUSALS = pytest.mark.parametrize("result", [Result.REFUSED, Result.EXPIRED])


def say(play: Theatre, what: str) -> list[str]:
    """What people were told under a name."""
    return [step.reason for step in play.log if step.kind == "notify" and step.name.endswith(f"-{what}")]


def find_map(play: Theatre) -> tuple[dict[str, str], list[int]]:
    """Of the one new map that was sent: who goes where, and who is given up."""
    (remap,) = [step for step in play.log if step.kind == "job.remap"]
    return json.loads(remap.details["cards"]), json.loads(remap.details["drop"])


def with_replicas(play: Theatre) -> Theatre:
    """Three replicas of two ranks each, so that one could be given up."""
    play.site.places = dict(enumerate(CARDS[:6]))
    play.site.more[JOB, "job.plan"] = "tp=2 pp=1 dp=3 ep=1"
    play.site.silence(2)
    play.site.pass_time()
    return play


def pass_turns(play: Theatre, seconds: float) -> None:
    end = play.site.now + seconds
    while play.site.now < end:
        play.turn()


def refuse(kind: str, result: Result = Result.REFUSED) -> Callable[[Step], Result]:
    return but(**{kind.replace(".", "_"): result})


# Leave to take it out


@REFUSALS
@pytest.mark.parametrize("make", [silent, alive])
def test_a_hold_that_is_refused_for_long_is_asked_for_again_until_it_is_granted(make: Callable[..., Theatre], result: Result) -> None:
    play = make(plan=refuse("card.hold", result))
    pass_turns(play, 900.0)
    assert 20 <= play.kinds.count("card.hold") <= 31
    assert "job.abort" not in play.kinds
    assert len(play.told) == 1
    assert "n0/card2 stays in service, as its hold is refused" in play.told[0]
    play.plan = but()
    play.run()
    assert play.kinds[-1] == "job.resume"
    assert play.site.places[2] == "n1/card3"
    assert len(say(play, "hold-over")) == 1


def test_what_is_refused_for_days_is_asked_for_less_often() -> None:
    play = silent(plan=refuse("card.hold"))
    play.site.silence(2)
    for _ in range(2_000):
        for step in play.ask():
            play.perform(step, play.plan(step))
        play.site.pass_time(60.0)
    assert 100 < play.kinds.count("card.hold") < 600  # in 33 hours


@pytest.mark.parametrize("make", [silent, alive])
@pytest.mark.parametrize("kind", ["job.remap", "job.resume"])
def test_a_job_that_was_ended_is_brought_back_however_long_its_launcher_is_not_reached(make: Callable[..., Theatre], kind: str) -> None:
    play = make(plan=refuse(kind, Result.EXPIRED))
    pass_turns(play, 900.0)
    assert 10 <= play.kinds.count(kind) <= 31
    assert len(play.told) == 1
    assert f"{JOB} stands still, and {kind} cannot be asked for" in play.told[0]
    play.plan = but()
    play.run()
    assert play.kinds[-1] == "job.resume"
    assert play.site.places[2] == "n1/card3"
    assert "n0/card2 is out of service" in play.told[-1]


def test_a_trouble_that_is_over_while_its_hold_is_refused_takes_nothing_out() -> None:
    play = silent(plan=refuse("card.hold"))
    pass_turns(play, 200.0)
    play.still_raised, play.plan = False, but()
    play.run()
    assert not play.world.holds
    assert not play.remedy.keeps_open(play.case(), play.world)


def test_a_rank_that_moved_while_its_hold_was_refused_is_where_it_is_now() -> None:
    """People have started the job elsewhere: only the card is taken out."""
    play = alive(plan=refuse("card.hold"))
    pass_turns(play, 200.0)
    play.site.places[2] = CARDS[7]
    play.site.pass_time()
    play.plan = but()
    play.run()
    assert play.kinds[-2:] == ["card.hold", "card.isolate"]


# Tests that could not be done


def test_a_test_that_cannot_be_done_holds_no_spare_and_gives_no_replica_up_and_goes_on_when_it_is_mended() -> None:
    play = with_replicas(silent(untestable=set(SPARES)))
    pass_turns(play, 1_000.0)
    assert {hold.subject for hold in play.holds} == {CARD}
    assert not {"job.remap", "job.stop"} & set(play.kinds)
    assert play.kinds.count("card.test") < 40
    (told,) = play.told
    assert "cannot be tested" in told
    assert "cardctl cannot be started" in told
    play.untestable = {"n1/card3"}
    play.run()
    assert find_map(play) == ({"2": "n2/card0"}, [])


def test_where_one_spare_cannot_be_tested_the_next_is_at_once() -> None:
    play = silent(untestable={"n1/card3"})
    play.run()
    assert find_map(play) == ({"2": "n2/card0"}, [])
    assert {hold.subject for hold in play.holds} == {CARD}
    assert len(say(play, "hindered-n1/card3")) == 1


def test_tests_that_could_not_be_done_use_up_no_tries_of_the_way_back() -> None:
    play = silent()
    play.run()
    play.site.hung.clear()
    play.still_raised, play.untestable = False, {CARD}
    pass_turns(play, 600.0)
    assert play.kinds.count("card.test") > 5
    assert any("n0/card2 stays out, as it cannot be tested" in told for told in play.told)
    play.untestable = set()
    play.run(200)
    assert "card.unhold" in play.kinds
    assert not any("has not passed" in told for told in play.told)


# Spares that may be well


def hide(play: Theatre) -> None:
    play.site.history = History({})
    play.site.unheard = set(SPARES)
    play.site.pass_time()


def hold_nodes(play: Theatre) -> None:
    """As the fleet's own policy holds nodes that were gone."""
    hide(play)
    for node in ("n1", "n2"):
        play.holds.append(Hold(id=node, subject=node, serial="", reason="gone", owner="fleet", placed=play.site.now, cause="gone"))


@pytest.mark.parametrize("vanish", [hide, hold_nodes])
def test_spares_that_are_not_heard_for_a_while_are_waited_for(vanish: Callable[[Theatre], None]) -> None:
    play = with_replicas(silent())
    vanish(play)
    pass_turns(play, 240.0)
    assert not {"card.test", "job.remap"} & set(play.kinds)
    assert len(say(play, "spares")) == 1
    play.site.unheard = set()
    play.run()
    assert find_map(play) == ({"2": "n1/card3"}, [])


def test_spares_that_are_not_heard_for_longer_cost_a_replica() -> None:
    play = with_replicas(silent())
    hide(play)
    pass_turns(play, 340.0)
    play.run()
    assert find_map(play) == ({}, [2, 3])


def test_a_test_that_was_not_answered_is_sent_again_when_its_node_is_heard() -> None:
    play = with_replicas(silent(plan=refuse("card.test", Result.UNCONFIRMED)))
    while "card.test" not in play.kinds:
        play.turn()
    hide(play)
    pass_turns(play, 200.0)
    play.site.unheard = set()
    play.plan = but()
    play.run()
    assert find_map(play) == ({"2": "n2/card0"}, [])
    assert {hold.subject for hold in play.holds} == {CARD}


def test_a_spare_that_is_held_by_its_people_is_not_waited_for() -> None:
    play = with_replicas(silent())
    for spare in SPARES:
        play.holds.append(Hold(id=spare, subject=spare, serial="", reason="x", owner="operator alice", placed=play.site.now))
    pass_turns(play, 60.0)
    assert find_map(play) == ({}, [2, 3])


def test_nothing_is_given_up_while_half_of_the_nodes_or_less_are_heard() -> None:
    play = with_replicas(silent(faulty=set(SPARES)))
    while play.kinds.count("card.test") < 2:
        play.turn()
    play.site.unheard = {card for card in CARDS if card.startswith("n1/")} | {"n2/card0"}
    play.site.now += 20.0
    pass_turns(play, 900.0)
    assert "job.remap" not in play.kinds
    assert say(play, "nodes") == ["1 of 3 nodes are heard here: nothing of job/llm is given up until more than half are."]
    play.site.unheard = set()
    play.run()
    assert find_map(play) == ({}, [2, 3])
    assert len(say(play, "nodes-over")) == 1


def test_a_spare_whose_node_is_gone_again_after_its_test_is_not_used() -> None:
    play = with_replicas(silent())
    while not any(step.kind == "card.test" for step in play.turn()):
        pass
    play.holds.append(Hold(id="n1", subject="n1", serial="", reason="gone", owner="fleet", placed=play.site.now, cause="gone"))
    play.site.unheard = {"n1/card3"}
    play.site.now += 20.0
    play.run()
    assert find_map(play) == ({"2": "n2/card0"}, [])


def test_one_that_is_free_goes_before_one_on_probation() -> None:
    play = silent()
    play.holds.append(Hold(id="n1", subject="n1", serial="", reason="gone", owner="fleet", placed=play.site.now, cause="gone"))
    play.run()
    assert play.site.places[2] == "n2/card0"
    assert msgspec.structs.asdict(play.holds[0])["lifted"] is None
