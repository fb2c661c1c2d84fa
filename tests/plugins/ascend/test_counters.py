"""Totals of a port."""

from __future__ import annotations

from pathlib import Path

import pytest

from supernoded.plugin import Reading, State
from supernoded.quantities import find_fault
from supernoded_ascend.counters import parse_stat

PORT = "n0/card3/port0"


def read(text: str) -> dict[str, Reading]:
    found = parse_stat(text, 7.0, PORT)
    assert len({reading.quantity for reading in found}) == len(found)
    return {reading.quantity: reading for reading in found}


def test_counters() -> None:
    text = """packet statistics:
mac_tx_mac_pause_num:1
mac_rx_mac_pause_num:0
mac_tx_pfc_pkt_num:20
mac_rx_pfc_pkt_num:30
mac_tx_total_oct_num:1000
mac_rx_total_oct_num:2000
mac_rx_bad_pkt_num:7
mac_rx_fcs_err_pkt_num:5
roce_rx_err_pkt_num:13
roce_tx_err_pkt_num:77
roce_new_pkt_rty_num:4
roce_rx_cnp_pkt_num:8
roce_tx_cnp_pkt_num:9
"""
    found = read(text)
    assert {name: reading.value for name, reading in found.items()} == {
        "link.bits": 16_000.0,
        "x.ascend.sent_bits": 8_000.0,
        "link.receive_errors": 7.0,  # bad ones may well include those with a wrong check sum
        "link.discards": 13.0,
        "link.retransmits": 4.0,
        "link.pauses_sent": 21.0,
        "link.pauses_received": 30.0,
        "link.cnp_received": 8.0,
        "link.cnp_sent": 9.0,
        "x.ascend.mac_tx_mac_pause_num": 1.0,
        "x.ascend.mac_rx_mac_pause_num": 0.0,
        "x.ascend.mac_rx_fcs_err_pkt_num": 5.0,
        "x.ascend.roce_tx_err_pkt_num": 77.0,
    }
    assert all(find_fault(reading) is None for reading in found.values())


def test_what_is_printed_differently_is_read_all_the_same() -> None:
    assert read("[devid 3]mac_rx_fcs_err_pkt_num : 5\r\n[devid 3] mac_rx_total_oct_num:1")["link.receive_errors"].value == 5.0


@pytest.mark.parametrize("text", ["-1", "N/A", "", "1.5", "8.07E+13", str(2**64), "9" * 50, "0x1f", "١٢"])
def test_no_count_is_not_0(text: str) -> None:
    found = read(f"mac_rx_bad_pkt_num:{text}\nmac_rx_total_oct_num:5")
    assert (found["link.receive_errors"].value, found["link.receive_errors"].state) == (None, State.UNKNOWN)
    assert found["link.receive_errors"].note.startswith("no count: ")
    assert found["link.bits"].value == 40.0


def test_a_counter_at_its_ceiling_measures_nothing() -> None:
    found = read(f"mac_rx_total_oct_num:{2**64 - 1}\nmac_tx_pfc_pkt_num:{2**64 - 1}\nmac_tx_mac_pause_num:1")
    assert found["link.bits"].note.startswith("saturated, cannot measure")
    assert found["link.pauses_sent"].note.startswith("saturated")  # a sum is worth what its worst part is worth
    assert found["x.ascend.mac_tx_mac_pause_num"].value == 1.0


def test_nothing_printed_is_no_error_counted() -> None:
    (reading,) = parse_stat("packet statistics:\n", 7.0, PORT)
    assert (reading.quantity, reading.value, reading.state) == ("link.receive_errors", None, State.UNKNOWN)


def test_a_flood_of_names_is_cut_off() -> None:
    assert len(read("".join(f"own_{number}:1\n" for number in range(5000)))) == 200


def test_recorded_counters_rise(recordings: Path) -> None:
    head, *rows = (recordings / "ascend" / "mindcluster_npu_0_details.csv").read_text().splitlines()
    names = [name for name in head.split(",") if name.startswith(("mac_", "roce_"))]
    skipped = len(head.split(",")) - len(names)
    pauses = []
    for row in rows:
        text = "".join(f"{name}:{value}\n" for name, value in zip(names, row.split(",")[skipped:], strict=False))
        found = read(text)
        assert found["link.bits"].state is State.UNKNOWN  # a spreadsheet has rounded it
        pauses.append(found["link.pauses_received"].value)
    numbers = [pause for pause in pauses if isinstance(pause, float)]
    assert len(numbers) == len(rows) > 1
    assert numbers == sorted(numbers)
    assert numbers[0] < numbers[-1]
