"""What stands for no value is none, and says what was there."""

from __future__ import annotations

import pytest

from supernoded_modbus.doubts import doubt
from supernoded_modbus.maps import Row, load_map
from supernoded_modbus.sensors import gather, tell_age
from supernoded_modbus.values import Told, tell


def find_row(map_name: str, name: str) -> Row:
    return next(row for row in load_map(map_name).rows if row.name == name)


@pytest.mark.parametrize(
    ("map_name", "name", "words", "value"),
    [
        ("ups", "input_voltage", (2301,), 230.1),
        ("ups", "input_voltage", (0xFFFF,), None),
        ("ups", "input_frequency", (0x7FFF,), None),  # 327.67 Hz: outside
        ("ups", "charge", (1976,), None),  # 197.6 %, as one has it
        ("ups", "runtime", (0xFFFF, 0xFFFF), None),
        ("ups", "runtime", (0, 3600), 3600.0),
        ("ups", "battery_temperature", (0x10000 - 1280,), None),  # -128 C
        ("ups", "battery_temperature", (0xFFFF,), None),  # -1 in a signed register
        ("ups", "battery_temperature", (251,), 25.1),
        ("ups", "status", (0, 0), None),
        ("ups", "status", (0xFFFF, 0xFFFF), None),
        ("ups", "status", (0, 0b10110), frozenset({"ob", "lb", "chrg"})),
        ("ups", "status", (1, 1), frozenset({"ol", "bit16"})),
        ("ups", "test_result", (9,), None),
        ("ups", "serial", (0x0000,) * 8, None),
        ("ups", "serial", (0x4100, 0x4242) + (0,) * 6, "A"),
        ("pdu", "armed_group", (0, 0, 0, 0b1001), frozenset({"1", "4"})),
        ("pdu", "armed_group", (0, 0, 0, 0), frozenset()),
        ("pdu", "event", (7,), None),
        ("dcd", "supply_temperature", (0, 0x7FC0), None),  # NaN, words swapped
        ("dcd", "supply_temperature", (0xCCCD, 0x41B0), 22.1),
        ("dcd", "supply_temperature", (0x41B0, 0xCCCD), None),  # the words as they should not be
        ("plc", "supply_temperature", (0,), None),  # 0 where it has nothing is -300 C
        ("plc", "supply_temperature", (3221,), 22.1),
        ("rpu", "supply_temperature", (0x7FFF,), None),
    ],
)
def test_a_row_as_a_value(map_name: str, name: str, words: tuple[int, ...], value: object) -> None:
    told = tell(words, find_row(map_name, name))
    assert told.value == (pytest.approx(value, abs=1e-5) if isinstance(value, float) else value)
    assert bool(told.note) is (value is None)


def test_a_note_says_what_was_there() -> None:
    assert tell((0xFFFF,), find_row("ups", "input_voltage")).note == "the device shows 0xFFFF, which stands for no value"
    assert "197.6 % (0x7B8) is outside 0 to 100" in tell((1976,), find_row("ups", "charge")).note


@pytest.mark.parametrize(("charge", "runtime", "known"), [(100.0, 0.0, False), (40.0, 0.0, True), (100.0, 5.0, True)])
def test_a_runtime_of_zero_with_a_full_battery_is_not_computed(charge: float, runtime: float, known: bool) -> None:
    told = doubt("ups.runtime", Told(runtime), {"ups.charge": Told(charge)})
    assert (told.value is not None) is known


def test_a_battery_at_exactly_zero_has_no_sensor() -> None:
    assert doubt("ups.battery_temperature", Told(0.0), {}).value is None
    assert doubt("ups.battery_temperature", Told(0.1), {}).value == 0.1


def test_the_age_of_an_event_is_on_the_devices_own_clock() -> None:
    assert tell_age(Told(100.0), Told(112.5)).value == 12.5
    assert tell_age(Told(100.2), Told(100.0)).value == 0.0  # it happened between the two reads
    assert "ahead" in tell_age(Told(200.0), Told(100.0)).note
    assert tell_age(Told(None, "never"), Told(100.0)).note == "never"
    assert tell_age(Told(1.0), Told(None, "no clock")).note == "no clock"


def test_a_set_of_bits_needs_all_of_them() -> None:
    assert gather({1: Told(1.0), 2: Told(0.0), 7: Told(1.0)}).value == frozenset({"1", "7"})
    assert gather({1: Told(1.0), 2: Told(None, "lost")}) == Told(None, "lost")
