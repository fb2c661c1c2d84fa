"""Rates that rise towards a limit."""

from __future__ import annotations

import itertools
import math
import re
from random import Random

import pytest

from supernoded.plugin import Level
from supernoded_link_ber.ber.exposure import Span, remember
from supernoded_link_ber.ber.rising import TrendRule
from supernoded_link_ber.ber.trend import Fit, fit_counts, fit_rates, list_points
from supernoded_link_ber.settings import LinkBerSettings
from tests.plugins.link_ber.ber.lives import BITS, LINK, POLL, Life, draw, make_gallery


def make_rule(**settings: float) -> TrendRule:
    return TrendRule(1e-12, LinkBerSettings(**settings), make_gallery())  # type: ignore[arg-type]  # numbers all


def fit_polls(errors: list[float]) -> Fit | None:
    spans: tuple[Span, ...] = ()
    for poll, found in enumerate(errors):
        spans = remember(spans, Span(poll * POLL, found, BITS), -1.0)
    return fit_counts(list_points(spans, len(errors) * POLL))


def test_an_exact_slope_is_found() -> None:
    fit = fit_polls([100.0 * math.exp(0.002 * POLL * poll) for poll in range(200)])
    assert fit is not None
    assert fit.slope == pytest.approx(0.002, rel=0.02)
    crossing = fit.find_crossing(2.0 * math.exp(fit.level))
    assert crossing is not None
    assert crossing[0] == pytest.approx(math.log(2.0) / 0.002, rel=0.02)
    assert crossing[1] < crossing[0] < crossing[2]


def test_nothing_to_fit() -> None:
    assert fit_polls([]) is None
    assert fit_polls([1.0, 2.0]) is None
    assert fit_polls([0.0] * 50) is None
    assert fit_rates([(0.0, 1.0)] * 7) is None
    assert fit_rates([(0.0, 1.0)] * 9) is None


def test_a_falling_rate_and_one_above_cross_nothing() -> None:
    fit = fit_polls([100.0 * math.exp(-0.002 * POLL * poll) for poll in range(200)])
    assert fit is not None
    assert fit.sigmas < -6.0
    assert fit.find_crossing(1.0) is None
    assert Fit(0.0, 1.0, 9.0, (0.0, 0.0, 0.0)).find_crossing(1.0) is None


@pytest.mark.parametrize("mean", [0.05, 0.5, 20.0])
def test_a_flat_rate_differs_from_flat_as_seldom_as_is_said(mean: float) -> None:
    """At 2.33 sigmas one fit in a hundred on each side, by the likelihood ratio, with few errors as with many."""
    chance, above, fits = Random(5), 0, 0
    for _ in range(500):
        fit = fit_polls([float(draw(chance, mean)) for _ in range(200)])
        if fit is not None:
            fits += 1
            above += fit.sigmas > 2.33
    assert fits > 400
    assert above <= 0.025 * fits  # 1 % and three of its own errors


def test_the_interval_covers_the_slope() -> None:
    chance, slope, covered = Random(6), 0.001, 0
    for _ in range(200):
        fit = fit_polls([float(draw(chance, 2.0 * math.exp(slope * POLL * poll))) for poll in range(100)])
        assert fit is not None
        covered += abs(fit.slope - slope) < 1.96 * math.sqrt(fit.variances[1])
    assert covered >= 180


def test_a_creep_is_told_before_it_crosses() -> None:
    """Sixteen minutes from 1e-14 to 1e-11: the limit is passed after 640 s."""
    chance, life, total, told = Random(4), Life(make_rule()), 0, list[tuple[float, str]]()
    life.run([0.0] * 120)
    for poll in range(1, 193):
        total += draw(chance, 0.01 * 10.0 ** (3.0 * poll / 192.0))
        verdict = life.poll(float(total))
        if verdict.level is Level.RAISED:
            told.append((poll * POLL, verdict.text))
    assert told
    first, text = told[0]
    assert first < 640.0
    assert re.fullmatch(rf"{LINK}: symbol errors rise to 1e-12 in \d+ to \d+ (s|min); now at a BER of \d\.\de-1\d", text)
    assert told[-1][1].endswith("have risen above 1e-12")


@pytest.mark.parametrize("mean", [0.01, 0.3, 0.9])
def test_flat_links_show_no_trend(mean: float) -> None:
    chance, life, total = Random(8), Life(make_rule()), 0
    for _ in range(2000):
        total += draw(chance, mean)
        assert life.poll(float(total)).level is Level.CLEAR


def test_the_false_alarm_rate_scales_as_stated() -> None:
    """At 3 sigmas a look is wrong with a chance of 1.35e-3, and so are no more edges than twice that share of the looks."""
    chance, life, total, levels = Random(9), Life(make_rule(trend_sigmas=3.0)), 0, list[Level]()
    for _ in range(6000):
        total += draw(chance, 0.5)
        levels.append(life.poll(float(total)).level)
    edges = sum(1 for before, now in itertools.pairwise(levels) if before is not now and now is Level.RAISED)
    assert edges <= 2 * 1.35e-3 * 6000


def test_a_trend_is_over_when_the_rate_falls() -> None:
    chance, life, total = Random(4), Life(make_rule()), 0
    life.run([0.0] * 120)
    for poll in range(1, 128):
        total += draw(chance, 0.01 * 10.0 ** (3.0 * poll / 192.0))
        verdict = life.poll(float(total))
    assert verdict.level is Level.RAISED
    levels = life.run([float(total)] * 300)
    assert levels[-1] is Level.CLEAR


def test_a_restart_keeps_it() -> None:
    chance, life, whole, total = Random(4), Life(make_rule()), Life(make_rule()), 0
    for poll in range(150):
        total += draw(chance, 0.01 * 10.0 ** (3.0 * poll / 192.0))
        assert life.poll(float(total)).text == whole.poll(float(total)).text
        life.restart()


def test_without_a_counter_the_trend_is_not_known() -> None:
    life = Life(make_rule())
    assert life.poll(None, note="N/A").level is Level.UNSURE


def test_without_news_nothing_changes() -> None:
    life = Life(make_rule())
    life.run([0.0, 3.0, 9.0])
    memory = life.memory
    assert life.judge().level is Level.CLEAR
    assert life.memory == memory
