"""The alarm on bit errors: how long it takes, against the one CUSUM that knows the true rate and against fixed thresholds.

One link at 200 Gb/s and a limit of 1e-12, read every 5 s, so that one error a poll is the limit. Every rule is set to the same false alarm
rate, one in 1,000 link-years of a link that is always exactly at the limit; for the fixed ones that gives their number of errors.
Then what a reading costs, and what is remembered.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from benchmarks.measuring import Row, make_parser, make_row, show
from supernoded.history import History
from supernoded.plugin import Reading, Rule
from supernoded_link_ber.ber.bank import YEAR, Bank, advance, count_expected, design, is_over
from supernoded_link_ber.ber.judging import Judge
from supernoded_link_ber.ber.rising import TrendRule
from supernoded_link_ber.ber.rules import BerRule, OverruledRule
from supernoded_link_ber.gallery import Gallery
from supernoded_link_ber.health.ports import WATCHES
from supernoded_link_ber.settings import LinkBerSettings

LIMIT, SPEED, POLL, YEARS = 1e-12, 200.0, 5.0, 1000.0  # L2, L12, L1, ours
DESIGN = count_expected(LIMIT, SPEED, YEARS)
DAY = count_expected(LIMIT, SPEED, 1.0 / 365.25)
RATES = (1.5e-12, 3e-12, 1e-11, 1e-10, 1e-8)
WINDOWS = {"N errors in one poll": 1, "N errors in a minute": 12, "N errors in an hour": 720}  # polls
LONGEST = 2e5  # polls after which a simulation gives up
PORTS, COUNTERS = 16, ("link.symbol_errors", "link.effective_errors", "link.receive_errors")
FREE = 1e9  # no bound on what one poll may add
Delay = Callable[[float, random.Random], float]  # polls from a change to this many times the limit, to the alarm


def draw(chance: random.Random, mean: float) -> int:
    """A Poisson count."""
    if mean > 500.0:
        return max(0, round(chance.gauss(mean, math.sqrt(mean))))
    left, count, product = math.exp(-mean), 0, chance.random()
    while product > left:
        product *= chance.random()
        count += 1
    return count


def run_bank(bank: Bank, most: tuple[float, ...], rate: float, chance: random.Random) -> float:
    sums: tuple[float, ...] = ()
    polls = 0
    while not is_over(sums, bank):
        sums = advance(sums, bank, draw(chance, rate), 1.0, *most)
        polls += 1
    return polls


def run_oracle(rate: float, chance: random.Random) -> float:
    return run_bank(design(DESIGN, (rate,), (1.0,)), (FREE,), rate, chance)


def run_fixed(window: int, least: int, rate: float, chance: random.Random) -> float:
    """Windows one after the other; the change comes at any place in one. It alarms at the poll at which the count is reached."""
    place, polls, errors = chance.randrange(window), 0, 0
    errors = draw(chance, float(place)) if place else 0
    while polls < LONGEST:
        errors += draw(chance, rate)
        polls += 1
        if errors >= least:
            return polls
        place = (place + 1) % window
        errors = errors if place else 0
    return LONGEST


def find_least(window: int) -> int:
    """The least number of errors of a window that comes once in the design's time at the limit."""
    chance, mean = window / DESIGN, float(window)
    number = window
    while _find_tail(mean, number) > chance:
        number += 1
    return number


def _find_tail(mean: float, number: int) -> float:
    term = math.exp(-mean + number * math.log(mean) - math.lgamma(number + 1))
    total = 0.0
    while term > total * 1e-15:
        total += term
        number += 1
        term *= mean / number
    return total


def time_delays(runs: int) -> list[Row]:
    """Mean delays of every rule at every rate."""
    rows = list[Row]()
    for rate in RATES:
        times = rate / LIMIT
        oracle = _average(run_oracle, times, runs)
        rows.append(make_row(f"BER {rate:g}: the CUSUM that knows it", oracle * POLL, "s"))
        ours = _average(partial(run_bank, design(DESIGN), ()), times, runs)
        budget = max(1.1 * oracle, oracle + 1.0) * POLL
        rows.append(make_row(f"BER {rate:g}: the bank", ours * POLL, "s", budget, f"{ours / oracle:.2f} of it"))
        for name, window in WINDOWS.items():
            least = find_least(window)
            found = _average(partial(run_fixed, window, least), times, max(3, runs // 20) if window > 1 and times < 4 else runs // 4)
            note = f"N = {least}, {found / oracle:.1f} of it" + (", or more: given up" if found >= 0.5 * LONGEST else "")
            rows.append(make_row(f"BER {rate:g}: {name}", found * POLL, "s", None, note))
    return rows


def _average(run: Delay, times: float, runs: int) -> float:
    chance = random.Random(1)
    return sum(run(times, chance) for _ in range(runs)) / runs


def count_false_alarms(alarms: int) -> list[Row]:
    """False alarms as a share of those of the design, at the limit; and what the numbers of others give there."""
    bank, chance = design(DAY), random.Random(2)
    polls = sum(run_bank(bank, (), 1.0, chance) for _ in range(alarms))
    share = alarms * DAY / polls
    yearly = YEAR * LIMIT * SPEED * 1e9
    return [
        make_row("false alarms, of those of the design", share, "1", 1.0, f"{alarms} alarms at a design of one in a link-day"),
        make_row("false alarms in a link-year by this", share / YEARS, "1", 1.0 / YEARS, "at the limit, full speed, 5 s polls"),
        make_row("the same of 120 symbol errors in an hour", yearly / 720.0 * _find_tail(720.0, 120), "1", None, "the limit makes 720"),
        make_row("the same of a BER over 1e-12 in one poll", yearly * _find_tail(1.0, 2), "1", None, "two errors where one is expected"),
    ]


def time_readings(polls: int) -> list[Row]:
    """What the rules take for one reading, on ports just below the limit: their worst case."""
    settings, rows = LinkBerSettings(), list[Row]()
    judge = Judge(LIMIT, SPEED, settings)
    makers: list[Callable[[Gallery], Rule[Any]]] = [
        lambda gallery: BerRule(judge, gallery),
        lambda gallery: OverruledRule(judge, gallery),
        lambda gallery: TrendRule(LIMIT, settings, gallery),
    ]
    for make in makers:  # each looks at the ports itself, which all rules of a daemon do but once
        rule = make(Gallery(WATCHES, lambda _: ""))
        spent, size = time_rule(rule, polls)
        rows.append(make_row(f"one reading, {rule.kind}", spent * 1e6, "us", 100.0, f"{PORTS} ports, {len(COUNTERS)} counters each"))
        rows.append(make_row(f"memory of {rule.kind} as JSON", size / 1024.0, "KiB", 128.0))
    return rows


def time_rule(rule: Rule[Any], polls: int) -> tuple[float, int]:
    """Seconds a reading of a counter, and bytes of memory."""
    chance, history, memory = random.Random(3), History(rule.watches), rule.start()
    totals, spent = dict.fromkeys(range(PORTS), 0), 0.0
    for poll in range(polls):
        at, readings = 1e9 + POLL * poll, list[Reading]()
        for port in totals:
            totals[port] += draw(chance, 0.8)
            values = [(name, float(totals[port]), "1") for name in COUNTERS]
            values += [("link.bits", 1e12 * poll, "bit"), ("link.speed", SPEED, "Gb/s"), ("link.state", 1.0, "1")]
            readings += [
                Reading(subject=f"n0/card{port}/port0", quantity=name, value=value, unit=unit, at=at, source="sysfs")
                for name, value, unit in values
            ]
        history.add(readings, 12.5)
        start = time.perf_counter()
        memory, _ = rule.judge(history.view(at, rule.watches), memory)
        spent += time.perf_counter() - start
    return spent / (polls * PORTS * len(COUNTERS)), len(msgspec.json.encode(memory))


def main() -> None:
    """Measure, and print."""
    parser = make_parser(__doc__)
    parser.add_argument("--runs", type=int, default=400, metavar="N", help="simulated changes for each delay (default: 400)")
    given = parser.parse_args()
    rows = [*time_delays(given.runs), *count_false_alarms(max(4, given.runs // 10)), *time_readings(400)]
    show(rows, as_json=given.json)


if __name__ == "__main__":
    main()
