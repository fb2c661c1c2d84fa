"""The three CDU maps over one plant."""

import pytest

from sim_hardware.plant.cooling.orders import Beat, ClearLeak, SetControl, SetPressure, SetPump, SetTemperature, SetValve, SetWatchdog
from sim_hardware.plant.words import Value
from tests.sim.devices.modbus.samples import make_unit, read, read_bits, read_f32, refused, write

VALUES: dict[tuple[str, str], Value] = {
    ("cdu/0", "coolant.flow"): 812.34,
    ("cdu/0", "coolant.supply_temperature"): 22.04,
    ("cdu/0", "coolant.return_temperature"): 31.96,
    ("cdu/0", "coolant.pressure_difference"): 150.0,
    ("cdu/0", "coolant.valve"): 41.5,
    ("cdu/0", "coolant.valve_command"): 42.0,
    ("cdu/0", "coolant.control"): "setpoint",
    ("cdu/0", "coolant.setpoint_asked"): 22.0,
    ("cdu/0", "coolant.watchdog_s"): 15.0,
    ("cdu/0", "coolant.watchdog_left"): 12.3,
    ("cdu/0", "coolant.leak_sticky"): 1.0,
    ("cdu/0", "coolant.leak"): 0.0,
    ("cdu/0", "coolant.model"): "CDU-800",
    ("cdu/0", "coolant.serial"): "C-0007",
    ("cdu/0/pump0", "pump.rpm"): 2900.0,
    ("cdu/0/pump1", "pump.state"): "tripped",
    ("cdu/0/pump1", "pump.command"): 60.0,
}


def test_rpu_reads() -> None:
    unit, _ = make_unit("rpu", values=VALUES)
    assert read(unit, 36864, 5) == (8123, 220, 320, 2500, 1000)
    assert read(unit, 36874, 4) == (2900, 0, 0, 0)  # a pump that is not there has no tach
    assert read(unit, 37537) == (415,)
    assert read(unit, 37904) == (4,)
    assert (read(unit, 6565), read(unit, 38029)) == ((1,), (0,))
    assert read(unit, 38021, 2) == (15, 123)
    assert read(unit, 38030, 2) == (0xFFFF, 3)
    assert read(unit, 38008, 3) == (0x432D, 0x3030, 0x3037)


def test_rpu_writes() -> None:
    unit, panel = make_unit("rpu", values=VALUES)
    for address, word in ((37904, 1), (37918, 235), (37919, 37), (37937, 55), (38020, 9), (38021, 10), (38024, 1200), (38040, 1)):
        assert write(unit, address, word) == bytes((6, *divmod(address, 256), *divmod(word, 256)))
    assert panel.orders == [
        SetControl(cdu="cdu/0", control="direct"),
        SetTemperature(cdu="cdu/0", celsius=23.5),
        SetValve(cdu="cdu/0", percent=37.0),
        SetPump(cdu="cdu/0", pump=1, percent=55.0),
        Beat(cdu="cdu/0"),
        SetWatchdog(cdu="cdu/0", seconds=10.0),
        SetPressure(cdu="cdu/0", kilopascals=120.0),
        ClearLeak(cdu="cdu/0"),
    ]
    assert read(unit, 38020) == (9,)
    assert read(unit, 37937) == (60,)  # what the CDU has made of it, by its own word


def test_rpu_stored_duties_wear_and_its_measurements_cannot_be_written() -> None:
    unit, panel = make_unit("rpu", values=VALUES)
    assert write(unit, 41988, 40) is not None
    assert panel.orders == [SetPump(cdu="cdu/0", pump=1, percent=40.0)]
    assert unit.writes.wear == {"stored_pump_duty.1": 1}
    assert write(unit, 36865, 200) == refused(2)
    assert write(unit, 37918, 40) == refused(3)  # 4 C


def test_dcd_is_in_swapped_floats() -> None:
    unit, panel = make_unit("dcd", values=VALUES)
    assert read_f32(unit, 130) == pytest.approx(22.04, abs=1e-5)
    assert read_f32(unit, 134) == pytest.approx(31.96, abs=1e-5)
    assert read_f32(unit, 138) == 150.0
    assert read_f32(unit, 162) == 41.5
    assert read(unit, 138, 2, 4) == (0, 0x4316)
    assert read_f32(unit, 10, 3) == 22.0
    assert read_bits(unit, 0, 2, 2) == [False, True]
    assert read_bits(unit, 8, 4, 2) == [False, True, False, False]
    assert write(unit, 10, 0x0000, 0x41C0) == b"\x10\x00\x0a\x00\x02"
    assert panel.orders == [SetTemperature(cdu="cdu/0", celsius=24.0)]


def test_plc_is_3000_and_the_value_by_its_precision() -> None:
    unit, panel = make_unit("plc", values=VALUES)
    assert read(unit, 10601, 3) == (3220, 11123, 3320)
    assert write(unit, 10652, 3375) is not None
    (order,) = panel.orders
    assert isinstance(order, SetValve)
    assert order.percent == pytest.approx(37.5)
