"""Memory that fills up: told with a lead, and never for a job that only starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from supernoded.plugin import Level, Reading
from supernoded.testing import judge
from supernoded_isolation.rules import MemoryRule
from tests.plugins.isolation.site import SETTINGS

TOTAL = 64.0 * 2**30
RULE = MemoryRule(SETTINGS, lambda subject: subject == "n0/card7")


def read(used: Callable[[float], float], seconds: int, card: str = "n0/card1") -> Iterator[Reading]:
    for at in range(0, seconds, 10):
        for quantity, value in (("card.memory_used", used(float(at))), ("card.memory_total", TOTAL)):
            yield Reading(subject=card, quantity=quantity, value=value, unit="B", at=float(at), source="tool")


def test_a_leak_of_hours_is_told_long_before() -> None:
    """60 % used, and full six hours later (scenario 30)."""
    slope = 0.4 * TOTAL / (6 * 3600.0)
    verdicts = judge(RULE, read(lambda at: 0.6 * TOTAL + slope * at, 6 * 3600))
    first = next(one for one in verdicts if one.level is Level.RAISED)
    assert 1800.0 < 6 * 3600.0 - first.at <= SETTINGS.leak_lead_s + 60.0
    assert "full in" in first.text


@pytest.mark.parametrize(
    "used",
    [
        lambda at: 0.9 * TOTAL,
        lambda at: 0.2 * TOTAL if at < 700 else 0.9 * TOTAL,
        lambda at: 0.9 * TOTAL + (at // 10 % 2) * 2**30,
        lambda at: 0.9 * TOTAL - at * 2**20,
        lambda at: 0.01 * TOTAL + at * 2**24,
    ],
    ids=["steady", "allocated once", "to and fro", "less", "far from full"],
)
def test_what_is_no_leak(used: Callable[[float], float]) -> None:
    assert {one.level for one in judge(RULE, read(used, 1500))} == {Level.CLEAR}


def test_under_maintenance_nothing_is_said() -> None:
    assert {one.level for one in judge(RULE, read(lambda at: 0.9 * TOTAL + at * 2**24, 1500, "n0/card7"))} == {Level.UNSURE}


def test_without_the_size_nothing_is_said() -> None:
    readings = [one for one in read(lambda at: at * 2**24, 1500) if one.quantity == "card.memory_used"]
    assert {one.level for one in judge(RULE, readings)} == {Level.UNSURE}
