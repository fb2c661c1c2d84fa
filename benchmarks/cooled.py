"""A cooling plant on the bench: stepped by hand, and read through its gauges alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from sim_hardware.plant import cooling
from sim_hardware.plant.cooling import Design, Inputs, State, list_designs, load_design
from sim_hardware.plant.cooling.design import read_design
from sim_hardware.plant.cooling.orders import Beat, SetControl, SetValve, SetWatchdog
from sim_hardware.rack import generate_rack
from supernoded.plugin import Reading
from supernoded.plugin import State as Worth

NODES, CARDS = 4, 2
RATED_MW = 1.6  # what a loop's nodes draw at full load; the plant is scaled to them, and times do not change by that
HALF = 0.5  # s between two looks at the plant
GAUGES = {
    "coolant.supply_temperature": "C",
    "coolant.return_temperature": "C",
    "coolant.primary_temperature": "C",
    "coolant.flow": "L/min",
    "coolant.valve": "%",
    "air.dew_point": "C",
}
LOOP = "cdu/0"
SETPOINT = 22.0  # C (T5)


def find_design(name: str) -> tuple[str, Design]:
    """A plant by name or file, and what it is called."""
    if name in list_designs():
        return name, load_design(name)
    path = Path(name)
    return path.stem, read_design(path.read_bytes(), path.stem)


@dataclass(frozen=True)
class Telling:
    """How the plant is told of: gauges and power meters as they are."""

    poll_s: float = 1.0
    step_kelvin: float = 0.1
    power_factor: float = 1.0
    meter_lag_s: float = 0.0  # first-order


@dataclass
class Plant:
    """One loop under `direct`, from a balance at a first load."""

    design: Design
    telling: Telling
    megawatts: float = 0.8
    blind: bool = False  # the supply's gauge cannot be read
    state: State = field(init=False)
    metered: float = field(init=False)

    def __post_init__(self) -> None:
        self.state = cooling.start(generate_rack(NODES, CARDS), 1, lambda _: self.design)
        self.metered = self.megawatts

    def take_over(self) -> float:
        """Let it find its balance, then take the valve; where it stands, %."""
        self.pass_half()
        for order in (SetWatchdog(LOOP, 600.0), SetControl(LOOP, "direct")):
            self.state = cooling.apply(self.state, order)
        return self.sense("coolant.valve")

    def _inputs(self) -> Inputs:
        rated = self.rated_watts
        watts = rated * self.megawatts / RATED_MW / (NODES * CARDS)
        return Inputs((watts,) * (NODES * CARDS), (0.0,) * NODES)

    @property
    def rated_watts(self) -> float:
        """Full load of the scaled plant."""
        return self.state.site.loops[0].design.watts * 0.8

    def pass_half(self) -> None:
        """Half a second on."""
        self.state = cooling.update(self.state, self.state.at + HALF, self._inputs())
        lag = self.telling.meter_lag_s
        self.metered += (self.megawatts - self.metered) * (1.0 - math.exp(-HALF / lag) if lag else 1.0)

    def sense(self, quantity: str) -> float:
        """The truth."""
        value = cooling.sense(self.state, LOOP, quantity)
        assert isinstance(value, float)
        return value

    def poll(self) -> list[Reading]:
        """What gauges and meters say now."""
        at, step = self.state.at, self.telling.step_kelvin
        found = []
        for quantity, unit in GAUGES.items():
            value = self.sense(quantity)
            if unit == "C" and step:
                value = round(value / step) * step
            lost = self.blind and quantity == "coolant.supply_temperature"
            worth = Worth.UNKNOWN if lost else Worth.GOOD
            shown = None if lost else value
            found.append(Reading(subject=LOOP, quantity=quantity, value=shown, unit=unit, at=at, state=worth, source="bench"))
        watts = self.rated_watts * self.metered / RATED_MW * self.telling.power_factor / (NODES * CARDS)
        return found + [
            Reading(subject=f"n{node}/card{card}", quantity="card.power", value=watts, unit="W", at=at, source="bench")
            for node in range(NODES)
            for card in range(CARDS)
        ]

    def put(self, percent: float) -> None:
        """Turn the valve."""
        for order in (SetValve(LOOP, percent), Beat(LOOP)):
            self.state = cooling.apply(self.state, order)
