"""Stragglers, and those that are none."""

from __future__ import annotations

import pytest

from supernoded.plugin import Level
from supernoded_isolation.rules.slow import SlowRule
from tests.plugins.isolation.site import CARDS, JOB, SETTINGS, Site

CARD = CARDS[2]
RULE = SlowRule(SETTINGS)


def run(site: Site, looks: int = 10, busy: float = 97.0, others: float = 60.0) -> dict[str, Level]:
    """The last level of each card; in a collective all steps take as long, and the slow one is busy for more of each."""
    memory, levels = RULE.start(), dict[str, Level]()
    for _ in range(looks):
        for rank, card in site.places.items():
            site.more[card, "card.utilisation"] = busy if card == CARD else others + rank % 3
            site.more[f"{JOB}/rank{rank}", "rank.step_time"] = 1.3
        site.pass_time()
        memory, verdicts = RULE.judge(site.see(RULE.watches), memory)
        levels |= {one.subject: one.level for one in verdicts}
    return levels


def raised(levels: dict[str, Level]) -> set[str]:
    return {card for card, level in levels.items() if level is Level.RAISED}


def test_one_that_is_busy_while_the_others_wait() -> None:
    assert raised(run(Site())) == {CARD}


def test_of_many_those_that_are_like_their_peers_are_spoken_of_once_a_minute_and_that_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, _ = speak()
    monkeypatch.setattr("supernoded_isolation.rules.slow.MANY", 4)
    some, counts = speak()
    assert whole == some
    assert Level.RAISED in (levels[CARD] for levels in some)
    assert [look for look, count in enumerate(counts) if count > 1] == [0, 12, 24]


def speak() -> tuple[list[dict[str, Level]], list[int]]:
    """After each look the last level of each card, and of how many was spoken: one is slow for a while."""
    site, memory, levels, told, counts = Site(), RULE.start(), dict[str, Level](), list[dict[str, Level]](), list[int]()
    for look in range(26):
        for rank, card in site.places.items():
            site.more[card, "card.utilisation"] = 97.0 if card == CARD and 2 <= look < 18 else 60.0 + rank % 3
            site.more[f"{JOB}/rank{rank}", "rank.step_time"] = 1.3
        site.pass_time()
        memory, verdicts = RULE.judge(site.see(RULE.watches), memory)
        levels |= {one.subject: one.level for one in verdicts}
        told.append(dict(levels))
        counts.append(len(verdicts))
    return told, counts


def test_not_after_one_slow_step() -> None:
    assert raised(run(Site(), looks=3)) == set()


def test_a_whole_job_that_is_slow_has_no_straggler() -> None:
    assert raised(run(Site(), busy=62.0)) == set()


def test_nor_one_that_is_a_little_busier() -> None:
    assert raised(run(Site(), busy=64.0)) == set()


@pytest.mark.parametrize(("subject", "quantity", "value"), [(CARD, "card.throttled", 1.0), ("n0", "host.hog", "backup (pid 4711)")])
def test_heat_and_others_are_named_instead(subject: str, quantity: str, value: float | str) -> None:
    site = Site()
    site.more[subject, quantity] = value
    assert run(site)[CARD] is Level.UNSURE


def test_while_a_job_saves_nothing_is_said() -> None:
    site = Site()
    assert raised(run(site)) == {CARD}
    site.states = {3: "saving"}
    assert CARD not in run(site)


def test_a_moment_like_its_peers_clears_nobody() -> None:
    site, memory, levels = Site(), RULE.start(), list[Level]()
    for look in range(24):
        for rank, card in site.places.items():
            site.more[card, "card.utilisation"] = 97.0 if card == CARD and look not in (9, 10, *range(14, 24)) else 60.0
            site.more[f"{JOB}/rank{rank}", "rank.step_time"] = 1.3
        site.pass_time()
        memory, verdicts = RULE.judge(site.see(RULE.watches), memory)
        levels += [one.level for one in verdicts if one.subject == CARD]
    assert Level.CLEAR not in levels[levels.index(Level.RAISED) : 14]
    assert levels[-1] is Level.CLEAR


def test_where_use_is_not_read_it_cannot_be_told() -> None:
    site, memory = Site(), RULE.start()
    for rank in site.places:
        site.more[f"{JOB}/rank{rank}", "rank.step_time"] = 1.3
    site.pass_time()
    memory, verdicts = RULE.judge(site.see(RULE.watches), memory)
    assert not verdicts
