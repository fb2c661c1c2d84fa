from __future__ import annotations

import pytest

from supernoded.errors import WireError
from supernoded.job.protocol import (
    Acted,
    Agreed,
    Beat,
    Bye,
    Durable,
    Order,
    Request,
    Saved,
    SaveFailed,
    Saving,
    VaultTrouble,
    Welcome,
    Withdraw,
)
from tests.unit.job.daemon import Side

WITHIN = 10.0, 20.0


def test_all_ranks_are_asked_and_those_that_come_later_too() -> None:
    side = Side()
    first = side.start_rank(0)
    first.hears()
    one = side.server.ask("train", "i1/save", "checkpoint", "sag on A and B", WITHIN)
    (said,) = first.hears()
    assert said == Request(id="i1/save", kind="checkpoint", deadline_s=10.0, hard_s=20.0, reason="sag on A and B", number=1)
    assert side.server.ask("train", "i1/save", "checkpoint", "again", WITHIN) == one
    assert first.hears() == []
    later = side.start_rank(1)
    assert [type(word) for word in later.hears()] == [Welcome, Request]
    request = side.server.jobs["train"].request
    assert request is not None
    assert request.expected == (0, 1)


def test_a_save_from_request_to_durable() -> None:
    side = Side()
    ranks, vault = [side.start_rank(number) for number in range(2)], side.start_other("vault")
    job = side.server.jobs["train"]
    side.server.ask("train", "one", "checkpoint", "sag", WITHIN)
    stages = []
    for rank in ranks:
        rank.say(Agreed(request="one", number=1, step=100), Saving(step=100))
    for rank in ranks:
        stages.append(job.request.stage if job.request else "")
        rank.say(Saved(step=100, size=10, seconds=0.5))
    stages.append(job.request.stage if job.request else "")
    vault.say(VaultTrouble(tier="durable", text="full"), Durable(step=100, tier="durable", where="/disk", taken=1.0, seconds=2.0))
    assert [*stages, job.request.stage if job.request else ""] == ["saving", "saving", "saved", "durable"]
    assert (job.kept.saved_step, job.kept.durable_step, job.troubles) == (100, 100, {"durable": "full"})
    assert len(side.news) > 5


def test_a_rank_that_learnt_of_it_through_the_collective_knows_only_its_number() -> None:
    side = Side()
    rank = side.start_rank(0, world=1)
    side.server.ask("train", "one", "checkpoint", "sag", WITHIN)
    rank.say(Agreed(request="", number=1, step=100))
    assert side.server.find("train").kept.requests[-1].step == 100


def test_an_agreement_said_again_answers_no_later_request() -> None:
    side = Side()
    rank = side.start_rank(0, world=1)
    side.server.ask("train", "one", "checkpoint", "sag", WITHIN)
    rank.say(Agreed(request="one", number=1, step=100), Saved(step=100, size=1, seconds=0.1))
    side.server.ask("train", "two", "checkpoint", "sag", WITHIN)
    rank.say(Agreed(request="one", number=1, step=100))
    request = side.server.find("train").request
    assert request is not None
    assert (request.id, request.stage) == ("two", "asked")


def test_a_request_that_an_earlier_life_lost_is_learnt_from_the_ranks() -> None:
    side = Side()
    rank = side.start_rank(0, world=1)
    rank.say(Agreed(request="i9/save", number=7, step=100), Saved(step=100, size=1, seconds=0.1))
    request = side.server.find("train").request
    assert request is not None
    assert (request.id, request.number, request.stage) == ("i9/save", 7, "saved")
    assert side.server.ask("train", "next", "checkpoint", "sag", WITHIN).number == 8


def test_withdrawn_before_the_ranks_agreed_and_not_after() -> None:
    side = Side()
    rank = side.start_rank(0, world=1)
    side.server.ask("train", "one", "checkpoint", "sag", WITHIN)
    rank.hears()
    assert side.server.withdraw("train", "one").stage == "withdrawn"
    assert rank.hears() == [Withdraw(id="one")]
    with pytest.raises(WireError, match="ask under another name"):
        side.server.ask("train", "one", "checkpoint", "sag", WITHIN)
    side.server.ask("train", "two", "checkpoint", "sag", WITHIN)
    rank.say(Agreed(request="two", number=2, step=100))
    assert side.server.withdraw("train", "two").stage == "agreed"


async def test_a_rank_whose_connection_is_lost_has_some_seconds_to_come_back() -> None:
    side = Side()
    ranks = [side.start_rank(number) for number in range(2)]
    side.server.ask("train", "one", "checkpoint", "sag", WITHIN)
    ranks[1].hang_up()
    await side.clock.advance(2.0)
    side.server.pass_time()
    side.start_rank(1)
    await side.clock.advance(2.0)
    side.server.pass_time()
    request = side.server.find("train").request
    assert request is not None
    assert request.stage == "asked"
    ranks[0].hang_up()
    await side.clock.advance(4.0)
    side.server.pass_time()
    failed = side.server.find("train").request
    assert failed is not None
    assert "rank 0 was lost" in failed.text


def test_a_rank_started_anew_in_mid_save_has_lost_its_part_however_quickly_it_came() -> None:
    side = Side()
    ranks = [side.start_rank(number) for number in range(2)]
    side.server.ask("train", "one", "checkpoint", "sag", WITHIN)
    for rank in ranks:
        rank.say(Beat(step=100), Agreed(request="one", number=1, step=100), Saving(step=100))
    ranks[0].say(Saved(step=100, size=1, seconds=0.1))
    ranks[1].hang_up()
    side.start_rank(1, step=100).hang_up()  # the same process, which dials again
    asked = side.server.find("train").request
    assert asked is not None
    assert asked.stage == "saving"
    side.start_rank(1, step=51)
    failed = side.server.find("train").request
    assert failed is not None
    assert (failed.stage, failed.text) == ("failed", "rank 1 was lost before its part was saved")


def test_parts_of_two_starts_make_no_step() -> None:
    side = Side()
    ranks = [side.start_rank(number) for number in range(2)]
    ranks[0].say(Beat(step=100), Saved(step=100, size=1, seconds=0.1))
    for rank in ranks:
        rank.hang_up()
    ranks = [side.start_rank(number, step=-1) for number in range(2)]
    ranks[1].say(Saved(step=100, size=1, seconds=0.1))
    assert side.server.find("train").kept.saved_step == -1
    ranks[0].say(Saved(step=100, size=1, seconds=0.1))
    assert side.server.find("train").kept.saved_step == 100


def test_a_job_that_goes_on_after_a_stop_is_stopping_no_more() -> None:
    side = Side()
    rank = side.start_rank(0, world=1)
    job = side.server.find("train")
    side.server.ask("train", "one", "stop", "the reserve is low", WITHIN)
    rank.say(Beat(step=100), Agreed(request="one", number=1, step=100), Saved(step=100, size=1, seconds=0.1))
    assert job.judge(side.clock.now(), 15.0) == "stopping"
    rank.say(Bye(step=100))
    rank.hang_up()
    assert job.judge(side.clock.now(), 15.0) == "stopped"
    again = side.start_rank(0, world=1)
    assert job.judge(side.clock.now(), 15.0) == "starting"
    again.say(Beat(step=101))
    assert job.judge(side.clock.now(), 15.0) == "running"


def test_a_part_that_is_not_there_fails_the_request_with_its_reason() -> None:
    side = Side()
    rank = side.start_rank(0, world=1)
    side.server.ask("train", "one", "checkpoint", "sag", WITHIN)
    rank.say(Agreed(request="one", number=1, step=100), SaveFailed(step=100, why="No space left on device"))
    request = side.server.find("train").request
    assert request is not None
    assert request.text == "rank 0: No space left on device"
    again = side.server.ask("train", "one", "checkpoint", "sag", WITHIN)
    assert (again.stage, again.number) == ("asked", 2)


def test_nobody_to_ask_is_an_error_that_says_so() -> None:
    side = Side()
    with pytest.raises(WireError, match="there is no job train on n0"):
        side.server.ask("train", "one", "checkpoint", "sag", WITHIN)
    side.start_rank(0).say(Bye(step=9))
    with pytest.raises(WireError, match="none of its ranks is connected"):
        side.server.ask("train", "one", "checkpoint", "sag", WITHIN)


def test_a_job_may_come_back_with_another_number_of_ranks() -> None:
    side = Side()
    for number in range(2):
        side.start_rank(number).say(Bye(step=9))
    (welcome,) = side.start_rank(0, world=1).hears()
    assert isinstance(welcome, Welcome)
    assert list(side.server.find("train").ranks) == [0]


def test_an_order_waits_for_a_launcher_that_comes_back_and_is_answered_once() -> None:
    side = Side()
    side.start_rank(0)
    order = Order(id="i1/abort", kind="abort", incarnation=1)
    with pytest.raises(WireError, match="no launcher is connected"):
        side.server.order("train", order)
    launcher = side.start_other("launcher")
    launcher.hears()
    side.server.order("train", order)
    assert launcher.hears() == [order]
    launcher.hang_up()
    launcher = side.start_other("launcher")
    assert launcher.hears()[1:] == [order]
    launcher.say(Acted(order="i1/abort"))
    assert side.server.launching("train").stamp("i1/abort").ok
    side.server.order("train", order)
    assert launcher.hears() == []


async def test_a_job_that_nobody_speaks_of_is_forgotten_after_a_day() -> None:
    side = Side()
    gone, here = side.start_rank(0, job="gone"), side.start_rank(0, job="here")
    gone.hang_up()
    await side.clock.advance(90_000.0)
    side.server.pass_time()
    assert list(side.server.jobs) == ["here"]
    here.say(Beat(step=1))
    assert side.server.jobs["here"].ranks[0].step == 1


async def test_a_rank_that_goes_on_elsewhere_is_not_held_against_the_job() -> None:
    """It was placed on another node: its peers restarted and do steps, which they could not without it."""
    side = Side()
    for number in range(2):
        side.start_rank(number, 3).say(Beat(step=10))
    for peer in list(side.server._peers):
        peer.connection_lost(None)
    await side.clock.advance(5.0)
    side.server.pass_time()
    assert sorted(side.server.find("train").ranks) == [0, 1]
    here = side.start_rank(0, 3)
    side.server.pass_time()
    assert sorted(side.server.find("train").ranks) == [0, 1], "nobody has done a step yet"
    here.say(Beat(step=9))
    side.server.pass_time()
    assert sorted(side.server.find("train").ranks) == [0]


async def test_ranks_that_are_all_lost_are_no_job_after_a_while() -> None:
    side = Side()
    rank = side.start_rank(0, 1)
    rank.hang_up()
    await side.clock.advance(100.0)
    side.server.pass_time()
    assert list(side.server.find("train").ranks) == [0]
    await side.clock.advance(30.0)
    side.server.pass_time()
    assert not side.server.find("train").ranks


def test_a_job_that_has_stopped_is_remembered_to_have_and_is_not_once_it_comes_back() -> None:
    side = Side()
    ranks = [side.start_rank(number) for number in range(2)]
    ranks[0].say(Bye(step=9))
    assert not side.server.find("train").kept.stopped
    ranks[1].say(Bye(step=9))
    assert side.server.find("train").kept.stopped
    side.start_rank(0)
    assert not side.server.find("train").kept.stopped
