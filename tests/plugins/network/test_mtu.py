"""The MTU along a path."""

from __future__ import annotations

from pathlib import Path

import pytest

from supernoded.model import Level
from supernoded.testing import judge
from supernoded_network.settings import NetworkSettings
from tests.plugins.network.readings import ask, find_rule, read

A, B = "n0/card0/port0", "n0/card1/port1"


@pytest.mark.parametrize(("mtu", "level"), [(9000.0, Level.CLEAR), (1500.0, Level.RAISED), (8999.0, Level.RAISED), (None, Level.UNSURE)])
def test_the_declared_mtu(tmp_path: Path, mtu: float | None, level: Level) -> None:
    verdict = ask(tmp_path, "link.mtu", [read(A, "link.mtu", mtu, note="gone")])
    assert (verdict.subject, verdict.level) == (A, level)
    assert verdict.level is not Level.UNSURE or verdict.unseen == ("link.mtu: gone",)


def test_both_ends_of_a_cable(tmp_path: Path) -> None:
    verdicts = judge(find_rule(tmp_path, "link.mtu"), [read(A, "link.mtu", 9000.0), read(B, "link.mtu", 1500.0)])
    assert [verdict.text for verdict in verdicts] == [
        "n0/card0/port0 has an MTU of 9000 B, the other end of its cable, n0/card1/port1, has 1500 B",
        "n0/card1/port1 has an MTU of 1500 B, declared are 9000 B",
    ]


def test_other_interfaces_have_their_own(tmp_path: Path) -> None:
    readings = [read("n0/nic/eth0", "link.mtu", 1500.0)]
    assert judge(find_rule(tmp_path, "link.mtu"), readings) == []
    assert ask(tmp_path, "link.mtu", readings, NetworkSettings(roce=("n0/nic/eth*",))).level is Level.RAISED
