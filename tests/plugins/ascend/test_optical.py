"""Modules and their lanes."""

from __future__ import annotations

import pytest

from supernoded.plugin import Reading, State
from supernoded.quantities import find_fault
from supernoded_ascend.optical import parse_optical

PORT = "n0/card3/port0"
PAGE = """\
optical info:
present              : present
temperature          : 51 C
vendor name          : Somebody
Vcc                  : 3300.00 mV
Tx Power0            : 1.2000 mW
Rx Power0            : 1.1000 mW
Tx Power1            : 1.3000 mW
Rx Power1            : 0.0200 mW
Vcc High Thres       : 3465.00 mV
Vcc Low Thres        : 3135.00 mV
Temp High Thres      : 70 C
Temp Low Thres       : 0 C
TxPower High Thres   : 3.5000 mW
TxPower Low Thres    : 0.2800 mW
RxPower High Thres   : 3.5000 mW
RxPower Low Thres    : 0.1400 mW
Tx Bias0             : 7.9000 mA
Tx Bias1             : 8.1000 mA
Tx Los Flag          : 0x0
Rx Los Flag          : 0x2
Tx LoL Flag          : 0x0
Rx LoL Flag          : 0x0
Host SNR Lane0       : not supported
Media SNR Lane0      : 23.5000 dB
Media SNR Lane1      : 11.5000 dB
"""


def read(text: str) -> dict[tuple[str, str], Reading]:
    found = parse_optical(text, 7.0, PORT)
    assert len({(reading.subject, reading.quantity) for reading in found}) == len(found)
    return {(reading.subject.removeprefix(PORT), reading.quantity): reading for reading in found}


def test_lanes_and_port() -> None:
    found = read(PAGE)
    assert {key: reading.value for key, reading in found.items()} == {
        ("", "link.present"): 1.0,
        ("", "link.temperature"): 51.0,
        ("", "link.temperature.high"): 70.0,
        ("", "link.temperature.low"): 0.0,
        ("", "link.voltage"): 3.3,
        ("", "link.voltage.high"): 3.465,
        ("", "link.voltage.low"): 3.135,
        ("", "link.tx_power.high"): 3.5,
        ("", "link.tx_power.low"): 0.28,
        ("", "link.rx_power.high"): 3.5,
        ("", "link.rx_power.low"): 0.14,
        ("/lane0", "link.tx_power"): 1.2,
        ("/lane1", "link.tx_power"): 1.3,
        ("", "link.tx_power"): 1.2,
        ("/lane0", "link.rx_power"): 1.1,
        ("/lane1", "link.rx_power"): 0.02,
        ("", "link.rx_power"): 0.02,
        ("/lane0", "link.bias"): 7.9,
        ("/lane1", "link.bias"): 8.1,
        ("", "link.bias"): 8.1,
        ("/lane0", "link.snr"): 23.5,
        ("/lane1", "link.snr"): 11.5,
        ("", "link.snr"): 11.5,
        ("/lane0", "x.ascend.host_snr"): None,
        ("", "link.los"): frozenset({"rx-los"}),
        ("/lane0", "link.los"): frozenset(),
        ("/lane1", "link.los"): frozenset({"rx-los"}),
    }
    assert all(find_fault(reading) is None for reading in found.values() if reading.state is State.GOOD)
    assert found["/lane0", "x.ascend.host_snr"].note == "no number: 'not supported'"


def test_not_present_with_live_readings_is_given_twice() -> None:
    found = read(PAGE.replace(": present", ": not present"))
    assert (found["", "link.present"].value, found["", "link.present"].state) == (0.0, State.GOOD)
    assert found["", "link.present"].note == "it says `not present`, yet 14 of its readings are live"
    assert found["/lane1", "link.rx_power"].value == 0.02


def test_not_present_and_silent_is_no_contradiction() -> None:
    limits = "".join(line for line in PAGE.splitlines(keepends=True) if "Thres" in line)
    assert read(f"present : not present\n{limits}")["", "link.present"].note == ""


@pytest.mark.parametrize(("mask", "lanes"), [("0x0", ()), ("0x1", (0,)), ("0x3", (0, 1)), ("0xff", (0, 1)), ("2", (1,)), ("0XFF", (0, 1))])
def test_masks_have_a_bit_a_lane(mask: str, lanes: tuple[int, ...]) -> None:
    found = read(PAGE.replace("Rx Los Flag          : 0x2", f"Rx Los Flag : {mask}"))
    raised = [lane for lane in (0, 1) if found[f"/lane{lane}", "link.los"].value == frozenset({"rx-los"})]
    assert tuple(raised) == lanes
    assert found["", "link.los"].value == (frozenset({"rx-los"}) if lanes else frozenset())


def test_a_mask_that_cannot_be_read_leaves_nothing_surely_dark_or_lit() -> None:
    blind = PAGE.replace("Tx LoL Flag          : 0x0", "Tx LoL Flag : not supported")
    found = read(blind)
    assert (found["", "link.los"].value, found["", "link.los"].note) == (frozenset({"rx-los"}), "tx-lol cannot be read")
    assert found["/lane0", "link.los"].state is State.UNKNOWN


def test_one_lane_that_cannot_be_read_costs_itself_and_is_told() -> None:
    found = read(PAGE.replace("1.1000 mW", "N/A"))
    assert found["/lane0", "link.rx_power"].state is State.UNKNOWN
    assert (found["", "link.rx_power"].value, found["", "link.rx_power"].note) == (0.02, "lane 0: no number: 'N/A'")


def test_another_unit_is_not_taken_for_ours() -> None:
    found = read(PAGE.replace("0.0200 mW", "-16.9 dBm"))
    assert found["/lane1", "link.rx_power"].note == "not in mW: '-16.9 dBm'"
    assert found["", "link.rx_power"].value == 1.1


def test_nothing_printed_is_no_module_and_no_absence() -> None:
    (reading,) = parse_optical("", 7.0, PORT)
    assert (reading.quantity, reading.state, reading.note) == ("link.present", State.UNKNOWN, "the tool printed nothing about it")
