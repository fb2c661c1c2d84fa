"""The PDU: outlets, arming, firing, and its record of what it did. And the UPS."""

import struct

from sim_hardware.plant.power.orders import ArmShed, CycleOutlet, DisarmShed, FireShed, LockOutlet, SetUpsMode, StartTest, SwitchOutlet
from sim_hardware.plant.words import Value
from tests.sim.devices.modbus.samples import make_unit, read, read_bits, refused, switch, write

PDU: dict[tuple[str, str], Value] = {
    ("pdu/A1", "pdu.serial"): "P-0001",
    ("pdu/A1", "pdu.armed"): 1.0,
    ("pdu/A1", "pdu.group"): frozenset({"3", "4", "17"}),
    ("pdu/A1", "pdu.restore_s"): 1.2,
    ("pdu/A1", "pdu.lease_left"): 119.5,
    ("pdu/A1", "pdu.event"): "fired",
    ("pdu/A1", "pdu.event_count"): 70000.0,
    ("pdu/A1", "pdu.event_at"): 1234.567,
    ("pdu/A1", "pdu.opened"): frozenset({"4"}),
    ("pdu/A1", "pdu.shed_delay_ms"): 2.4,
    ("pdu/A1/outlet1", "outlet.state"): "on",
    ("pdu/A1/outlet2", "outlet.state"): "off",
    ("pdu/A1/outlet1", "outlet.power"): 70000.0,
    ("pdu/A1/outlet2", "outlet.power"): 12.4,
    ("pdu/A1/outlet2", "outlet.locked"): 1.0,
}


def test_outlets_are_read_and_switched_one_by_one() -> None:
    unit, panel = make_unit("pdu", "pdu/A1", PDU)
    assert read_bits(unit, 0, 4) == [True, False, False, False]
    assert read_bits(unit, 200, 2) == [False, True]
    assert read(unit, 100, 4) == (1, 4464, 0, 12)
    assert read(unit, 17) == (4,)
    assert switch(unit, 1, True) == b"\x05\x00\x01\xff\x00"
    assert switch(unit, 200, True) is not None
    assert write(unit, 402, 1) is not None
    assert panel.orders == [
        SwitchOutlet(pdu="pdu/A1", outlet=2, on=True),
        LockOutlet(pdu="pdu/A1", outlet=1, locked=True),
        CycleOutlet(pdu="pdu/A1", outlet=3),
    ]
    assert switch(unit, 4, True) == refused(2, 5)  # there are four


def test_several_outlets_in_one_write() -> None:
    unit, panel = make_unit("pdu", "pdu/A1", PDU)
    assert unit.answer(1, b"\x0f\x00\x00\x00\x02\x01\x02") == b"\x0f\x00\x00\x00\x02"
    assert panel.orders == [SwitchOutlet(pdu="pdu/A1", outlet=1, on=False), SwitchOutlet(pdu="pdu/A1", outlet=2, on=True)]


def test_arming_takes_group_restore_time_and_lease_from_the_registers_before_it() -> None:
    unit, panel = make_unit("pdu", "pdu/A1", PDU)
    assert write(unit, 500, 0, 0, 0, 0b1100, 12, 120) == b"\x10\x01\xf4\x00\x06"
    assert panel.orders == []
    assert write(unit, 506, 0x1234) == refused(3)
    assert write(unit, 506, 0xA55A) is not None
    assert write(unit, 506, 0x5AA5) is not None
    armed, disarmed = panel.orders
    assert isinstance(armed, ArmShed)
    assert (armed.pdu, armed.outlets, round(armed.restore_s, 6), armed.lease_s) == ("pdu/A1", (3, 4), 1.2, 120.0)
    assert disarmed == DisarmShed(pdu="pdu/A1")


def test_arming_in_one_write() -> None:
    unit, panel = make_unit("pdu", "pdu/A1", PDU)
    assert write(unit, 500, 0, 0, 0, 1, 10, 60, 0xA55A) is not None
    assert panel.orders == [ArmShed(pdu="pdu/A1", outlets=(1,), restore_s=1.0, lease_s=60.0)]


def test_what_is_armed_and_what_was_done_is_read_back() -> None:
    unit, _ = make_unit("pdu", "pdu/A1", PDU)
    assert read(unit, 520, 7) == (1, 0, 0, 1, 0b1100, 12, 1195)
    words = read(unit, 540, 12)
    assert words[0] == 2
    assert struct.unpack(">IQQ", struct.pack(">10H", *words[1:11])) == (70000, 1234567, 0b1000)
    assert words[11] == 24
    assert read(unit, 540, 12, 4) == words


def test_a_broadcast_fires_and_is_not_answered() -> None:
    unit, panel = make_unit("pdu", "pdu/A1", PDU)
    assert switch(unit, 1000, True, station=0) is None
    assert switch(unit, 1000, False, station=0) is None
    assert panel.orders == [FireShed(pdu="pdu/A1")]


def test_the_clock_of_the_device() -> None:
    unit, panel = make_unit("pdu", "pdu/A1", PDU)
    panel.time = 12.345
    assert read(unit, 18, 4) == (0, 0, 0, 12345)


UPS: dict[tuple[str, str], Value] = {
    ("ups/A", "ups.status"): frozenset({"OB", "DISCHRG", "LB", "HE"}),
    ("ups/A", "ups.mode"): "eco",
    ("ups/A", "ups.input_voltage"): 200.06,
    ("ups/A", "ups.load"): 61.0,
    ("ups/A", "ups.runtime"): 480.0,
    ("ups/A", "ups.battery_temperature"): -3.5,
    ("ups/A", "ups.mains_flag"): 1.0,
}


def test_the_ups() -> None:
    unit, panel = make_unit("ups", "ups/A", UPS)
    assert read(unit, 100, 4) == (0, 0b100110, 1, 2)
    assert read(unit, 110) == (2001,)
    assert read(unit, 123) == (610,)
    assert read(unit, 131, 2) == (0, 480)
    assert read(unit, 134) == (0x10000 - 35,)
    assert read_bits(unit, 0, 1, 2) == [True]
    assert write(unit, 103, 3) is not None
    assert write(unit, 103, 9) == refused(3)
    assert write(unit, 150, 2) is not None
    assert panel.orders == [SetUpsMode(ups="ups/A", mode="bypass"), StartTest(ups="ups/A", kind="calibration")]


def test_a_broadcast_to_the_pdus_means_nothing_to_the_ups_beside_them() -> None:
    unit, panel = make_unit("ups", "ups/A", UPS)
    assert switch(unit, 1000, True, station=0) is None
    assert panel.orders == []
