"""Rows of `ipmi-sensors` and what they say of power supplies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.plugin import Reading
from supernoded.quantities import find_fault
from supernoded_ipmi.rows import Row, parse_rows
from supernoded_ipmi.supplies import read_supplies

LOST = "'At or Below (<=) Lower Critical Threshold'"


def read(*lines: str) -> dict[tuple[str, str], Reading]:
    found = {(one.subject, one.quantity): one for one in read_supplies(list(parse_rows("\n".join(lines))), "n0", 7.0)}
    assert all(find_fault(one) is None for one in found.values() if one.value is not None)
    return found


def supply(watts: str, power: str, status: str, slot: int = 0) -> tuple[str, str]:
    return f"5{slot},PWR_PSU{slot},Power Supply,{watts},W,{power}", f"6{slot},STATUS_PSU{slot},Power Supply,N/A,N/A,{status}"


def test_a_supply_that_is_well_and_one_that_gives_nothing() -> None:
    found = read(*supply("0.00", LOST, "'Presence detected'"), *supply("640.00", "'OK'", "'Presence detected'", 1))
    assert {key: one.value for key, one in found.items()} == {
        ("n0/psu0", "psu.power"): 0.0,
        ("n0/psu0", "psu.present"): 1.0,
        ("n0/psu0", "psu.state"): "low",
        ("n0/psu1", "psu.power"): 640.0,
        ("n0/psu1", "psu.present"): 1.0,
        ("n0/psu1", "psu.state"): "ok",
    }
    assert found["n0/psu0", "psu.state"].note == "At or Below (<=) Lower Critical Threshold"


@pytest.mark.parametrize("word", ["N/A", "", "nan", "inf", "1e999", "0x0", "- 3"])
def test_what_is_no_number_is_unknown_and_never_0(word: str) -> None:
    one = read(*supply(word, "N/A", "'Presence detected'"))["n0/psu0", "psu.power"]
    assert (one.value, one.note) == (None, f"its sensor says {word!r}")


def test_a_meter_without_reading_and_unit_is_a_meter_all_the_same() -> None:
    found = read("1,PWR_PSU0,Power Supply,N/A,N/A,N/A", "2,STATUS_PSU0,Power Supply,N/A,N/A,N/A")
    assert [(quantity, one.value) for (_, quantity), one in found.items()] == [
        ("psu.power", None),
        ("psu.present", None),
        ("psu.state", None),
    ]


@pytest.mark.parametrize(
    ("watts", "status", "present", "state"),
    [
        ("300.00", "'OK'", 1.0, "ok"),  # it gives power: so it is there
        ("N/A", "'OK'", 0.0, "ok"),  # no bit is set, presence neither
        ("0.00", "'OK'", None, "ok"),
        ("N/A", "'Power Supply input lost (AC/DC)'", 0.0, "input-lost"),  # as one reads that was pulled out
        ("0.00", "'Presence detected' 'Power Supply input lost (AC/DC)'", 1.0, "input-lost"),
        ("9.00", "'Presence detected' 'Power Supply input out-of-range, but present'", 1.0, "warning"),
        ("0.00", "'Presence detected' 'Power Supply Failure detected'", 1.0, "critical"),
        ("0.00", "'Presence detected' 'Power Supply Inactive (in standby state)'", 1.0, "standby"),
        ("90.00", "'Presence detected' 'Fan lost, 3 left'", 1.0, "Fan lost, 3 left"),
        ("N/A", "'Device Removed/Device Absent'", 0.0, "Device Removed/Device Absent"),
    ],
)
def test_presence_and_state(watts: str, status: str, present: float | None, state: str) -> None:
    found = read(*supply(watts, "N/A", status))
    assert (found["n0/psu0", "psu.present"].value, found["n0/psu0", "psu.state"].value) == (present, state)


@pytest.mark.parametrize(
    ("events", "word"),
    [
        ("'Fully Redundant'", "full"),
        ("'Redundancy Degraded'", "degraded"),
        ("'Redundancy Lost' 'Non-redundant:Sufficient Resources from Redundant'", "lost"),
        ("'Redundancy Lost' 'Non-redundant:Insufficient Resources'", "insufficient"),
        ("'OK'", None),
        ("N/A", None),
    ],
)
def test_redundancy_is_of_the_node(events: str, word: str | None) -> None:
    found = read(f"9,PS Redundancy,Power Supply,N/A,N/A,{events}", "8,FAN_REDUNDANCY,Fan,N/A,N/A,'Redundancy Lost'")
    assert {key: one.value for key, one in found.items()} == {("n0", "psu.redundancy"): word}


def test_what_goes_in_is_taken_before_what_comes_out_and_other_sensors_of_a_supply_are_not_its_power() -> None:
    found = read(
        "1,PS2 Output Power,Other Units Based Sensor,Nominal,410.00,W,'OK'",
        "2,PS2 Input Power,Other Units Based Sensor,Nominal,450.00,W,'OK'",
        "3,PS2 Temperature,Temperature,Nominal,41.00,C,'OK'",
        "4,FAN_PS2,Fan,Critical,0.00,RPM,'At or Below (<=) Lower Critical Threshold'",
        "5,PS2 Status,Power Supply,N/A,N/A,N/A,'Presence detected'",
        "6,GPS1 Power,Other Units Based Sensor,Nominal,3.00,W,'OK'",
    )
    assert {key: one.value for key, one in found.items()} == {
        ("n0/psu2", "psu.power"): 450.0,
        ("n0/psu2", "psu.present"): 1.0,
        ("n0/psu2", "psu.state"): "ok",
    }


def test_the_column_of_states_shifts_nothing() -> None:
    rows = list(parse_rows("ID,Name,Type,State,Reading,Units,Event\n4,A,Power Supply,N/A,N/A,N/A,'a, b' 'c'\n5,B,Fan,1.0,RPM,[OK\n6,half"))
    assert rows == [
        Row("a", "power supply", "N/A", "N/A", ("a, b", "c")),
        Row("b", "fan", "1.0", "RPM", ("[OK",)),
    ]


WORDS = ["1", "PWR_PSU0", "STATUS_PSU0", "PS Redundancy", "Power Supply", "N/A", "W", "0.00", "'OK'", "'Presence detected'", ",", "'", "\n"]


@given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(WORDS), max_size=30).map(",".join)))
def test_no_text_breaks_it(text: str) -> None:
    assert all(one.quantity.startswith("psu.") for one in read_supplies(list(parse_rows(text)), "n0", 7.0))
