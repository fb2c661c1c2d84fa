"""For authors of plugins, loaded by pytest itself: a clock turned by hand, a node in memory, a judge for rules, scenarios as tests.

Nothing of the daemon imports this package, so pytest is not needed to run it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from supernoded.history import History
from supernoded.limits import Limits
from supernoded.model import Reading, Verdict
from supernoded.parts import Rule
from supernoded.sampling import Scale
from supernoded.testing.clock import ManualClock
from supernoded.testing.collecting import ScenarioFile, collect_scenario
from supernoded.testing.memory import MemoryCommand, MemoryHost, MemoryHttp, MemoryStream, MemoryTree, MemoryWires
from supernoded.testing.memory_lines import MemoryDatagrams, MemoryLine
from supernoded.testing.trial import PlayDaemon, Trial, find_player
from supernoded.topology import Topology
from supernoded.wire import Node
from supernoded.wire.ports import Answer, Disk, Running

__all__ = [
    "Answer",
    "Disk",
    "Judge",
    "ManualClock",
    "MemoryCommand",
    "MemoryDatagrams",
    "MemoryHost",
    "MemoryHttp",
    "MemoryLine",
    "MemoryStream",
    "MemoryTree",
    "MemoryWires",
    "PlayDaemon",
    "Running",
    "Trial",
]

FRESH = 60.0  # seconds for which the judge counts a reading as fresh

Judge = Callable[[Rule[Any], Iterable[Reading]], list[Verdict]]


def judge(rule: Rule[Any], readings: Iterable[Reading]) -> list[Verdict]:
    """Every verdict the rule gives, in order, asked once after the readings of each moment, which are weighed as the daemon weighs them."""
    scale, history, memory = Scale(), History(rule.watches), rule.start()
    verdicts: list[Verdict] = []
    for at, together in groupby(sorted(readings, key=lambda reading: reading.at), key=lambda reading: reading.at):
        history.add(scale.weigh(together), FRESH)
        memory, given = rule.judge(history.view(at, rule.watches), memory)
        verdicts.extend(given)
    return verdicts


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ScenarioFile | None:
    """Scenario files are tests."""
    return collect_scenario(file_path, parent)


@pytest.fixture
def supernoded_clock() -> ManualClock:
    """A clock that stands still until it is advanced."""
    return ManualClock()


@pytest.fixture
def supernoded_wires() -> MemoryWires:
    """The wires of `supernoded_node`."""
    return MemoryWires()


@pytest.fixture
def supernoded_host() -> MemoryHost:
    """The machine of `supernoded_node`."""
    return MemoryHost()


@pytest.fixture
def supernoded_node(supernoded_clock: ManualClock, supernoded_wires: MemoryWires, supernoded_host: MemoryHost, tmp_path: Path) -> Node:
    """The node `n0` with eight cards, in memory, with default limits and a folder for its state."""
    return Node(
        name="n0",
        topology=Topology.empty("n0", cards=8),
        limits=Limits(),
        wires=supernoded_wires,
        clock=supernoded_clock,
        host=supernoded_host,
        state=tmp_path,
    )


@pytest.fixture
def supernoded_judge() -> Judge:
    """Feeds readings to a rule and returns its verdicts."""
    return judge


@pytest.fixture
def supernoded_daemon(tmp_path: Path) -> PlayDaemon:
    """Plays a whole daemon with your plugin in virtual time, on a simulated network, with a journal and a broker of its own."""
    return find_player(tmp_path)
