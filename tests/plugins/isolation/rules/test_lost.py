"""A job whose ranks have gone with their node: by the role `fleet`'s word on the node and the job's on the rest, never by silence alone."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec
import pytest

from supernoded.plugin import Level, Verdict
from supernoded_isolation.rules import LostJobRule
from supernoded_isolation.rules.lost import LostMemory
from tests.plugins.isolation.site import JOB, Site


@dataclass
class Ear:
    """The rule and what it remembers."""

    site: Site = field(default_factory=Site)
    rule: LostJobRule = field(default_factory=LostJobRule)
    memory: LostMemory = field(default_factory=LostMemory)

    def __post_init__(self) -> None:
        self.site.pass_time()
        self.site.pass_time()

    def judge(self) -> Verdict | None:
        """Of the job; None = nothing is said. What is remembered goes through JSON, as over a restart."""
        self.memory, said = self.rule.judge(self.site.see(self.rule.watches), self.memory)
        self.memory = msgspec.json.decode(msgspec.json.encode(self.memory), type=LostMemory)
        return next((one for one in said if one.subject == JOB), None)

    def level(self) -> Level | None:
        """Of the job."""
        verdict = self.judge()
        return None if verdict is None else verdict.level


@pytest.mark.parametrize("others", ["waiting", "gone", "silent"])
def test_its_ranks_are_gone_with_the_node_and_the_others_stand(others: str) -> None:
    ear = Ear()
    ear.site.kill("n1", others)
    verdict = ear.judge()
    assert verdict is not None
    assert verdict.level is Level.RAISED
    assert verdict.text == (
        f"{JOB} has lost ranks 4 to 6, on n1, which is gone, and its other 4 ranks stand ({others}): it cannot go on without them"
    )


@pytest.mark.parametrize("others", ["running", "saving", "phase"])
def test_while_the_others_go_on_nothing_is_lost(others: str) -> None:
    ear = Ear()
    ear.site.kill("n1", others)
    assert ear.level() is Level.UNSURE


def test_a_daemon_that_is_gone_is_no_node_that_is() -> None:
    ear = Ear()
    ear.site.kill("n1")
    ear.site.dead = set()
    ear.site.pass_time()
    assert ear.level() is not Level.RAISED


def test_while_half_of_the_site_or_less_is_heard_nobody_can_say() -> None:
    ear = Ear()
    ear.site.kill("n1")
    ear.site.dead = None
    ear.site.pass_time()
    assert ear.level() is not Level.RAISED
    assert ear.memory == LostMemory()


def test_a_node_without_ranks_of_it_does_not_matter() -> None:
    ear = Ear()
    ear.site.kill("n2")
    assert ear.level() is not Level.RAISED


def test_it_stays_lost_when_the_node_is_back_without_them_and_ends_when_they_are_heard_elsewhere() -> None:
    ear = Ear()
    ear.site.kill("n1")
    assert ear.level() is Level.RAISED
    ear.site.dead = set()
    ear.site.pass_time()
    verdict = ear.judge()
    assert verdict is not None
    assert verdict.level is Level.RAISED
    assert "on n1, which was gone" in verdict.text
    ear.site.states = {}
    ear.site.places |= {4: "n2/card0", 5: "n0/card0", 6: "n0/card1"}
    ear.site.pass_time()
    assert ear.level() is Level.CLEAR
    assert ear.memory == LostMemory()


def test_a_new_life_that_has_not_heard_the_node_keeps_to_what_is_remembered() -> None:
    ear = Ear()
    ear.site.kill("n1")
    assert ear.level() is Level.RAISED
    fresh = Site(now=ear.site.now, mute={"n1"}, dead=set(), states=dict.fromkeys(ear.site.places, "waiting"))
    fresh.pass_time()
    ear.site = fresh
    assert ear.level() is Level.UNSURE
    assert ear.memory.lost[JOB] == {4: "n1/card0", 5: "n1/card1", 6: "n1/card2"}


def test_ranks_that_were_given_up_are_lost_no_more() -> None:
    ear = Ear()
    ear.site.kill("n1")
    assert ear.level() is Level.RAISED
    ear.site.states = {}
    ear.site.places = {rank: card for rank, card in ear.site.places.items() if rank < 4}
    ear.site.pass_time()
    assert ear.level() is Level.CLEAR


def test_no_rank_is_left_to_tell() -> None:
    ear = Ear()
    ear.site.places = {0: "n1/card0", 1: "n1/card1"}
    ear.site.pass_time()
    ear.site.kill("n0")
    ear.site.kill("n1")
    verdict = ear.judge()
    assert verdict is not None
    assert "nobody can say that it does not step" in verdict.text


def test_a_rank_for_which_the_others_wait_may_be_what_holds_them_up() -> None:
    ear = Ear()
    ear.site.kill("n1")
    ear.site.silence(3)
    ear.site.pass_time()
    verdict = ear.judge()
    assert verdict is not None
    assert verdict.level is Level.UNSURE
    assert "all wait for rank 3" in verdict.text


def test_a_job_that_was_ended_by_order_says_nothing_of_ranks_that_are_not_heard() -> None:
    ear = Ear()
    ear.site.kill("n1", "gone")
    ear.site.more[JOB, "job.state"] = "aborted"
    ear.site.pass_time()
    assert ear.level() is Level.UNSURE
    ear.site.more.clear()
    ear.site.pass_time()
    assert ear.level() is Level.RAISED


def test_ranks_that_cannot_be_heard_live_where_the_others_step_again() -> None:
    ear = Ear()
    ear.site.kill("n1")
    assert ear.level() is Level.RAISED
    ear.site.states = {}
    ear.site.pass_time()
    assert ear.level() is Level.CLEAR
    assert ear.memory == LostMemory()
