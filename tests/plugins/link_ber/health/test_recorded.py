"""What other people's recordings lead to, by way of the plugin that reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from supernoded.parts import Source
from supernoded.plugin import Level, Node, Verdict
from supernoded.testing import Judge
from supernoded_ascend.recorded import read_hccn_tool
from supernoded_link_ber.health import make_rules
from supernoded_link_ber.health.ports import Ports
from supernoded_link_ber.settings import LinkBerSettings

Judged = Callable[[bytes], Mapping[tuple[str, str], Verdict]]
RECORDS = """\
[devid {0}]current time        : Fri May  5 16:00:00 2023
[devid {0}]link up count       : 2
[devid {0}]link change records :
[devid {0}]    Fri May  5 03:00:00 2023    LINK {1}
[devid {0}]    Fri May  5 03:00:00 2023    LINK {2}
[devid {0}]    Fri May  5 02:59:40 2023    LINK UP
"""


@pytest.fixture
def judged(supernoded_judge: Judge, supernoded_node: Node) -> Judged:
    """The last verdict of each kind and subject."""

    def make(data: bytes) -> Mapping[tuple[str, str], Verdict]:
        readings = list(read_hccn_tool(Source(name="recorded", data=data, at=1000.0)))
        rules = make_rules(LinkBerSettings(), supernoded_node, Ports(supernoded_node, LinkBerSettings()))
        return {(verdict.kind, verdict.subject): verdict for rule in rules for verdict in supernoded_judge(rule, readings)}

    return make


def raised(verdicts: Mapping[tuple[str, str], Verdict]) -> set[str]:
    return {kind for (kind, _), verdict in verdicts.items() if verdict.level is Level.RAISED}


def test_records_that_end_down_hours_ago(judged: Judged) -> None:
    """Up and down within one second, by a clock of the device's own: the newest record stands."""
    prompt = "$ hccn_tool -i {} -link_stat -g\n"
    data = prompt.format(0) + RECORDS.format(0, "DOWN", "UP") + prompt.format(1) + RECORDS.format(1, "UP", "DOWN")
    verdicts = judged(data.encode())
    down, up = verdicts["link.down", "n0/card0/port0"], verdicts["link.down", "n0/card1/port0"]
    assert (down.level, up.level) == (Level.RAISED, Level.CLEAR)
    assert raised(verdicts) == {"link.down"}  # a down of half a day ago is no flapping


def test_a_module_that_contradicts_itself(judged: Judged, recordings: Path) -> None:
    verdicts = judged((recordings / "ascend" / "npu_info_before__faults.txt").read_bytes())
    assert raised(verdicts) == {"link.optic", "link.conflict", "link.lanes", "link.fec_off"}
    optic = verdicts["link.optic", "n0/card0/port0"].text
    assert "lane 1 receives 0.0054 mW, less than the 0.1445 mW" in optic
    assert "lane 0 sends 4.404 mW, more than the 3.548 mW" in optic
    assert verdicts["link.probe", "n0/card0/port0"].level is Level.UNSURE


def test_a_node_that_is_well(judged: Judged, recordings: Path) -> None:
    assert raised(judged((recordings / "ascend" / "hccn_8npu_before.txt").read_bytes())) == set()
