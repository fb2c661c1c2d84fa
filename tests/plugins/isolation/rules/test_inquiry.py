"""One inquiry for all rules: made once for what they all look at, and anew as soon as anything is different."""

from __future__ import annotations

import msgspec
import pytest

from supernoded.plugin import View
from supernoded_isolation.rules.findings import Findings, Memory
from supernoded_isolation.rules.inquiry import WATCHES, Inquiry
from tests.plugins.isolation.site import CARDS, SETTINGS, SITE, TABLE, Site


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """When each inquiry was made."""
    times, inquire = list[float](), Inquiry._inquire

    def count(self: Inquiry, seen: View, memory: Memory) -> tuple[Memory, Findings]:
        times.append(seen.now)
        return inquire(self, seen, memory)

    monkeypatch.setattr(Inquiry, "_inquire", count)
    return times


def test_rules_that_ask_one_after_the_other_share_it_and_keep_what_is_their_own(made: list[float]) -> None:
    site, inquiry = Site(), Inquiry(SITE, TABLE, SETTINGS, lambda _: False)
    site.hung.add(CARDS[2])
    mine, others = Memory(raised={"x": 1.0}), Memory(cleared=5.0)
    for _ in range(3):
        site.pass_time()
        mine, found = inquiry.inquire(site.see(WATCHES), mine)
        others, same = inquiry.inquire(site.see(WATCHES), others)
        assert found == same
    assert len(made) == 3
    assert (mine.raised, mine.cleared, others.raised, others.cleared) == ({"x": 1.0}, 0.0, {}, 5.0)
    assert mine.since == others.since
    assert mine.since


def test_what_was_added_at_the_same_moment_is_looked_at(made: list[float]) -> None:
    site, inquiry = Site(), Inquiry(SITE, TABLE, SETTINGS, lambda _: False)
    for _ in range(2):
        site.codes[CARDS[2]] = frozenset({"8C03A000"} if made else ())
        site.pass_time(0.0)
        memory, _ = inquiry.inquire(site.see(WATCHES), Memory())
    assert len(made) == 2
    assert list(memory.since) == [CARDS[2]]


def test_another_memory_has_its_own_answer(made: list[float]) -> None:
    site, inquiry = Site(), Inquiry(SITE, TABLE, SETTINGS, lambda _: False)
    site.pass_time()
    memory, _ = inquiry.inquire(site.see(WATCHES), Memory())
    inquiry.inquire(site.see(WATCHES), msgspec.structs.replace(memory, blamed={"n0/card1=S": [1.0]}))
    assert len(made) == 2
