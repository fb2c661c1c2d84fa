"""A simulated loop of four nodes under its own controller, and all rules over what its sensors show once a second."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sim_hardware.plant import cooling
from sim_hardware.plant.cooling import Inputs
from sim_hardware.plant.words import Order
from sim_hardware.rack import generate_rack
from supernoded.history import History
from supernoded.model import Level, Reading, Verdict
from supernoded.parts import Rule
from supernoded.quantities import VOCABULARY
from supernoded_thermal.coolant import make_rules
from supernoded_thermal.settings import ThermalSettings
from tests.plugins.thermal.coolant.bench import CDU, NAMES, START, WELL, make_node, make_site, read

SLOTS = 8
STEPS = {"C": 0.05, "L/min": 0.1, "%": 0.1, "kPa": 0.1, "rpm": 1.0}  # of its registers
ALONE = "coolant.fallback"  # which is no sensor
Spoil = Callable[[Reading], Reading]


class Hall:
    """The plant, its readings, and what the rules say of them."""

    def __init__(self, settings: ThermalSettings | None = None, watts: float = 500.0, dew: float = 12.0) -> None:
        self.rack = generate_rack(len(NAMES), SLOTS)
        self.state = cooling.start(self.rack, 1)
        self.watts = watts
        self.spoil: Spoil = lambda reading: reading
        site = make_site(nodes=[{"name": name, "cards": SLOTS, "loop": "cdu0"} for name in NAMES], pdus=[])
        self.rules: Sequence[Rule[Any]] = make_rules(settings or ThermalSettings(), make_node(site))
        windows: dict[str, float] = {}
        for rule in self.rules:
            windows |= {name: max(window, windows.get(name, 0.0)) for name, window in rule.watches.items()}
        self.history, self.memories = History(windows), {rule.kind: rule.start() for rule in self.rules}
        self.raised: dict[tuple[str, str], Verdict] = {}  # whatever was, and what was said first
        self.now_raised: set[tuple[str, str]] = set()
        self.last: dict[tuple[str, str], Verdict] = {}

    def order(self, *orders: Order) -> None:
        for order in orders:
            self.state = cooling.apply(self.state, order)

    def run(self, seconds: float) -> set[tuple[str, str]]:
        """So long; what is raised at the end."""
        until = self.state.at + seconds
        count = len(NAMES) * SLOTS
        while self.state.at < until:
            end = self.state.at + 1.0
            inputs = Inputs((self.watts,) * count, (600.0,) * len(NAMES), frozenset())
            while self.state.at < end:
                self.state = cooling.update(self.state, min(end, max(self.state.at, self.state.next_time)), inputs)
            self._take()
            self._judge()
        return self.now_raised

    def sense(self, quantity: str) -> float:
        value = cooling.sense(self.state, CDU, quantity)
        assert isinstance(value, float)
        return value

    def _take(self) -> None:
        found = [
            self._read(subject, quantity)
            for subject in (CDU, *(f"{CDU}/pump{n}" for n in range(2)))
            for quantity in WELL[subject]
            if quantity != ALONE
        ]
        found += [self._read(name, quantity) for name in NAMES for quantity in ("coolant.leak", "coolant.leak_sticky")]
        found += [
            read(one, "coolant.branch", 0.0 if cooling.sense(self.state, one, "coolant.closed") else 1.0, self._at()) for one in NAMES
        ]
        if self.state.at % 5.0 == 0.0:
            found += [read(f"{name}/card{slot}", "card.power", self.watts, self._at()) for name in NAMES for slot in range(SLOTS)]
        self.history.add([self.spoil(one) for one in found], 8.0)

    def _read(self, subject: str, quantity: str) -> Reading:
        value = cooling.sense(self.state, subject, quantity)
        step = STEPS.get(VOCABULARY[quantity].unit)
        return read(subject, quantity, round(round(value / step) * step, 4) if isinstance(value, float) and step else value, self._at())

    def _at(self) -> float:
        return self.state.at

    def _judge(self) -> None:
        now = START + self.state.at
        for rule in self.rules:
            self.memories[rule.kind], verdicts = rule.judge(self.history.view(now, rule.watches), self.memories[rule.kind])
            for verdict in verdicts:
                key = verdict.kind, verdict.subject
                self.last[key] = verdict
                if verdict.level is Level.RAISED:
                    self.raised.setdefault(key, verdict)
                    self.now_raised.add(key)
                elif verdict.level is Level.CLEAR:
                    self.now_raised.discard(key)
