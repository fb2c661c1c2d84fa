"""A UPS in good order, as its panel shows it."""

from __future__ import annotations

from sim_hardware.devices.nut import NutServer
from sim_hardware.plant.words import Value
from tests.sim.devices.panels import FakePanel

GOOD: dict[str, Value] = {
    "ups.battery_temperature": 24.5,
    "ups.battery_voltage": 273.6,
    "ups.charge": 100.0,
    "ups.firmware": "1.2",
    "ups.input_frequency": 50.0,
    "ups.input_voltage": 229.94,
    "ups.input_voltage.L1": 229.94,
    "ups.input_voltage.L2": 231.0,
    "ups.input_voltage.L3": 230.0,
    "ups.load": 37.4,
    "ups.load.L1": 40.0,
    "ups.load.L2": 36.0,
    "ups.load.L3": 36.2,
    "ups.mode": "normal",
    "ups.model": 'Model "X" \\ 3',
    "ups.output_current": 12.345,
    "ups.output_power": 7300.0,
    "ups.output_va": 8100.0,
    "ups.output_voltage": 230.0,
    "ups.rated_va": 20000.0,
    "ups.rated_power": 18000.0,
    "ups.runtime": 1234.4,
    "ups.serial": "TEST-1",
    "ups.status": frozenset({"OL", "CHRG"}),
    "ups.test_result": "none",
}


def panel(**changed: Value) -> FakePanel:
    """`charge=50.0` changes `ups.charge`."""
    values = GOOD | {f"ups.{name}": value for name, value in changed.items()}
    return FakePanel(values={("ups/A", quantity): value for quantity, value in values.items()})


def server(**changed: Value) -> tuple[NutServer, FakePanel]:
    plant = panel(**changed)
    return NutServer(plant, "A"), plant
