"""A job that stands still with all ranks at one step: it may hang, and it may pause."""

from __future__ import annotations

import pytest

from tests.plugins.isolation.site import CARDS, JOB, SETTINGS, Court

EVERY = 10.0


def stand(court: Court, use: float | None = None) -> None:
    """All wait; `use` is how busy the cards are."""
    court.site.states = dict.fromkeys(court.site.places, "waiting")
    court.site.more |= {(card, "card.utilisation"): use for card in CARDS if use is not None}


def test_a_pause_of_all_ranks_is_no_hang(court: Court) -> None:
    """An evaluation or a slow loader that no phase was told of, for four minutes."""
    stand(court)
    court.run(25, EVERY)
    assert court.raised == set()
    court.site.states = {}
    court.run(2, EVERY)
    assert court.raised == set()


@pytest.mark.parametrize("use", [None, 100.0])
def test_after_five_minutes_it_hangs(court: Court, use: float | None) -> None:
    stand(court, use)
    court.run(34, EVERY)
    assert court.raised == {("rank.silent", JOB)}


def test_long_steps_have_longer(court: Court) -> None:
    court.site.more[JOB, "job.step_time"] = 30.0
    stand(court)
    court.run(55, EVERY)
    assert court.raised == set()
    court.run(10, EVERY)
    assert court.raised == {("rank.silent", JOB)}


def test_a_collective_that_timed_out_is_no_pause(court: Court) -> None:
    court.site.more["n1", "comm.timeouts"] = 3.0
    court.run(1)
    stand(court, 0.0)
    court.run(6)
    assert court.raised == set()
    court.site.more["n1", "comm.timeouts"] = 5.0
    court.run(3)
    assert court.raised == {("rank.silent", JOB)}


def test_where_all_cards_are_idle_people_are_told_and_nothing_is_started_anew(court: Court) -> None:
    stand(court, 0.0)
    court.run(40, EVERY)
    assert court.raised == {("job.idle", JOB)}
    assert "job.phase" in court.text("job.idle", JOB)
    court.site.states = {}
    court.run(4)
    assert court.raised == set()


def test_unless_it_has_told_phases_before(court: Court) -> None:
    court.site.more[JOB, "job.phase"] = "evaluation"
    court.run(2)
    court.site.more[JOB, "job.phase"] = ""
    court.run(20)
    stand(court, 0.0)
    court.run(40, EVERY)
    assert court.raised == {("rank.silent", JOB)}


def test_or_the_site_wants_it_so(court: Court) -> None:
    site = court.site
    court = Court(site, type(SETTINGS)(restart_idle=True))
    stand(court, 0.0)
    court.run(40, EVERY)
    assert court.raised == {("rank.silent", JOB)}


def test_one_busy_card_is_no_idle_job(court: Court) -> None:
    stand(court, 0.0)
    court.site.more[CARDS[4], "card.utilisation"] = 100.0
    court.run(40, EVERY)
    assert court.raised == {("rank.silent", JOB)}
