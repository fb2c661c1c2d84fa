"""The bank of CUSUMs: run lengths exact, by Markov chain and by simulation, and delays against the one that knows the rate."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from random import Random

import pytest

from supernoded_link_ber.ber.bank import RATIOS, SHARES, Bank, Member, advance, count_expected, design, find_height, is_over
from tests.plugins.link_ber.ber.lives import draw

DESIGN = count_expected(1e-12, 200.0, 1000.0)
DAY = count_expected(1e-12, 200.0, 1.0 / 365.25)  # expected errors of one day at the limit: the design rate of the tests
FREE = 1e9  # no winsorising


def find_scale(x: Decimal, load: Decimal) -> Decimal:
    """W of the module, exactly: the finite sum of its transform's series (Erlang's for the M/D/1 queue)."""
    total, factorial = Decimal(0), 1
    for k in range(int(x) + 1):
        factorial *= max(1, k)
        rest = x - k
        total += (-load * rest) ** k / factorial * (load * rest).exp() if k else (load * rest).exp()
    return load * total


@pytest.mark.parametrize(("ratio", "share"), list(zip(RATIOS, SHARES, strict=True)))
def test_the_run_length_at_the_true_design_is_exact(ratio: float, share: float) -> None:
    wanted = DESIGN / share
    with localcontext() as context:
        context.prec = 80
        gain = Decimal(ratio).ln()
        load, level = gain / (Decimal(ratio) - 1), Decimal(find_height(ratio, wanted)) / gain
        w = find_scale(level, load)
        slope = load * (w - find_scale(level - 1, load))  # c W' = W(x) - W(x - 1)
        found = float(w * w / slope)
    assert found == pytest.approx(wanted, rel=0.01)


def test_the_shares_are_one_alarm() -> None:
    assert sum(SHARES) == pytest.approx(1.0)
    assert pytest.approx(6.3e9, rel=0.01) == DESIGN


def run_chain(member: Member, expected: float, states: int) -> float:
    """The mean run length in expected errors by Brook and Evans: polls of `expected`, S cut into `states` equal steps."""
    width = member.height / states
    most = int(10 + expected + 12 * math.sqrt(expected))
    chances = [math.exp(-expected + n * math.log(expected) - math.lgamma(n + 1)) for n in range(most)]
    rows = [[0.0] * states for _ in range(states)]
    for state, row in enumerate(rows):
        for n, chance in enumerate(chances):
            lower, share = divmod(max(0.0, state + (n * member.gain - expected * member.loss) / width), 1.0)
            for place, part in ((int(lower), 1.0 - share), (int(lower) + 1, share)):  # between two states: in the mean at the right place
                if place < states:
                    row[place] += chance * part
    return _solve(rows)[0] * expected


def _solve(rows: list[list[float]]) -> list[float]:
    """(I - R) x = 1 by elimination."""
    size = len(rows)
    table = [[(1.0 if i == j else 0.0) - rows[i][j] for j in range(size)] + [1.0] for i in range(size)]
    for pivot in range(size):
        for other in range(pivot + 1, size):
            factor = table[other][pivot] / table[pivot][pivot]
            if factor:
                row, from_ = table[other], table[pivot]
                for j in range(pivot, size + 1):
                    row[j] -= factor * from_[j]
    found = [0.0] * size
    for i in reversed(range(size)):
        found[i] = (table[i][-1] - sum(table[i][j] * found[j] for j in range(i + 1, size))) / table[i][i]
    return found


@pytest.mark.parametrize(
    ("ratio", "expected"),  # polls of 1 s, 5 s and 60 s, where the largest ratios have run lengths beyond elimination in floats
    [(ratio, expected) for ratio in RATIOS for expected in (0.2, 1.0, 12.0) if expected * ratio < 50.0],
)
def test_the_run_length_holds_for_every_poll_by_markov_chain(ratio: float, expected: float) -> None:
    found = run_chain(Member(math.log(ratio), ratio - 1.0, find_height(ratio, DAY)), expected, 90)
    assert found > 0.9 * DAY  # at the polls S is never above the continuous one, but for the chain's own steps
    if expected < 1.0 and ratio < 5.0:
        assert found < 2.5 * DAY  # and with frequent polls not much below: the design wastes little


def simulate(bank: Bank, expected: float, runs: int, chance: Random, most: float) -> float:
    """The mean run length of the bank in expected errors, at the limit."""
    polls = 0
    for _ in range(runs):
        sums: tuple[float, ...] = ()
        while not is_over(sums, bank):
            sums = advance(sums, bank, draw(chance, expected), expected, most)
            polls += 1
    return polls * expected / runs


@pytest.mark.parametrize(
    ("poll", "share", "days", "runs"), [(5.0, 1.0, 1.0, 8), (60.0, 1.0, 0.1, 12), (5.0, 0.2, 0.1, 12), (1.0, 0.1, 0.01, 8)]
)
def test_one_false_alarm_in_a_link_day_by_simulation(poll: float, share: float, days: float, runs: int) -> None:
    """Whatever poll and traffic; 8 alarms tell a mean to within 35 %, which 0.6 allows for."""
    found = simulate(design(DAY * days), poll * share / 5.0, runs, Random(7), FREE)
    assert found > 0.6 * DAY * days


@pytest.mark.parametrize("rate", [1.5, 2.4, 3.7, 6.0, 15.0, 100.0, 1e4])
def test_the_delay_is_that_of_the_one_that_knows_the_rate(rate: float) -> None:
    """At 5 s polls: at most 1.1 times, or one poll more; 3 % are the simulation's own."""
    runs = 50 if rate < 2.0 else 300
    bank, oracle = design(DESIGN), design(DESIGN, (rate,), (1.0,))
    ours = find_delay(bank, rate, runs, Random(3))
    its = find_delay(oracle, rate, runs, Random(3), FREE)
    assert ours <= max(1.13 * its, its + 1.0)


def find_delay(bank: Bank, rate: float, runs: int, chance: Random, most: float | None = None) -> float:
    polls = 0
    for _ in range(runs):
        sums: tuple[float, ...] = ()
        while not is_over(sums, bank):
            sums = advance(sums, bank, draw(chance, rate), 1.0, *(() if most is None else (most,)))
            polls += 1
    return polls / runs


def test_one_poll_alone_never_alarms_and_two_do() -> None:
    bank = design(DESIGN)
    once = advance((), bank, 1e6, 1.0)
    assert not is_over(once, bank)
    assert is_over(advance(once, bank, 1e6, 1.0), bank)


def test_sums_of_another_bank_start_anew() -> None:
    bank = design(DESIGN)
    assert advance((9.0, 9.0), bank, 0.0, 1.0) == (0.0,) * len(bank)
