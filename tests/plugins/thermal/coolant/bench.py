"""A loop of four nodes, and readings of it, for the tests of this folder and of the remedies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from supernoded.history import History
from supernoded.limits import Limits
from supernoded.model import Level, Reading, State, Value, Verdict
from supernoded.plugin import Node
from supernoded.quantities import VOCABULARY
from supernoded.testing import ManualClock, MemoryHost, MemoryWires
from supernoded.topology import Topology
from supernoded_thermal.coolant import make_rules
from supernoded_thermal.coolant.rule import LoopRule
from supernoded_thermal.settings import ThermalSettings

START = 1_000_000.0  # of the clock of these tests
CDU = "cdu/0"
NAMES = ("n0", "n1", "n2", "n3")
SITE: dict[str, Any] = {
    "nodes": [{"name": name, "cards": 2, "feeds": ["A", "B"], "loop": "cdu0"} for name in NAMES],
    "loops": [{"name": "cdu0"}],
    "pdus": [
        {
            "name": f"{feed}1",
            "feed": feed,
            "outlets": [
                *({"number": number, "load": name} for number, name in enumerate(NAMES, 1)),
                {"number": 5, "load": "n1/fan*", "sheddable": True},
                {"number": 6, "load": "cdu/0"},
            ],
        }
        for feed in "AB"
    ],
}
# A loop that is well.
WELL: Mapping[str, Mapping[str, Value]] = {
    CDU: {
        "coolant.supply_temperature": 22.0,
        "coolant.supply_temperature.2": 22.05,
        "coolant.return_temperature": 27.0,
        "coolant.setpoint": 22.0,
        "coolant.flow": 30.0,
        "coolant.pressure_difference": 100.0,
        "coolant.valve": 50.0,
        "coolant.valve_command": 50.0,
        "coolant.primary_temperature": 16.0,
        "coolant.primary_pressure": 150.0,
        "coolant.level": 80.0,
        "coolant.leak": 0.0,
        "coolant.leak_sticky": 0.0,
        "coolant.control": "setpoint",
        "coolant.setpoint_asked": 22.0,
        "coolant.fallback": 22.0,
        "air.dew_point": 12.0,
    },
    **{f"cdu/0/pump{n}": {"pump.speed": 60.0, "pump.rpm": 1800.0, "pump.state": "running", "pump.command": 60.0} for n in (0, 1)},
    "cdu/0/pump2": {"pump.speed": 0.0, "pump.state": "off", "pump.command": 0.0},
    **{name: {"coolant.leak": 0.0, "coolant.leak_sticky": 0.0, "coolant.branch": 1.0} for name in NAMES},
    **{f"{name}/card{n}": {"card.power": 1300.0, "card.temperature": 55.0} for name in NAMES for n in (0, 1)},
}


def make_site(**changes: Any) -> Topology:
    return msgspec.convert({**SITE, **changes}, Topology)


def make_node(site: Topology | None = None, maintenance: tuple[str, ...] = (), name: str = "n0") -> Node:
    return Node(
        name=name,
        topology=site or make_site(),
        limits=Limits(),
        wires=MemoryWires(),
        clock=ManualClock(),
        host=MemoryHost(),
        state=Path(),
        maintenance=maintenance,
    )


def find_rule(kind: str, settings: ThermalSettings | None = None, maintenance: tuple[str, ...] = ()) -> LoopRule:
    (rule,) = [one for one in make_rules(settings or ThermalSettings(), make_node(maintenance=maintenance)) if one.kind == kind]
    return rule


def read(subject: str, quantity: str, value: Value | set[str], at: float = 0.0, source: str = "s", note: str = "") -> Reading:
    """One reading, `at` seconds after the start; None is UNKNOWN."""
    state = State.GOOD if value is not None else State.UNKNOWN
    whole = frozenset(value) if isinstance(value, set) else float(value) if isinstance(value, int) else value
    unit = VOCABULARY[quantity].unit
    return Reading(subject=subject, quantity=quantity, value=whole, unit=unit, at=START + at, state=state, note=note, source=source)


Change = Value | set[str]


def see_all(at: float, changes: Mapping[tuple[str, str], Change] | None = None) -> list[Reading]:
    """The well loop at one moment, with changes by subject and quantity; a change to `...`-like None is UNKNOWN."""
    whole: dict[tuple[str, str], Change] = {(subject, name): value for subject, all_ in WELL.items() for name, value in all_.items()}
    whole.update(changes or {})
    return [read(subject, name, value, at) for (subject, name), value in whole.items()]


class Bench:
    """A rule with what it has seen and what it remembers, which every look takes through JSON as a restart would."""

    def __init__(
        self, kind: str, settings: ThermalSettings | None = None, *, fresh_for: float = 5.0, maintenance: tuple[str, ...] = ()
    ) -> None:
        self.rule = find_rule(kind, settings, maintenance)
        self.history, self.memory, self.at = History(self.rule.watches), self.rule.start(), 0.0
        self._fresh_for = fresh_for

    def see(self, readings: Iterable[Reading]) -> None:
        self.history.add([one for one in readings if one.quantity in self.rule.watches], self._fresh_for)

    def ask(self) -> dict[str, Verdict]:
        self.memory = msgspec.json.decode(msgspec.json.encode(self.memory), type=type(self.memory))
        self.memory, verdicts = self.rule.judge(self.history.view(START + self.at, self.rule.watches), self.memory)
        return {verdict.subject: verdict for verdict in verdicts}

    def run(
        self, seconds: float, changes: Mapping[tuple[str, str], Change] | None = None, *, without: Iterable[tuple[str, str]] = ()
    ) -> dict[str, Verdict]:
        """The loop with these changes for a while, a look a second; the last verdict on each subject."""
        gone, end, said = set(without), self.at + seconds, dict[str, Verdict]()
        while self.at < end:
            self.at += 1.0
            self.see(one for one in see_all(self.at, changes) if (one.subject, one.quantity) not in gone)
            said |= self.ask()
        return said


def levels(said: Mapping[str, Verdict]) -> dict[str, Level]:
    return {subject: verdict.level for subject, verdict in said.items()}
