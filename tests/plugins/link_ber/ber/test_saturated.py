"""Counters at their ceiling."""

from __future__ import annotations

from supernoded.plugin import Level, Verdict
from supernoded_link_ber.ber.saturated import SaturatedRule
from tests.plugins.link_ber.ber.lives import LINK, SATURATED, Life, make_gallery, reading


def run(quantity: str, shown: list[tuple[float | None, str]]) -> list[Verdict]:
    life, verdicts = Life(SaturatedRule(make_gallery()), quantity), list[Verdict]()
    for value, note in shown:
        verdicts.append(life.poll(value, bits=None, speed=None, note=note))
        life.restart()
    return verdicts


def test_reaching_the_ceiling_is_an_event_and_a_reset_its_end() -> None:
    verdicts = run("link.symbol_errors", [(65_000.0, ""), (None, SATURATED), (None, "no answer"), (3.0, "")])
    assert [verdict.level for verdict in verdicts] == [Level.CLEAR, Level.RAISED, Level.RAISED, Level.CLEAR]
    assert "symbol errors of its source has reached its ceiling and counts no more" in verdicts[1].text


def test_a_counter_at_its_ceiling_from_the_first_is_no_event() -> None:
    verdicts = run("link.downed", [(None, SATURATED), (None, SATURATED), (0.0, "")])
    assert [verdict.level for verdict in verdicts] == [Level.UNSURE, Level.UNSURE, Level.CLEAR]


def test_the_wide_counter_of_another_source_hides_no_ceiling() -> None:
    life = Life(SaturatedRule(make_gallery()))
    for narrow in (65_000.0, None):
        life.at += 5.0
        life.read({"link.symbol_errors": narrow}, SATURATED if narrow is None else "", "sysfs")
        life.read({"link.symbol_errors": 70_000.0}, "", "ethtool")
        verdict = life.judge()
    assert verdict.level is Level.RAISED
    assert "symbol errors of sysfs has reached its ceiling" in verdict.text


def test_a_lane_is_no_port() -> None:
    life = Life(SaturatedRule(make_gallery()))
    life.history.add([reading("link.symbol_errors", None, life.at, SATURATED, subject=f"{LINK}/lane2")], 15.0)
    assert life.judge_all() == []
