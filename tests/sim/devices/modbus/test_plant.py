"""The maps over the real plant: every sensor they name is there, and what is written is done."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from sim_hardware.devices.modbus import Unit, build_site, load_map
from sim_hardware.devices.modbus.maps import list_maps
from sim_hardware.plant import cooling, power
from sim_hardware.plant.cooling.orders import SetPressure
from sim_hardware.plant.words import Order, Sensor, Value
from sim_hardware.rack import Rack, generate_rack
from tests.sim.devices.modbus.samples import make_map, read, read_bits, read_f32, refused, switch, write
from tests.sim.devices.panels import FakePanel

RACK = generate_rack(1, 8)
SUBJECTS = {"pdu": "pdu/A1", "ups": "ups/A"}


class PartPanel:
    """One part of the plant behind a panel."""

    def __init__(self, part: Any, inputs: Any) -> None:
        self.rack: Rack = RACK
        self._part, self._inputs, self._state = part, inputs, part.start(RACK, 1)

    def now(self) -> float:
        at: float = self._state.at
        return at

    def sense(self, subject: str, quantity: str) -> Value:
        value: Value = self._part.sense(self._state, subject, quantity)
        return value

    def order(self, order: Order) -> None:
        self._state = self._part.apply(self._state, order)

    def run(self, seconds: float) -> None:
        """On a grid of 0.5 s, and at every event."""
        end = self.now() + seconds
        while self.now() < end:
            self._state = self._part.update(self._state, min(end, self.now() + 0.5, self._state.next_time), self._inputs)


def power_panel() -> PartPanel:
    return PartPanel(power, power.Inputs(loads={"n0": 5400.0, "n0/fan*": 1200.0, "cdu/0": 4000.0, "switch/s1": 600.0}))


def cooling_panel() -> PartPanel:
    return PartPanel(cooling, cooling.Inputs(card_watts=(600.0,) * 8, other_watts=(600.0,)))


@pytest.mark.parametrize("name", list_maps())
def test_every_sensor_of_a_map_is_there(name: str) -> None:
    """But for the pumps beyond those that a CDU has."""
    lists: tuple[Callable[[Any], Iterable[Sensor]], ...] = (power.sensors, cooling.sensors)
    states: tuple[Any, ...] = (power.start(RACK, 1), cooling.start(RACK, 1))
    there = {(sensor.subject, sensor.quantity) for told, state in zip(lists, states, strict=True) for sensor in told(state)}
    layout = Unit(FakePanel(rack=RACK), load_map(name), SUBJECTS.get(name, "cdu/0")).layout
    fields = {(field.subject, field.spec.quantity) for field in layout.fields.values()}
    points = {(point.subject, point.spec.quantity) for point in layout.points.values()}
    asked = {(subject, quantity) for subject, quantity in fields | points if quantity and not quantity.startswith("device.")}
    missing = asked - there
    assert {subject for subject, _ in missing} <= {"cdu/0/pump2", "cdu/0/pump3"}
    assert len(asked & there) >= 9


def test_the_pdu_is_armed_fired_by_broadcast_and_tells_what_it_did() -> None:
    panel = power_panel()
    unit = Unit(panel, load_map("pdu"), "pdu/A1")
    fans = next(outlet.number for outlet in RACK.pdus[0].outlets if outlet.load == "n0/fan*")
    bitmap = 1 << (fans - 1)
    panel.run(2.0)
    assert write(unit, 500, 0, 0, 0, bitmap, 12, 120, 0xA55A) == b"\x10\x01\xf4\x00\x07"
    panel.run(0.5)
    assert read(unit, 520, 5) == (1, 0, 0, 0, bitmap)
    assert switch(unit, 1000, True, station=0) is None
    panel.run(0.5)
    assert read_bits(unit, fans - 1, 1) == [False]
    words = read(unit, 540, 12)
    assert words[0] == 2
    count, at, opened = struct.unpack(">IQQ", struct.pack(">10H", *words[1:11]))
    assert count >= 1
    assert 2500 <= at <= 2600
    assert opened == bitmap
    panel.run(3.0)
    assert read_bits(unit, fans - 1, 1) == [True]  # by its own timer


def test_a_group_that_the_pdu_refuses_is_a_failure_of_the_device() -> None:
    unit = Unit(power_panel(), load_map("pdu"), "pdu/A1")
    assert write(unit, 500, 0x1000, 0, 0, 0, 12, 120, 0xA55A) == refused(4, 16)


def test_an_outlet_is_switched_and_its_power_goes() -> None:
    panel = power_panel()
    unit = Unit(panel, load_map("pdu"), "pdu/A1")
    panel.run(2.0)
    assert read(unit, 100, 2)[1] > 0
    assert switch(unit, 0, False) == b"\x05\x00\x00\x00\x00"
    panel.run(1.0)
    assert read_bits(unit, 0, 1) == [False]
    assert read(unit, 100, 2) == (0, 0)


def test_the_cdu_takes_a_setpoint_and_refuses_a_valve_that_is_its_own() -> None:
    panel = cooling_panel()
    unit = Unit(panel, load_map("dcd"), "cdu/0")
    panel.run(2.0)
    assert write(unit, 0, 1) is not None
    assert write(unit, 10, 0x0000, 0x41C0) is not None  # 24 C
    panel.run(2.0)
    assert read_f32(unit, 10, 3) == 24.0
    assert read(unit, 0) == (1,)
    assert write(unit, 12, 0x0000, 0x4248) == refused(4, 16)  # only under direct control
    assert write(unit, 0, 2) is not None
    assert write(unit, 1, 1) is not None
    assert write(unit, 12, 0x0000, 0x4248) is not None
    panel.run(1.0)
    assert read_f32(unit, 12, 3) == 50.0


def test_a_write_that_the_plant_refuses_leaves_what_is_shown() -> None:
    panel = cooling_panel()
    action = '{order = "SetTemperature", value = "celsius", set = {cdu = "cdu/0"}}'
    unit = Unit(panel, make_map(f'registers = [{{name = "a", address = 10, keep = true, write = [{action}]}}]'), "cdu/0")
    assert write(unit, 10, 30) is not None
    assert write(unit, 10, 90) == refused(4)
    assert read(unit, 10) == (30,)


@pytest.mark.parametrize(("name", "address"), [("dcd", 14), ("rpu", 38024)])
def test_the_pressure_that_is_asked_is_the_plants_whoever_asked_for_it(name: str, address: int) -> None:
    panel = cooling_panel()
    unit = Unit(panel, load_map(name), "cdu/0")

    def show() -> float:
        return read_f32(unit, address, 3) if name == "dcd" else read(unit, address)[0] / 10.0

    assert show() == 100.0
    panel.order(SetPressure("cdu/0", 80.0))
    assert show() == 80.0


def test_a_watchdog_that_hears_nothing_takes_control_back() -> None:
    panel = cooling_panel()
    unit = Unit(panel, load_map("rpu"), "cdu/0")
    assert write(unit, 38021, 10) is not None
    assert write(unit, 37904, 1) is not None
    for beat in range(20):
        assert write(unit, 38020, beat) is not None
        panel.run(1.0)
    assert read(unit, 37904) == (1,)
    panel.run(11.0)
    assert read(unit, 37904) == (2,)


def test_each_device_of_the_rack_says_who_it_is() -> None:
    for panel, names in ((power_panel(), ("pdu/A1", "ups/A/modbus")), (cooling_panel(), ("cdu/0", "cdu/0/rtu"))):
        devices = {device.name: device for device in build_site(panel, "/dev/sim", 1).devices}
        for name in names:
            serial = devices[name].unit.identify()[0x80]
            assert serial
            assert len(serial) <= 16
