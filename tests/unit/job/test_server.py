from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.job.protocol import (
    MOST_LINE,
    Beat,
    Hello,
    Refused,
    VaultTrouble,
    Welcome,
)
from supernoded.job.server import VAULT_LOST
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


def test_a_vault_that_goes_is_a_trouble_of_the_jobs_that_run() -> None:
    side = Side()
    rank, vault = side.start_rank(0, 1), side.start_other("vault")
    vault.say(VaultTrouble(tier="durable", text="full"))
    job = side.server.jobs["train"]
    assert job.list_troubles() == ["durable: full"]
    side.news.clear()
    vault.hang_up()
    assert (job.list_troubles(), side.news) == ([f"vault: {VAULT_LOST}"], ["train"])
    again = side.start_other("vault")
    assert job.list_troubles() == []
    rank.hang_up()
    again.hang_up()
    assert job.list_troubles() == []
