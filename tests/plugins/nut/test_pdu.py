"""A PDU behind a NUT server: input, outlets, and what it calls itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from supernoded.quantities import VOCABULARY, find_fault
from supernoded_nut.pdu import is_pdu, read_pdu
from supernoded_nut.told import to_readings

PDU = {
    "device.type": "pdu",
    "device.model": "A model",
    "device.serial": "S2",
    "ups.status": "",
    "input.phases": "1.00",
    "input.voltage": "239.58",
    "input.realpower": "4198.00",
    "input.current": "19.63",
    "input.L1.current": "19.63",
    "input.L2.realpower": "4198.00",
    "input.current.nominal": "0.00",
    "outlet.count": "2",
    "outlet.current": "3.0",
    "outlet.group.1.status": "on",
    "outlet.1.status": "on",
    "outlet.1.realpower": "120.0",
    "outlet.1.current": "0.52",
    "outlet.1.switchable": "no",
    "outlet.12.status": "Off",
    "outlet.12.realpower": "-1",
    "outlet.12.switchable": "yes",
    "outlet.13.status": "pending",
}


def test_what_a_pdu_tells() -> None:
    found = {(reading.subject, reading.quantity): reading.value for reading in to_readings(read_pdu(PDU), "pdu/A1", 1.0)}
    assert found == {
        ("pdu/A1", "pdu.voltage"): 239.58,
        ("pdu/A1", "pdu.rated_current"): None,
        ("pdu/A1", "pdu.power"): 4198.0,
        ("pdu/A1", "pdu.current"): 19.63,
        ("pdu/A1", "pdu.current.L1"): 19.63,
        ("pdu/A1", "pdu.model"): "A model",
        ("pdu/A1", "pdu.serial"): "S2",
        ("pdu/A1/outlet1", "outlet.state"): "on",
        ("pdu/A1/outlet1", "outlet.power"): 120.0,
        ("pdu/A1/outlet1", "outlet.current"): 0.52,
        ("pdu/A1/outlet1", "outlet.locked"): 1.0,
        ("pdu/A1/outlet12", "outlet.state"): "off",
        ("pdu/A1/outlet12", "outlet.power"): None,
        ("pdu/A1/outlet12", "outlet.locked"): 0.0,
        ("pdu/A1/outlet13", "outlet.state"): None,
    }


def test_the_power_of_all_phases_is_summed() -> None:
    phases = {f"input.L{number}.realpower": "100" for number in (1, 2, 3)}
    assert [one.value for one in read_pdu({"input.phases": "3", **phases})] == [300.0]
    assert [one.value for one in read_pdu({"input.phases": "3", **phases, "input.L2.realpower": "-1"})] == [None]
    assert read_pdu({"input.phases": "3", "input.L1.realpower": "100"}) == []


def test_who_is_a_pdu() -> None:
    assert is_pdu({"device.type": "PDU "})
    assert is_pdu({"ups.type": "pdu"})
    assert not is_pdu({"device.type": "ups"})


@given(st.dictionaries(st.sampled_from([*PDU, "outlet.999.current"]), st.text()))
def test_any_text_gives_what_the_vocabulary_takes(variables: dict[str, str]) -> None:
    readings = to_readings(read_pdu(variables), "pdu/A1", 5.0)
    assert {find_fault(reading) for reading in readings if reading.value is not None} <= {None}
    assert {reading.quantity for reading in readings} <= set(VOCABULARY)
