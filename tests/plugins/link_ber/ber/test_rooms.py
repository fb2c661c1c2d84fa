"""What the room hands in, and what it says of recordings of healthy links."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from supernoded.history import History
from supernoded.limits import Limits
from supernoded.parts import Format, Source
from supernoded.plugin import Level, Node, Rule
from supernoded.testing import ManualClock, MemoryHost, MemoryWires
from supernoded.topology import Topology
from supernoded_fabric import supernoded_formats
from supernoded_link_ber import ber
from supernoded_link_ber.settings import LinkBerSettings
from tests.plugins.link_ber.ber.lives import make_gallery

SYSFS = (
    b"mlx5_0/ports/1/state\t4: ACTIVE\nmlx5_0/ports/1/rate\t200 Gb/sec (4X HDR)\n"
    b"mlx5_0/ports/1/counters/symbol_error\t9\nmlx5_0/ports/1/counters/link_downed\t255\n"
)


@pytest.fixture
def rules(tmp_path: Path) -> list[Rule[Any]]:
    wires, clock, host = MemoryWires(), ManualClock(), MemoryHost()
    node = Node(name="n0", topology=Topology(nodes=()), limits=Limits(), wires=wires, clock=clock, host=host, state=tmp_path)
    return ber.make_rules(LinkBerSettings(), node, make_gallery())


def test_the_kinds(rules: list[Rule[Any]]) -> None:
    assert [rule.kind for rule in rules] == ["link.ber", "link.overruled", "link.trend", "link.fec", "link.saturated"]
    assert {rule.scope for rule in rules} == {"node"}


def judge(rules: list[Rule[Any]], read: Format, name: str, data: bytes) -> set[tuple[str, Level]]:
    """The same recording again and again, as a link at rest is read."""
    said = set()
    for rule in rules:
        history, memory = History(rule.watches), rule.start()
        for at in (0.0, 5.0, 10.0, 600.0):
            history.add(read(Source(name=name, data=data, at=at)), 15.0)
            memory, verdicts = rule.judge(history.view(at, rule.watches), memory)
            said |= {(rule.kind, verdict.level) for verdict in verdicts}
    return said


def test_first_sight_of_totals_is_no_news(rules: list[Rule[Any]]) -> None:
    said = judge(rules, supernoded_formats()["sysfs-infiniband"], "own", SYSFS)
    assert ("link.ber", Level.CLEAR) in said
    assert Level.RAISED not in {level for _, level in said}


@pytest.mark.parametrize(
    ("format_", "name"),
    [
        ("sysfs-infiniband", "gpud_h100_sysfs_flat.tsv"),  # great totals at first sight
        ("sysfs-infiniband", "gpud_pr943_saturated_counters.txt"),  # at their ceilings
        ("sysfs-infiniband", "sysfs_bad_values.txt"),  # N/A and unreadable
        ("mlxlink", "mlxlink_show_counters_a100_hdr.txt"),  # 1e-7 before correction, none after it
        ("ethtool", "ethtool_S_mlx5_fec.txt"),  # bits corrected by the million
    ],
)
def test_healthy_recordings_raise_nothing(rules: list[Rule[Any]], recordings: Path, format_: str, name: str) -> None:
    said = judge(rules, supernoded_formats()[format_], name, (recordings / "ib" / name).read_bytes())
    assert said
    assert Level.RAISED not in {level for _, level in said}


def test_a_saturated_recording_is_never_called_free_of_errors(rules: list[Rule[Any]], recordings: Path) -> None:
    data = (recordings / "ib" / "gpud_pr943_saturated_counters.txt").read_bytes()
    said = judge(rules, supernoded_formats()["sysfs-infiniband"], "saturated", data)
    assert ("link.saturated", Level.UNSURE) in said
    assert ("link.saturated", Level.CLEAR) not in said
