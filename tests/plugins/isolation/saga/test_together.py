"""Several troubles at a time: who goes first, who gets which spare, and what takes nothing out."""

from __future__ import annotations

from supernoded.plugin import Hold, Incident, Severity
from tests.plugins.isolation.saga.theatre import CARD, Theatre, alive, silent
from tests.plugins.isolation.site import CARDS, JOB


def test_it_waits_for_an_older_one_of_its_job() -> None:
    play = alive()
    older = Incident(id="i-other", kind="card.silent", subject=CARDS[1], scope="spares", opened=1.0, severity=Severity.CRITICAL, text="x")
    play.others = (older,)
    play.run()
    assert play.kinds == []
    assert "It waits for card.silent of n0/card1 (i-other)" in play.told[0]
    play.others = ()
    play.run()
    assert play.kinds[-1] == "job.resume"


def test_an_older_one_of_the_same_card_goes_first() -> None:
    play = alive()
    older = Incident(id="i-other", kind="card.silent", subject=CARD, scope="spares", opened=1.0, severity=Severity.CRITICAL, text="x")
    play.others = (older,)
    play.run()
    assert play.kinds == []


def test_a_second_card_of_the_job_is_not_kept_waiting_by_a_saga_that_is_over() -> None:
    """The older incident stays open as long as its card is out."""
    play = silent()
    play.others = (
        Incident(id="i-other", kind="card.silent", subject=CARDS[7], scope="spares", opened=1.0, severity=Severity.CRITICAL, text="x"),
    )
    play.holds.append(Hold(id="h1", subject=CARDS[7], serial="", reason="x", owner="isolation", placed=play.site.now - 100.0))
    play.run()
    assert play.site.places[2] == "n2/card0"
    assert "It waits for card.silent of n1/card3" in play.told[0]


def test_a_job_that_was_started_again_waits_for_no_saga_before_that() -> None:
    play = silent()
    play.site.more[JOB, "job.incarnation"] = 1.0
    play.site.pass_time()
    placed = play.site.now
    play.site.more[JOB, "job.incarnation"] = 2.0
    play.site.pass_time()
    play.others = (
        Incident(id="i-other", kind="card.silent", subject=CARDS[7], scope="spares", opened=1.0, severity=Severity.CRITICAL, text="x"),
    )
    play.holds.append(Hold(id="h1", subject=CARDS[7], serial="", reason="x", owner="isolation", placed=placed))
    play.run(5)
    assert play.site.places[2] == "n2/card0"
    assert not any("It waits" in told for told in play.told)


def test_a_spare_that_an_older_saga_has_first_call_on_is_waited_for() -> None:
    play = silent()
    other = Incident(id="i-other", kind="card.silent", subject="n1/card1", scope="spares", opened=1.0, severity=Severity.CRITICAL, text="x")
    play.others = (other,)
    play.holds.append(Hold(id="h1", subject="n2/card0", serial="", reason="x", owner="operator alice", placed=1.0))
    del play.site.places[5]
    play.site.history.forget(1e9)
    play.site.more.update({("job/other/rank0", "rank.card"): "n1/card1", ("job/other/rank0", "rank.state"): "gone"})
    play.site.more["job/other", "job.state"] = "silent"
    play.site.pass_time()
    play.run(10)
    assert "card.test" not in play.kinds
    assert play.told == []
    play.site.more.update({("job/other/rank0", "rank.card"): "n9/card0", ("job/other", "job.state"): "running"})
    play.run()
    assert play.site.places[2] == "n1/card3"


def test_two_jobs_do_not_take_one_spare() -> None:
    """The older saga has chosen the nearer spare, which shows no rank yet."""
    play = silent()
    other = Incident(id="i-other", kind="card.silent", subject="n1/card1", scope="spares", opened=1.0, severity=Severity.CRITICAL, text="x")
    play.others = (other,)
    del play.site.places[5]
    play.site.history.forget(1e9)
    play.site.more["job/other/rank0", "rank.card"] = "n1/card1"
    play.site.more["job/other/rank0", "rank.state"] = "gone"
    play.site.more["job/other", "job.state"] = "silent"
    play.site.pass_time()
    play.run()
    assert play.site.places[2] == "n2/card0"


def test_a_shared_cause_that_is_known_before_takes_nothing_out() -> None:
    play = alive()
    play.others = (
        Incident(
            id="i-cdu",
            kind="card.faulty",
            subject="cdu/0",
            scope="spares",
            opened=play.site.now,
            severity=Severity.CRITICAL,
            text="two cards",
        ),
    )
    play.run()
    assert play.kinds == []
    assert "It stays in service: cdu/0 is named as the cause" in play.told[0]


def test_an_incident_of_a_thing_takes_nothing_out() -> None:
    play = Theatre("card.faulty", "cdu/0")
    play.run()
    assert play.kinds == []
    assert "No card is taken out for this" in play.told[0]


def test_a_card_that_a_person_holds_is_no_spare() -> None:
    play = silent()
    play.holds.append(Hold(id="h1", subject="n1", serial="", reason="new floor", owner="operator alice", placed=1.0))
    play.run()
    assert play.site.places[2] == "n2/card0"


def test_a_rank_of_which_only_was_told_who_took_its_node_keeps_no_card_waiting() -> None:
    """Nothing was done for it: its job stands as it did."""
    play = silent()
    told = Incident(
        id="i-rank", kind="rank.silent", subject=f"{JOB}/rank2", scope="spares", opened=1.0, severity=Severity.CRITICAL, text="x"
    )
    play.others = (told,)
    play.run()
    assert play.kinds[-1] == "job.resume"


def test_a_rank_whose_job_was_ended_for_it_does() -> None:
    play = silent()
    play.site.states = dict.fromkeys(play.site.places, "gone")
    told = Incident(
        id="i-rank", kind="rank.silent", subject=f"{JOB}/rank2", scope="spares", opened=1.0, severity=Severity.CRITICAL, text="x"
    )
    play.others = (told,)
    play.site.pass_time()
    play.run()
    assert play.kinds == []
