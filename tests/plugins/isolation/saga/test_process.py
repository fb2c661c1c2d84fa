"""A process that is to blame: its job is started anew on the same cards."""

from __future__ import annotations

import pytest

from supernoded.plugin import Result
from tests.plugins.isolation.saga.theatre import Theatre, but
from tests.plugins.isolation.site import JOB, Site

RANK = f"{JOB}/rank2"


def stuck(subject: str = RANK) -> Theatre:
    site = Site()
    site.silence(2)
    site.more[JOB, "job.durable_step"] = 60.0
    return Theatre("rank.silent", subject, site=site)


def test_its_job_is_started_anew_and_nothing_is_taken_out() -> None:
    play = stuck()
    play.run()
    assert play.kinds == ["card.capture", "job.abort", "job.resume"]
    assert play.holds == []
    assert "Its processes are started anew" in play.told[0]
    assert "No card was taken out" in play.told[1]
    assert "steps are done again" in play.told[1]


def test_a_whole_job_that_hangs() -> None:
    play = stuck(JOB)
    play.run()
    assert play.kinds == ["job.abort", "job.resume"]


def test_while_somebody_else_takes_the_node_nothing_is_started() -> None:
    play = stuck()
    play.site.more["n0", "host.hog"] = "backup (pid 4711): 96 % of memory"
    play.site.pass_time()
    play.run()
    assert play.kinds == []
    assert "Nothing is started anew while that is so" in play.told[0]
    play.site.more["n0", "host.hog"] = ""
    play.run()
    assert play.kinds[-1] == "job.resume"


def test_where_the_card_is_not_known_a_person_is_told() -> None:
    play = stuck(f"{JOB}/rank77")
    play.run()
    assert play.kinds == []
    assert "On which card it runs is not known" in play.told[0]


@pytest.mark.parametrize("kind", ["job_abort", "job_resume"])
def test_a_stage_that_fails_twice_is_told(kind: str) -> None:
    play = stuck()
    play.plan = but(**{kind: Result.UNCONFIRMED})
    play.run()
    assert play.kinds.count(kind.replace("_", ".")) == 2
    assert "came to nothing in 2 tries" in play.told[-1]


def test_a_rank_that_comes_back_by_itself_is_left_alone() -> None:
    play = stuck()
    play.still_raised = False
    play.run()
    assert play.log == []


def test_its_incident_stays_open_till_steps_go_up() -> None:
    play = stuck()
    play.turn()
    play.turn()
    assert play.remedy.keeps_open(play.case(), play.world)
    play.run()
    assert not play.remedy.keeps_open(play.case(), play.world)
