"""2N by phase in VA (safety rule 12), for two UPSes of 9 kVA: 3 kVA a phase."""

from __future__ import annotations

import pytest

from supernoded.model import Level, Reading, Severity, Verdict
from supernoded_power.settings import PowerSettings
from tests.plugins.power.site import POWER, Bench, find_rule, make_site, read, ups

RAISED, CLEAR, UNSURE = Level.RAISED, Level.CLEAR, Level.UNSURE
NOW = PowerSettings(settle_s=0.0)


def carry(a: tuple[float, ...], b: tuple[float, ...], at: float = 0.0, what: str = "output_va") -> list[Reading]:
    readings = [*ups("A", "ol", 230.0, at), *ups("B", "ol", 230.0, at)]
    for name, loads in (("A", a), ("B", b)):
        names = [what] if len(loads) == 1 else [f"{what}.L{number}" for number in (1, 2, 3)]
        readings += [read(f"ups/{name}", f"ups.{quantity}", value, at) for quantity, value in zip(names, loads, strict=True)]
    return readings


def ask(readings: list[Reading], settings: PowerSettings = NOW) -> Verdict:
    return Bench(find_rule("power.redundancy", settings)).tell(readings)[POWER]


@pytest.mark.parametrize(
    ("a", "b", "what", "expected"),
    [
        ((5400.0,), (2700.0,), "output_va", CLEAR),  # 60/30 passes
        ((4500.0,), (4500.0,), "output_va", CLEAR),  # 50/50
        ((4600.0,), (4600.0,), "output_va", RAISED),  # 50/50 of an overload does not
        ((1500.0, 1500.0, 1500.0), (1500.0, 1500.0, 1500.0), "output_va", CLEAR),
        ((1800.0, 1000.0, 1000.0), (1300.0, 1000.0, 1000.0), "output_va", RAISED),  # phase imbalance: 69 % of the whole, 103 % of L1
        ((60.0,), (30.0,), "load", CLEAR),
        ((60.0,), (50.0,), "load", RAISED),
        ((70.0, 10.0, 10.0), (40.0, 10.0, 10.0), "load", RAISED),
        ((1500.0, 1500.0, 1600.0), (4400.0,), "output_va", CLEAR),  # one tells phases, the other does not
        ((1500.0, 1500.0, 1600.0), (4500.0,), "output_va", RAISED),
    ],
)
def test_any_one_must_be_able_to_carry_all(a: tuple[float, ...], b: tuple[float, ...], what: str, expected: Level) -> None:
    assert ask(carry(a, b, what=what)).level is expected


def test_it_names_the_phase() -> None:
    verdict = ask(carry((1800.0, 1000.0, 1000.0), (1300.0, 1000.0, 1000.0)))
    assert verdict.severity is Severity.CRITICAL
    assert verdict.text == "redundancy is lost: phase L1 carries 3.1 kVA, and 3.0 kVA remain when the largest UPS is lost"


def test_the_smaller_of_two_counts() -> None:
    site = make_site(ups=[{"name": "A", "rated_va": 20_000.0}, {"name": "B", "rated_va": 8_000.0}])
    bench = Bench(find_rule("power.redundancy", NOW, site))
    assert bench.tell(carry((4000.0,), (4100.0,)))[POWER].level is RAISED


def test_a_peak_is_no_overload() -> None:
    bench = Bench(find_rule("power.redundancy"))
    assert bench.tell(carry((5000.0,), (5000.0,)))[POWER].level is UNSURE
    assert bench.tell(carry((4000.0,), (4000.0,), 5.0))[POWER].level is CLEAR
    assert bench.tell(carry((5000.0,), (5000.0,), 6.0))[POWER].level is UNSURE
    assert bench.tell(carry((5000.0,), (5000.0,), 16.0))[POWER].level is RAISED


@pytest.mark.parametrize("flags", ["ob", "ol eco", "ol bypass", "off"])
def test_one_that_is_missing_is_told_after_hours(flags: str) -> None:
    bench = Bench(find_rule("power.redundancy"))

    def one(at: float) -> list[Reading]:
        return [*ups("A", flags, 230.0, at, pdu=None, output_va=100.0), *ups("B", "ol", 230.0, at, output_va=5000.0)]

    assert bench.tell(one(0.0))[POWER].level is UNSURE
    assert bench.tell(one(4 * 3600.0 - 1))[POWER].level is UNSURE
    verdict = bench.tell(one(4 * 3600.0))[POWER]
    assert verdict.level is RAISED
    assert verdict.text.startswith("redundancy is lost for 4.0 h, told from 4 h on: feed/A ")


def test_one_that_is_dead_beside_another_is_told_at_once() -> None:
    bench = Bench(find_rule("power.redundancy"), fresh_for=1.5)

    def one(at: float, a: str | None = "ol", b: str | None = "ol") -> list[Reading]:
        readings = [ups(name, flags, 230.0 if flags else None, at, pdu=230.0) for name, flags in (("A", a), ("B", b)) if flags]
        lost = [
            [*ups(name, None, None, at), read(f"pdu/{name}1", "pdu.voltage", None, at)] for name, flags in (("A", a), ("B", b)) if not flags
        ]
        return [one for some in (*readings, *lost) for one in some]

    assert bench.tell(one(0.0))[POWER].level is UNSURE  # nothing is measured
    assert bench.tell(one(1.0, a=None))[POWER].level is UNSURE
    verdict = bench.tell(one(4.0, a=None))[POWER]
    assert (verdict.level, verdict.severity) == (RAISED, Severity.WARNING)
    assert verdict.text.startswith("redundancy is lost for 0.0 h, told at once: feed/A ")
    assert bench.tell(one(5.0, a=None, b=None))[POWER].level is UNSURE  # none carries: that is an outage


def test_one_whose_pdus_have_no_voltage_is_dead_too() -> None:
    bench = Bench(find_rule("power.redundancy"))
    levels = [bench.tell([*ups("A", "off", 0.0, at, pdu=0.0), *ups("B", "ol", 230.0, at)])[POWER].level for at in (0.0, 2.0, 3.0)]
    assert levels == [UNSURE, UNSURE, RAISED]


def test_what_is_not_measured_is_not_redundant() -> None:
    verdict = ask([*ups("A", "ol", output_va=100.0), *ups("B", "ol")])
    assert (verdict.level, verdict.unseen) == (UNSURE, ("ups.output_va of ups/B: never read",))


def test_one_ups_alone_has_none_to_lose() -> None:
    assert Bench(find_rule("power.redundancy", site=make_site(ups=[{"name": "A"}]))).tell(ups("A", "ol")) == {}
