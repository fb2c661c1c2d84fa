"""What is left of a job that could be ended, also in a life that has never heard of its ranks."""

from __future__ import annotations

import msgspec
import pytest

from supernoded.plugin import Case, World, read_record
from supernoded_isolation.saga.place import WATCHES, make_place
from supernoded_isolation.saga.remains import ABSENT_S, is_ended
from supernoded_isolation.saga.stage import Scene
from tests.plugins.isolation.saga.theatre import Theatre
from tests.plugins.isolation.site import CARDS, JOB, SETTINGS, SITE, TABLE, Site

WORLD = World(topology=SITE)


def look(site: Site) -> bool | None:
    return measure(Theatre("card.silent", CARDS[2], site=site).case(), site.now)


def measure(case: Case, now: float) -> bool | None:
    place = make_place(case.seen, CARDS[2], f"{JOB}/rank2")
    return is_ended(Scene(case, WORLD, now, read_record(case, frozenset()), place, TABLE, SETTINGS))


@pytest.mark.parametrize(("state", "ended"), [("gone", True), ("waiting", False), ("running", False)])
def test_by_the_ranks_that_are_heard(state: str, *, ended: bool) -> None:
    assert look(Site(states=dict.fromkeys(range(7), state))) is ended


def test_by_the_nodes_when_none_of_them_has_a_rank_of_it() -> None:
    site = Site(places={})
    site.pass_time(ABSENT_S)
    assert look(site) is True


def test_a_young_life_waits_for_ranks_that_connect_anew() -> None:
    site = Site(places={})
    case = Theatre("card.silent", CARDS[2], site=site).case()
    fresh = Site(places={}, now=site.now)
    fresh.pass_time()
    assert measure(msgspec.structs.replace(case, seen=fresh.see(WATCHES)), fresh.now) is None


def test_when_nobody_tells_of_the_job_it_may_be_there() -> None:
    site = Site(places={})
    for _ in range(4):
        site.pass_time()
    case = Theatre("card.silent", CARDS[2], site=site).case()
    place = make_place(case.seen, CARDS[2], "job/unheard/rank2")
    assert is_ended(Scene(case, WORLD, site.now, read_record(case, frozenset()), place, TABLE, SETTINGS)) is False
