"""The rate before correction, against what the code is designed for."""

from __future__ import annotations

from random import Random

import pytest

from supernoded.plugin import Level, Verdict
from supernoded_link_ber.ber.correcting import FecMemory, FecRule
from supernoded_link_ber.settings import LinkBerSettings
from tests.plugins.link_ber.ber.lives import BITS, LINK, SPEED, Life, make_gallery, reading


def make_life(quantity: str = "link.ber.pre_fec") -> Life[FecMemory]:
    return Life(FecRule(SPEED, LinkBerSettings(), make_gallery()), quantity)


def run_rates(rates: list[float | None], fec: str | None = "rs-fec (544,514)", quantity: str = "link.ber.pre_fec") -> list[Verdict]:
    life = make_life(quantity)
    return [life.poll(rate, fec=fec) for rate in rates]


def test_work_for_the_code_is_no_trouble() -> None:
    """PAM4 always errs before correction (Q5)."""
    verdicts = run_rates([1e-7, 3e-6, 1e-7, 2e-6] * 20)
    assert {verdict.level for verdict in verdicts[2:]} == {Level.CLEAR}
    assert "its code is designed for 0.0002" in verdicts[-1].text


def test_near_the_design_point_it_warns_and_eases_below_half_of_that() -> None:
    verdicts = run_rates([1e-6, 1e-6, 1e-6, 1.2e-4, 1.2e-4, 7e-5, 7e-5, 2e-5, 2e-5])
    assert [verdict.level for verdict in verdicts[2:]] == [Level.CLEAR] * 2 + [Level.RAISED] * 3 + [Level.CLEAR] * 2
    assert verdicts[4].text == f"{LINK}: errors before correction at a rate of 1.2e-4, 60 % of the 0.0002 that its code is designed for"


def test_the_weaker_code_is_designed_for_less() -> None:
    assert run_rates([6e-6] * 4, fec="rs-fec (528,514)")[-1].level is Level.RAISED
    assert run_rates([6e-6] * 4)[-1].level is Level.CLEAR


@pytest.mark.parametrize("code", ["none", "off"])
def test_without_correction_it_has_no_say(code: str) -> None:
    assert {verdict.level for verdict in run_rates([1e-3] * 4, fec=code)} == {Level.CLEAR}


def test_a_rise_is_told_before_it_gets_there() -> None:
    rates: list[float | None] = [1e-7 * 1.05**poll for poll in range(140)]
    verdicts = run_rates(rates)
    first = next(number for number, verdict in enumerate(verdicts) if verdict.level is Level.RAISED)
    assert (rates[first] or 1.0) < 0.5e-4
    assert "rising to the 0.0002 that its code is designed for in" in verdicts[first].text


def test_a_noisy_flat_rate_is_no_rise() -> None:
    chance = Random(3)
    verdicts = run_rates([2e-6 * chance.lognormvariate(0.0, 0.5) for _ in range(3000)])
    assert Level.RAISED not in {verdict.level for verdict in verdicts}


def test_corrected_bits_are_a_rate_too_and_a_great_total_at_first_sight_is_none() -> None:
    totals = [3.6e10 + 1e4 * poll for poll in range(30)]
    assert Level.RAISED not in {verdict.level for verdict in run_rates([*totals], quantity="link.fec.corrected")}
    near = [1.5e-4 * BITS * poll for poll in range(4)]
    verdict = run_rates([*near], quantity="link.fec.corrected")[-1]
    assert verdict.level is Level.RAISED
    assert "corrected bits at a rate of 1.5e-4" in verdict.text


def test_what_cannot_be_read_is_unsure_and_a_lane_no_port() -> None:
    verdict = run_rates([1e-6, 1e-6, 1e-6, None])[-1]
    assert verdict.level is Level.UNSURE
    assert verdict.unseen
    life = make_life()
    life.history.add([reading("link.fec.corrected", 1.0, life.at, subject=f"{LINK}/lane0")], 15.0)
    assert life.judge_all() == []


def test_one_bad_poll_is_none() -> None:
    assert Level.RAISED not in {verdict.level for verdict in run_rates([1e-6, 1e-6, 1e-3, 1e-6, 1e-6])}


def test_a_restart_keeps_it() -> None:
    life = make_life()
    for _ in range(3):
        life.poll(1.2e-4)
        life.restart()
    assert life.poll(7e-5).level is Level.RAISED
