"""Lanes that differ, lanes that are missing, and lanes that are as they should be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from supernoded.plugin import Level, Reading, Severity, Source, Verdict
from supernoded.testing import Judge
from supernoded_fabric import supernoded_formats
from supernoded_link_ber.health.lanes import LanesRule
from supernoded_link_ber.health.ports import Ports
from supernoded_link_ber.settings import LinkBerSettings

PORT = "n0/nic/mlx5_0/port1"
Read = Callable[..., Reading]
Show = Callable[..., list[Reading]]


@pytest.fixture
def rule(make_ports: Callable[..., Ports]) -> LanesRule:
    return LanesRule(make_ports(), LinkBerSettings())


@pytest.fixture
def show(read: Read) -> Show:
    """The lanes of one poll."""

    def make(values: Sequence[float], at: float = 0.0, quantity: str = "link.fec.corrected", source: str = "tool") -> list[Reading]:
        return [read(f"{PORT}/lane{lane}", quantity, value, at, source) for lane, value in enumerate(values)]

    return make


def levels(verdicts: list[Verdict]) -> list[Level]:
    return [verdict.level for verdict in verdicts]


def test_lanes_a_few_times_apart_are_a_near_miss(supernoded_judge: Judge, rule: LanesRule, show: Show) -> None:
    assert levels(supernoded_judge(rule, show([4.0e6, 15.7e6]))) == [Level.CLEAR]
    assert levels(supernoded_judge(rule, show([11e3, 172e3, 9e3, 8e3]))) == [Level.CLEAR]  # half a decibel apart
    assert levels(supernoded_judge(rule, show([3.0, 900.0, 2.0, 1.0]))) == [Level.CLEAR]  # too few to mean anything


def test_first_sight_of_totals_is_a_baseline(supernoded_judge: Judge, rule: LanesRule, show: Show, read: Read) -> None:
    """They may be years old. Nothing was left after correction: no alarm, however lopsided."""
    totals = [*show([2.0e3, 1.5e3, 3.0e3, 17.0e6]), read(PORT, "link.symbol_errors", 0.0), read(PORT, "link.fec.uncorrected", 0.0)]
    assert levels(supernoded_judge(rule, totals)) == [Level.CLEAR]
    others = [*show([2.0e3, 1.5e3, 3.0e3, 17.0e6]), read(PORT, "link.symbol_errors", 386.0, source="kernel")]
    assert levels(supernoded_judge(rule, others)) == [Level.CLEAR]  # another source counts since another day


def test_one_lane_that_has_nearly_all_of_it(supernoded_judge: Judge, rule: LanesRule, show: Show, read: Read) -> None:
    left = read(PORT, "link.symbol_errors", 386.0)
    (verdict,) = supernoded_judge(rule, [*show([2.0e3, 1.5e3, 3.0e3, 17.0e6]), left])
    assert (verdict.subject, verdict.level, verdict.severity) == (PORT, Level.RAISED, Severity.WARNING)
    assert verdict.text == (
        f"{PORT}: lane 3 had 17000000 bits to correct since its counters began (by tool), the next lane 3000; "
        "more than 100 times as many is imbalance, and symbol errors are left after correction"
    )


def test_it_recovers_by_what_is_added(supernoded_judge: Judge, rule: LanesRule, show: Show, read: Read) -> None:
    """The old totals stay lopsided for ever; four like lanes since then are well."""
    readings = [*show([0.0, 0.0, 0.0, 9e6]), *show([10.0, 10.0, 10.0, 9e6 + 20], 5.0), *show([3e3, 2e3, 3e3, 9e6 + 4e3], 600.0)]
    left = [read(PORT, "link.effective_errors", 7.0)]
    assert levels(supernoded_judge(rule, [*readings, *left])) == [Level.RAISED, Level.RAISED, Level.CLEAR]


def test_it_recovers_when_nothing_is_added(supernoded_judge: Judge, rule: LanesRule, show: Show, read: Read) -> None:
    readings = [reading for at in (0.0, 1800.0, 3600.0) for reading in show([0.0, 0.0, 0.0, 9e6], at)]
    left = [read(PORT, "link.fec.uncorrected", 2.0)]
    assert levels(supernoded_judge(rule, [*readings, *left])) == [Level.RAISED, Level.RAISED, Level.CLEAR]


def test_a_lane_that_begins_to_fail(supernoded_judge: Judge, rule: LanesRule, show: Show) -> None:
    readings = [*show([5e6] * 4), *show([5e6 + 100, 5e6 + 110, 5e6 + 90, 5e6 + 50_000], 60.0)]
    assert levels(supernoded_judge(rule, readings)) == [Level.CLEAR, Level.RAISED]


def test_a_reset_is_a_new_baseline(supernoded_judge: Judge, rule: LanesRule, show: Show) -> None:
    assert levels(supernoded_judge(rule, [*show([5e6] * 4), *show([0.0, 0.0, 0.0, 4e6], 5.0)])) == [Level.CLEAR] * 2


def test_sources_are_not_mixed(supernoded_judge: Judge, rule: LanesRule, show: Show) -> None:
    readings = [*show([5e6] * 4), *show([10.0] * 4, source="other"), *show([5e6] * 4, 5.0), *show([20.0] * 4, 5.0, source="other")]
    assert set(levels(supernoded_judge(rule, readings))) == {Level.CLEAR}


def test_light(supernoded_judge: Judge, rule: LanesRule, show: Show) -> None:
    power = "link.rx_power"
    readings = [reading for at, weak in enumerate([0.8, 0.1, 0.05, 0.1, 0.3]) for reading in show([0.8, weak, 0.7, 0.9], float(at), power)]
    verdicts = supernoded_judge(rule, readings)
    assert levels(verdicts) == [Level.CLEAR, Level.CLEAR, Level.RAISED, Level.RAISED, Level.CLEAR]  # 0.1 alone is a near miss
    assert "lane 1 receives 0.05 mW, the next lane 0.7 mW; less than 1/10 of it is imbalance" in verdicts[2].text
    assert levels(supernoded_judge(rule, show([0.0, 0.0], 0.0, power))) == [Level.CLEAR]


def test_fewer_lanes_than_before(supernoded_judge: Judge, rule: LanesRule, read: Read) -> None:
    widths = [read(PORT, "link.width", width, 5.0 * n) for n, width in enumerate([4.0, 4.0, 2.0, 4.0])]
    verdicts = supernoded_judge(rule, widths)
    assert levels(verdicts) == [Level.CLEAR, Level.CLEAR, Level.RAISED, Level.CLEAR]
    assert verdicts[2].text == f"{PORT}: it runs on 2 lanes, it had 4"
    assert levels(supernoded_judge(rule, [read(PORT, "link.width", 2.0)])) == [Level.CLEAR]  # two of two, for all that is known


def test_fewer_lanes_than_declared(supernoded_judge: Judge, make_ports: Callable[..., Ports], read: Read) -> None:
    settings = LinkBerSettings(expected_lanes={"n0/nic/*": 4})
    rule = LanesRule(make_ports(settings=settings), settings)
    (verdict,) = supernoded_judge(rule, [read(PORT, "link.width", 2.0)])
    assert (verdict.level, verdict.text) == (Level.RAISED, f"{PORT}: it runs on 2 of the 4 lanes that are declared")


def test_a_link_that_is_down_has_no_lanes_to_compare(supernoded_judge: Judge, rule: LanesRule, show: Show, read: Read) -> None:
    (verdict,) = supernoded_judge(rule, [read(PORT, "link.state", 0.0), *show([0.8, 0.001], 0.0, "link.rx_power")])
    assert (verdict.level, verdict.unseen) == (Level.UNSURE, ("link.state",))


@pytest.mark.parametrize(("name", "format_"), [("mlxlink_show_counters_a100_hdr.txt", "mlxlink"), ("ethtool_S_mlx5_fec.txt", "ethtool")])
def test_recordings(supernoded_judge: Judge, rule: LanesRule, recordings: Path, name: str, format_: str) -> None:
    """The first is healthy. In the second nearly all is on one lane, and symbol errors are left."""
    read = supernoded_formats()[format_]
    said = supernoded_judge(rule, read(Source(name=name, data=(recordings / "ib" / name).read_bytes(), at=0.0)))
    assert said
    assert {verdict.level for verdict in said} == {Level.RAISED if format_ == "ethtool" else Level.CLEAR}
