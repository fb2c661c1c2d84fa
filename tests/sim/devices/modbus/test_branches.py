"""What a CDU has beside its loop's temperature: a valve for each branch, and its word on its own sensors."""

import math

import pytest

from sim_hardware.devices.modbus import Unit, load_map
from sim_hardware.plant.cooling.orders import CloseBranch
from sim_hardware.plant.words import Value
from sim_hardware.rack import generate_rack
from tests.sim.devices.modbus.samples import read, refused, write
from tests.sim.devices.panels import FakePanel

COUNTS = {"rpu": 38050, "dcd": 40, "plc": 10720}
FAULTS = {"rpu": (38034, 3), "dcd": (192, 4), "plc": (10665, 3)}
SENSORS = (
    "coolant.supply_temperature",
    "coolant.supply_temperature.2",
    "coolant.return_temperature",
    "coolant.primary_temperature",
    "coolant.flow",
    "coolant.pressure_difference",
    "coolant.level",
)


def make(name: str, values: dict[tuple[str, str], Value] | None = None) -> tuple[Unit, FakePanel]:
    well: dict[tuple[str, str], Value] = {("cdu/0", "coolant.leak"): 0.0}
    well.update({("cdu/0", quantity): 20.0 for quantity in SENSORS})
    panel = FakePanel(rack=generate_rack(3, 8), values={**well, **(values or {})})
    return Unit(panel, load_map(name), "cdu/0"), panel


@pytest.mark.parametrize("name", COUNTS)
def test_there_is_a_valve_for_each_node_of_the_loop_in_its_order(name: str) -> None:
    unit, panel = make(name, {("n0", "coolant.closed"): 0.0, ("n1", "coolant.closed"): 1.0, ("n2", "coolant.closed"): 0.0})
    at = COUNTS[name]
    assert read(unit, at, 4) == (3, 0, 1, 0)
    write(unit, at + 3, 1)
    write(unit, at + 2, 0)
    assert panel.orders == [CloseBranch(node="n2", closed=True), CloseBranch(node="n1", closed=False)]


@pytest.mark.parametrize("name", ["rpu", "dcd"])
def test_there_is_no_valve_more_and_none_half_open(name: str) -> None:
    unit, panel = make(name)
    assert write(unit, COUNTS[name] + 4, 1) == refused(2)
    assert write(unit, COUNTS[name] + 1, 2) == refused(3)
    assert write(unit, COUNTS[name], 2) == refused(2)
    assert panel.orders == []


@pytest.mark.parametrize("name", FAULTS)
def test_a_sensor_that_gives_nothing_is_flagged(name: str) -> None:
    address, function = FAULTS[name]
    assert read(make(name)[0], address, 1, function) == (0,)
    unit, _ = make(name, {("cdu/0", "coolant.supply_temperature"): math.nan, ("cdu/0", "coolant.flow"): None})
    assert read(unit, address, 1, function) == (0b10001,)


@pytest.mark.parametrize("name", FAULTS)
def test_a_cdu_may_warn_of_a_sensor_that_looks_well(name: str) -> None:
    address, function = FAULTS[name]
    unit, _ = make(name)
    unit.impairment.alarms = frozenset({"return-sensor", "leak-sensor", "of no bit"})
    assert read(unit, address, 1, function) == (0b1000_0100,)


def test_the_leak_of_the_plc_stays_and_what_is_wet_now_is_told_beside_it() -> None:
    unit, panel = make("plc", {("cdu/0", "coolant.leak"): 1.0})
    assert (read(unit, 10609), read(unit, 10666)) == ((1,), (1,))
    panel.values["cdu/0", "coolant.leak"] = 0.0
    assert (read(unit, 10609), read(unit, 10666)) == ((1,), (0,))
    write(unit, 10609, 0)
    assert read(unit, 10609) == (0,)
