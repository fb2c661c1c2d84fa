"""Late sheds, and both cords on one feed."""

from __future__ import annotations

import pytest

from supernoded.model import Level, Reading
from tests.plugins.power.site import SITE, Bench, find_rule, level, make_site, read, ups

RAISED, CLEAR, UNSURE = Level.RAISED, Level.CLEAR, Level.UNSURE
MAINS = [*ups("A", "ol"), *ups("B", "ol")]


@pytest.mark.parametrize(
    ("delay", "age", "expected"),
    [(2.4, 10.0, CLEAR), (3.0, 10.0, CLEAR), (3.1, 10.0, RAISED), (3.1, None, RAISED), (9.2, 4000.0, CLEAR), (None, 10.0, UNSURE)],
)
def test_a_shed_takes_three_milliseconds(delay: float | None, age: float | None, expected: Level) -> None:
    readings = [read("pdu/A1", "pdu.shed_delay", delay), read("pdu/A1", "pdu.event_age", age)]
    assert level(Bench(find_rule("power.shed_late")), "pdu/A1", readings) is expected


def test_a_pdu_that_does_not_tell_is_not_judged() -> None:
    assert Bench(find_rule("power.shed_late")).tell(MAINS) == {}


def draw(a: float | None, b: float | None, at: float = 0.0, mains: str = "ol") -> list[Reading]:
    powers = [read("pdu/A1/outlet1", "outlet.power", a, at), read("pdu/B1/outlet1", "outlet.power", b, at)]
    return [*ups("A", mains, 230.0, at), *ups("B", "ol", 230.0, at), *powers]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (1000.0, 1000.0, CLEAR),
        (1800.0, 200.0, CLEAR),  # power supplies share as they like
        (0.0, 2000.0, RAISED),
        (2000.0, 0.0, RAISED),
        (0.0, 10.0, UNSURE),  # it is off
        (None, 2000.0, UNSURE),
    ],
)
def test_by_what_its_outlets_give(a: float | None, b: float | None, expected: Level) -> None:
    bench = Bench(find_rule("power.cords"))
    bench.tell(draw(a, b))
    assert level(bench, "n0", draw(a, b, 10.0)) is expected


def test_it_must_last_and_says_what_it_saw() -> None:
    bench = Bench(find_rule("power.cords"))
    assert level(bench, "n0", draw(0.0, 2000.0)) is UNSURE
    text = bench.tell(draw(0.0, 2000.0, 12.0))["n0"].text
    assert text == "n0: of 2000 W it draws 0 W from feed A: both cords on one feed, or a dead power supply"


def test_a_feed_that_is_gone_explains_an_idle_cord() -> None:
    bench = Bench(find_rule("power.cords"))
    bench.tell(draw(0.0, 2000.0, mains="off"))
    assert level(bench, "n0", draw(0.0, 2000.0, 20.0, mains="off")) is UNSURE


def test_by_the_description() -> None:
    pdus = [{"name": "A1", "feed": "A", "outlets": [{"number": 1, "load": "n0"}, {"number": 2, "load": "n0"}]}]
    verdict = Bench(find_rule("power.cords", site=make_site(pdus=pdus))).tell(MAINS)["n0"]
    assert (verdict.level, verdict.text) == (RAISED, "n0: all its cords are described on feed A, which nobody can lose")


def test_a_node_with_one_cord_is_not_judged() -> None:
    pdus = [{**SITE["pdus"][0]}]
    assert Bench(find_rule("power.cords", site=make_site(pdus=pdus))).tell(MAINS) == {}


def test_a_cord_that_is_switched_off_explains_itself() -> None:
    bench = Bench(find_rule("power.cords"))
    off = [read("pdu/A1/outlet1", "outlet.state", "off", at) for at in (0.0, 20.0)]
    bench.tell([*draw(0.0, 2000.0), off[0]])
    assert level(bench, "n0", [*draw(0.0, 2000.0, 20.0), off[1]]) is UNSURE
