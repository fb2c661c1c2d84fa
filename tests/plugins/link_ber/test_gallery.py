"""What is looked at once for all rules, and what is judged anew only when there is something new."""

from __future__ import annotations

import pytest

from supernoded.history import History, View
from supernoded.plugin import Level, Reading, Verdict
from supernoded_link_ber.gallery import LIST_AGAIN, LOOK_AGAIN, Gallery
from supernoded_link_ber.looking import Glimpse
from supernoded_link_ber.recalling import FORGET, Recall

PORT, LANE, OTHER = "n0/card0/port0", "n0/card0/port0/lane3", "n0/card1/port0"
WATCHES = {"link.state": 60.0, "link.rx_power": 60.0, "link.bias": 60.0, "host.uptime": 60.0}


class Site:
    """A history, a gallery and a rule that counts how often it judges."""

    def __init__(self) -> None:
        self.history, self.gallery, self.judged = History(WATCHES), Gallery(WATCHES, lambda _: ""), list[str]()
        self.recall = Recall[float](self.gallery, "rule", ("link.state", "link.rx_power of lanes"))
        self.memories: dict[str, float] = {}

    def read(self, subject: str, quantity: str, value: float, at: float, source: str = "a") -> None:
        self.history.add([Reading(subject=subject, quantity=quantity, value=value, unit="1", at=at, source=source)], 20.0)

    def view(self, now: float) -> View:
        return self.history.view(now, WATCHES)

    def ask(self, now: float) -> list[Verdict]:
        glimpses = self.recall.look(self.view(now))
        self.memories, verdicts = self.recall.ask(glimpses, self.memories, self.judge, lambda at: at)
        return verdicts

    def judge(self, seen: Glimpse, known: float | None) -> tuple[float | None, Verdict | None]:
        self.judged.append(seen.port)
        return seen.now, Verdict(kind="rule", subject=seen.port, level=Level.CLEAR, text=f"{known}", at=seen.now)


@pytest.fixture
def site() -> Site:
    made = Site()
    for port in (OTHER, PORT):
        made.read(port, "link.state", 1.0, 0.0)
    return made


def test_every_port_has_a_word_at_every_call_and_is_judged_on_news_alone(site: Site) -> None:
    first = site.ask(0.0)
    assert [verdict.subject for verdict in first] == [PORT, OTHER]
    again = site.ask(1.0)
    assert all(one is other for one, other in zip(first, again, strict=True))
    site.read(OTHER, "link.state", 0.0, 2.0)
    assert [verdict.at for verdict in site.ask(2.0)] == [0.0, 2.0]
    assert site.judged == [PORT, OTHER, OTHER]


def test_without_news_it_is_judged_again_as_time_passes(site: Site) -> None:
    site.ask(0.0)
    site.ask(LOOK_AGAIN - 0.1)
    assert len(site.judged) == 2
    site.ask(LOOK_AGAIN)
    assert len(site.judged) == 4
    site.ask(LOOK_AGAIN - 3.0)  # the clock was set back
    assert len(site.judged) == 6


def test_what_grows_stale_is_news(site: Site) -> None:
    site.ask(19.0)
    assert site.gallery.look(site.view(19.5), "another")[0].states == {"a": 1.0}
    assert site.gallery.look(site.view(20.5), "another")[0].states == {}


@pytest.mark.parametrize(("quantity", "source"), [("link.state", "late"), ("link.rx_power", "a")])
def test_a_newcomer_is_seen_at_once(site: Site, quantity: str, source: str) -> None:
    """Another teller of the state, and a quantity that was never read."""
    site.ask(0.0)
    site.read(PORT, quantity, 0.5, 1.0, source)
    site.ask(1.0)
    glimpse = site.gallery.look(site.view(1.0), "another")[0]
    assert glimpse.number(quantity, PORT, source) == 0.5
    assert PORT in site.judged[2:]


def test_another_newcomer_is_seen_before_long(site: Site) -> None:
    site.read(PORT, "link.bias", 7.0, 0.0)
    site.ask(0.0)
    site.read(PORT, "link.bias", 8.0, 1.0, "b")
    site.ask(1.0)
    assert site.gallery.look(site.view(LIST_AGAIN), "another")[0].sources("link.bias", PORT) == ["a", "b"]


def test_what_is_read_together_is_watched_by_one_of_it_and_what_comes_alone_is_seen_later(site: Site) -> None:
    for quantity in ("link.rx_power", "link.bias"):
        site.read(PORT, quantity, 1.0, 0.0)

    def look(now: float) -> float | None:
        return site.gallery.look(site.view(now), "x")[0].number("link.rx_power", PORT)

    assert look(0.0) == 1.0
    site.read(PORT, "link.rx_power", 2.0, 1.0)
    assert look(1.0) == 1.0  # `link.bias` is the one that is watched
    assert look(LIST_AGAIN + 1.0) == 2.0


def test_a_rule_about_lanes_sees_ports_with_lanes() -> None:
    site = Site()
    site.read(LANE, "link.rx_power", 0.5, 0.0)
    assert [verdict.subject for verdict in site.ask(0.0)] == [PORT]
    assert site.gallery.look(site.view(0.0), "another")[0].lanes == {"link.rx_power": {3: LANE}}
    other = Site()
    other.read(LANE, "link.bias", 0.5, 0.0)
    assert other.ask(0.0) == []


def test_with_another_memory_it_is_judged_anew(site: Site) -> None:
    """Such as that of an earlier life."""
    site.ask(0.0)
    site.memories = dict.fromkeys((PORT, OTHER), -7.0)
    assert {verdict.text for verdict in site.ask(1.0)} == {"-7.0"}


def test_a_port_that_is_gone_is_forgotten_after_a_week() -> None:
    site = Site()
    site.memories = {PORT: 10.0}
    assert site.ask(FORGET + 9.0) == []
    assert site.memories == {PORT: 10.0}
    site.ask(FORGET + 10.0)
    assert site.memories == {}
