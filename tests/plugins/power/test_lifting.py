"""Caps of nodes that take no order when the mains are back: they are lifted later, for they may only be off for now."""

from __future__ import annotations

from supernoded.model import Reading, Result
from tests.plugins.power.site import Trouble, find_remedy, job, kinds, ups

CAP = [("power.cap", "n0"), ("power.cap", "n1")]


def read_all(flags: str, volts: float, at: float) -> list[Reading]:
    return [*ups("A", flags, volts, at), *ups("B", flags, volts, at), *job(at, request="none", durable_age=5.0)]


def begin() -> Trouble:
    trouble = Trouble(find_remedy("power.outage"))
    trouble.see(read_all("ob", 0.0, 0.0))
    assert sum(len(steps) for steps in trouble.play()) > 4
    return trouble


def come_back(trouble: Trouble, at: float) -> None:
    trouble.raised = False
    trouble.see(read_all("ol", 230.0, at))


def test_the_cap_of_a_node_that_takes_no_order_is_lifted_later_and_the_notice_does_not_wait_for_it() -> None:
    trouble = begin()
    come_back(trouble, 60.0)
    lifts = trouble.ask()
    trouble.end(lifts[:1])
    trouble.end(lifts[1:], Result.UNCONFIRMED)
    (told,) = trouble.ask()
    assert told.kind == "notify"
    assert "caps lifted: 1 of 2 seen" in told.reason
    trouble.end([told])
    tries = 1
    while kinds(again := trouble.ask()) == CAP[1:]:
        assert again[0].amount is None
        trouble.end(again, Result.EXPIRED)
        tries += 1
    assert tries == 16
    assert "The caps of n1 are not seen lifted after 16 tries" in again[0].reason
    trouble.end(again)
    assert not trouble.ask()


def test_what_an_earlier_round_left_capped_is_lifted_after_the_last_one() -> None:
    trouble = begin()
    come_back(trouble, 60.0)
    trouble.end(trouble.ask(), Result.UNCONFIRMED)
    trouble.raised = True
    trouble.see(read_all("ob", 0.0, 80.0))
    trouble.end(trouble.ask(), Result.EXPIRED)
    list(trouble.play())
    come_back(trouble, 140.0)
    assert kinds(trouble.ask()) == CAP
