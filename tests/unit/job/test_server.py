from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.errors import WireError
from supernoded.job.protocol import (
    MOST_LINE,
    Acted,
    Agreed,
    Beat,
    Bye,
    Durable,
    Hello,
    Order,
    Refused,
    Request,
    Saved,
    SaveFailed,
    Saving,
    VaultTrouble,
    Welcome,
    Withdraw,
)
from tests.unit.job.daemon import Caller, Side

WITHIN = 10.0, 20.0


def refusal(caller: Caller) -> str:
    (said,) = caller.hears()
    assert isinstance(said, Refused)
    assert caller.wire.closed
    return said.why


def test_a_rank_is_welcomed_with_where_to_save() -> None:
    (welcome,) = Side().start_rank(0).hears()
    assert welcome == Welcome(node="n0", silent_s=15.0, tiers=("/shm", "/disk"))


@pytest.mark.parametrize(
    ("hello", "words"),
    [
        (Hello(v=1, job="train", kind="rank", rank=0, world=2), "rank 0 of job train is here already"),
        (Hello(v=1, job="train", kind="rank", rank=1, world=4), "job train has 4 ranks, and ranks 0 say 2"),
        (Hello(v=1, job="train", kind="rank", rank=5, world=2), "rank 5 of a world of 2"),
        (Hello(v=1, job="other", kind="rank", rank=-1, world=2), "rank -1 of a world of 2"),
        (Hello(v=1, job="secret", kind="rank", rank=0, world=2, token="guess"), "token of job secret is wrong"),
        (Hello(v=1, job="secret", kind="vault"), "token of job secret is wrong"),
    ],
)
def test_who_contradicts_is_refused_by_name(hello: Hello, words: str) -> None:
    side = Side()
    side.start_rank(0)
    caller = side.dial()
    caller.say(hello)
    assert words in refusal(caller)
    assert list(side.server.jobs) == ["train"]
    assert len(side.server.jobs["train"].here) == 1


def test_a_refusal_is_logged_once_however_often_it_is_tried(caplog: pytest.LogCaptureFixture) -> None:
    side = Side()
    first = side.start_rank(0)
    with caplog.at_level(logging.INFO):
        for _ in range(3):
            side.start_rank(0)
        first.hang_up()
        side.start_rank(0)
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]


def test_the_right_token_opens() -> None:
    (welcome,) = Side().start_rank(0, job="secret", token="s3cret").hears()
    assert isinstance(welcome, Welcome)


@pytest.mark.parametrize(
    "line", [b"x\n", b"{}\n", b'{"t":"beat","step":-7}\n', b"\xff\xfe\n", b'{"t":"hello","v":1,"job":"../x","kind":"rank"}\n']
)
def test_garbage_is_told_why_and_cut_off(line: bytes) -> None:
    caller = Side().dial()
    caller.peer.data_received(line)
    assert "not understood" in refusal(caller)


def test_words_before_hello_and_a_second_hello_are_refused() -> None:
    side = Side()
    caller = side.dial()
    caller.say(Beat(step=1))
    assert "hello comes first" in refusal(caller)
    rank = side.start_rank(0)
    rank.hears()
    rank.say(Hello(v=1, job="train", kind="rank", rank=1, world=2))
    assert "and once" in refusal(rank)


def test_lines_peers_and_rates_are_bounded() -> None:
    side = Side(most_peers=3)
    long = side.dial()
    long.peer.data_received(b"x" * MOST_LINE)
    assert f"more than {MOST_LINE} bytes" in refusal(long)
    quick = side.start_rank(0)
    quick.hears()
    for step in range(250):
        quick.say(Beat(step=step))
    assert "more than 20 lines a second" in refusal(quick)
    assert [side.dial().wire.closed for _ in range(5)] == [False, False, False, True, True]


async def test_a_peer_that_never_says_who_it_is_is_cut_off() -> None:
    side = Side()
    caller = side.dial()
    await side.clock.advance(6.0)
    side.server.pass_time()
    assert "no hello" in refusal(caller)


def test_a_peer_that_reads_nothing_is_cut_off() -> None:
    side = Side()
    rank = side.start_rank(0)
    rank.wire.unread = 2_000_000
    side.server.ask("train", "one", "checkpoint", "sag", WITHIN)
    assert rank.wire.closed
    assert side.server.jobs["train"].ranks[0].gone is not None


@given(st.lists(st.binary(max_size=200), max_size=20), st.booleans())
def test_no_bytes_raise(chunks: list[bytes], known: bool) -> None:
    side = Side()
    caller = side.start_rank(0) if known else side.dial()
    for chunk in chunks:
        caller.peer.data_received(chunk)
    caller.hang_up()
    assert not side.server.jobs or not side.server.jobs["train"].here


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
    order = Order(id="i1/abort", kind="abort")
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
    answer = side.server.find_answer("train", "i1/abort")
    assert answer is not None
    assert answer.ok
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
