"""A node and readings for the tests of this folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

import supernoded_network
from supernoded.limits import Limits
from supernoded.model import Reading, State, Value, Verdict
from supernoded.plugin import Node, Rule
from supernoded.quantities import VOCABULARY
from supernoded.testing import ManualClock, MemoryHost, MemoryWires, judge
from supernoded.topology import Topology
from supernoded_network.settings import NetworkSettings

SITE = {
    "nodes": [{"name": "n0", "cards": 2}],
    "rings": [{"name": "r", "level": "backplane", "order": ["n0/card0", "n0/card1"]}],
    "cables": [{"a": "n0/card0/port0", "b": "n0/card1/port1"}, {"a": "n0/card1/port0", "b": "n0/card0/port1"}],
    "switches": [{"name": "s0"}],
}
PORTS = tuple(f"n0/card{card}/port{port}" for card in (0, 1) for port in (0, 1))


def make_node(folder: Path) -> Node:
    wires, clock, host = MemoryWires(), ManualClock(), MemoryHost()
    return Node(name="n0", topology=msgspec.convert(SITE, Topology), limits=Limits(), wires=wires, clock=clock, host=host, state=folder)


def find_rule(folder: Path, kind: str, settings: NetworkSettings | None = None) -> Rule[Any]:
    rules = supernoded_network.supernoded_rules(settings or NetworkSettings(), make_node(folder))
    (rule,) = [rule for rule in rules if rule.kind == kind]
    return rule


def read(subject: str, quantity: str, value: Value, at: float = 1.0, note: str = "", source: str = "s") -> Reading:
    state = State.GOOD if value is not None else State.UNKNOWN
    unit = VOCABULARY[quantity].unit
    return Reading(subject=subject, quantity=quantity, value=value, unit=unit, at=at, state=state, note=note, source=source)


def count(subject: str, quantity: str, *totals: float, every: float = 5.0, source: str = "s") -> list[Reading]:
    """A counter's totals, one each so many seconds."""
    return [read(subject, quantity, total, at=every * number, source=source) for number, total in enumerate(totals)]


def ask(folder: Path, kind: str, readings: Sequence[Reading], settings: NetworkSettings | None = None) -> Verdict:
    return judge(find_rule(folder, kind, settings), readings)[-1]
