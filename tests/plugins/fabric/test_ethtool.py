"""`ethtool`: counters, code and module, as text and as JSON, and what is made of a recording of several."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.parts import Source
from supernoded.plugin import Reading, State, Value
from supernoded.quantities import find_fault
from supernoded_fabric.ethtool_counters import parse_statistics
from supernoded_fabric.ethtool_fec import parse_fec
from supernoded_fabric.ethtool_module import parse_module
from supernoded_fabric.recorded_tools import read_ethtool

P = "n0/nic/eth0"


def values(readings: Iterable[Reading]) -> dict[tuple[str, str], Value]:
    found = list(readings)
    assert all(find_fault(reading) is None for reading in found if reading.state is State.GOOD)
    assert len({(reading.subject, reading.quantity) for reading in found}) == len(found)
    return {(reading.subject.removeprefix(P).lstrip("/"), reading.quantity): reading.value for reading in found}


STATISTICS = """\
NIC statistics:
     rx_packets: 99
     rx_bytes_phy: 1000
     rx_pcs_symbol_err_phy: 4
     rx_corrected_bits_phy: 900
     rx_err_lane_0_phy: 100
     rx_err_lane_1_phy: 800
     link_down_events_phy: 3
     rx_discards_phy: 5
     tx_discards_phy: 6
     rx_prio3_pause: 7
     rx_prio4_pause: 8
     rx_prio4_pause_duration: 1000
     tx_pause_ctrl_phy: 11
     tx_prio4_pause: 10
     rx_crc_errors_phy: N/A
"""


def test_counters_of_a_driver() -> None:
    assert values(parse_statistics(STATISTICS, 7.0, P)) == {
        ("", "link.bits"): 8000.0,
        ("", "link.symbol_errors"): 4.0,
        ("", "link.fec.corrected"): 900.0,
        ("lane0", "link.fec.corrected"): 100.0,
        ("lane1", "link.fec.corrected"): 800.0,
        ("", "link.downed"): 3.0,
        ("", "link.discards"): 11.0,
        ("", "link.pauses_received"): 15.0,  # no whole total: by priority
        ("", "link.pauses_sent"): 11.0,  # the whole total holds those by priority
        ("", "link.receive_errors"): None,
    }


@pytest.mark.parametrize(
    ("line", "quantity"),
    [
        ("rx_fec_uncorrectable_blocks: 2", "link.fec.uncorrected"),
        ("rsfec_uncorrected_cw: 2", "link.fec.uncorrected"),
        ("fec_uncorrectable_blocks.nic: 2", "link.fec.uncorrected"),
        ("link_xoff_rx.nic: 2", "link.pauses_received"),
        ("mac_tx_pfc_pkt_num: 2", "link.pauses_sent"),
        ("rx_cnp_pkts: 2", "link.cnp_received"),
        ("port.rx_crc_errors: 2", "link.receive_errors"),
    ],
)
def test_names_of_other_drivers(line: str, quantity: str) -> None:
    assert values(parse_statistics(f"NIC statistics:\r\n     {line}\r\n", 7.0, P)) == {("", quantity): 2.0}


def test_the_code_in_use() -> None:
    text = "FEC parameters for eth0:\nSupported/Configured FEC encodings: Auto RS\nActive FEC encoding: RS\n"
    counts = "Statistics:\n  corrected_bits: 30\n    Lane 0: 10\n    Lane 1: 20\n  uncorrectable_blocks: 1\n"
    wanted = {("", "link.fec"): "rs", ("", "link.fec.corrected"): 30.0, ("", "link.fec.uncorrected"): 1.0}
    lanes = {("lane0", "link.fec.corrected"): 10.0, ("lane1", "link.fec.corrected"): 20.0}
    assert values(parse_fec(text, 7.0, P)) == {("", "link.fec"): "rs"}
    assert values(parse_fec(text + counts, 7.0, P)) == wanted | lanes
    statistics = {"corrected_bits": {"total": 30, "lanes": [10, 20]}, "uncorrectable_blocks": {"total": 1}}
    document = json.dumps([{"ifname": "eth0", "config": ["Auto"], "active": ["RS"], "statistics": statistics}])
    assert values(parse_fec(document, 7.0, P)) == wanted | lanes
    assert values(parse_fec('[{"ifname": "eth0", "active": ["Off"]}]', 7.0, P)) == {("", "link.fec"): "none"}


MODULE = """\
\tIdentifier                                : 0x11 (QSFP28)
\tRx loss of signal                         : [ No, Yes ]
\tTx loss of signal                         : None
\tModule temperature                        : 41.50 degrees C / 106.70 degrees F
\tModule voltage                            : 3.2811 V
\tLaser tx bias current (Channel 1)         : 6.500 mA
\tLaser tx bias current (Channel 2)         : 7.500 mA
\tTransmit avg optical power (Channel 1)    : 1.0000 mW / 0.00 dBm
\tTransmit avg optical power (Channel 2)    : 0.9000 mW / -0.46 dBm
\tRcvr signal avg optical power(Channel 1)  : 0.8000 mW / -0.97 dBm
\tRcvr signal avg optical power(Channel 2)  : 0.0000 mW / -inf dBm
\tLaser rx power low alarm    (Channel 1)   : Off
\tLaser bias current high alarm threshold   : 12.000 mA
\tLaser bias current low alarm threshold    : 1.000 mA
\tLaser rx power high alarm threshold       : 2.0000 mW / 3.01 dBm
\tLaser rx power low alarm threshold        : 0.1000 mW / -10.00 dBm
\tModule temperature high alarm threshold   : 75.00 degrees C / 167.00 degrees F
\tModule temperature low alarm threshold    : -5.00 degrees C / 23.00 degrees F
\tLaser output power high alarm threshold   : 0.0000 mW / -inf dBm
\tLaser output power low alarm threshold    : 0.0000 mW / -inf dBm
"""
MEASURED: dict[tuple[str, str], Value] = {
    ("", "link.present"): 1.0,
    ("", "link.los"): frozenset({"rx-los"}),
    ("lane0", "link.los"): frozenset(),
    ("lane1", "link.los"): frozenset({"rx-los"}),
    ("", "link.temperature"): 41.5,
    ("", "link.voltage"): 3.2811,
    ("", "link.bias"): 7.5,
    ("lane0", "link.bias"): 6.5,
    ("lane1", "link.bias"): 7.5,
    ("", "link.tx_power"): 0.9,
    ("lane0", "link.tx_power"): 1.0,
    ("lane1", "link.tx_power"): 0.9,
    ("", "link.rx_power"): 0.0,
    ("lane0", "link.rx_power"): 0.8,
    ("lane1", "link.rx_power"): 0.0,
    ("", "link.bias.low"): 1.0,
    ("", "link.bias.high"): 12.0,
    ("", "link.rx_power.low"): 0.1,
    ("", "link.rx_power.high"): 2.0,
    ("", "link.temperature.low"): -5.0,
    ("", "link.temperature.high"): 75.0,
}


def test_a_module() -> None:
    assert values(parse_module(MODULE, 7.0, P)) == MEASURED


def test_a_module_as_json_with_members_of_one_name() -> None:
    document = """[ {
        "identifier": 17, "rx_loss_of_signal": [ "No", "Yes" ], "tx_loss_of_signal": false,
        "module_temperature": 41.5, "module_voltage": 3.2811, "laser_tx_bias_current": [ 6.5, 7.5 ],
        "transmit_avg_optical_power": [ 1, 0.9 ], "rx_power": { "values": [ 0.8, 0 ], "type": "average" },
        "laser_rx_power_low_alarm": [ false, true ],
        "laser_bias_current": { "high_alarm_threshold": 12, "low_alarm_threshold": 1 },
        "laser_rx_power": { "high_alarm_threshold": 2, "low_alarm_threshold": 0.1 },
        "module_temperature": { "high_alarm_threshold": 75, "low_alarm_threshold": -5 } } ]"""
    assert values(parse_module(document, 7.0, P)) == MEASURED


def test_spare_lanes_are_not_dark_ones() -> None:
    document = {
        "identifier": 24,
        "laser_tx_bias_current": [80.0, 0, 0],
        "transmit_avg_optical_power": [1.5, 0, 0],
        "rx_power": [1.0, 0.5, 0],
    }
    found = values(parse_module(json.dumps([document]), 7.0, P))
    assert found["", "link.rx_power"] == 0.5
    assert found["lane1", "link.tx_power"] == 0.0  # it still receives: its laser is dead
    assert ("lane2", "link.rx_power") not in found


def test_lanes_keep_their_flags_when_nothing_is_lost() -> None:
    found = values(parse_module(MODULE.replace("[ No, Yes ]", "None"), 7.0, P))
    assert [found[lane, "link.los"] for lane in ("", "lane0", "lane1")] == [frozenset()] * 3


def test_passive_copper_measures_nothing() -> None:
    text = "\tIdentifier : 0x11 (QSFP28)\n\tModule temperature : 0.00 degrees C / 32.00 degrees F\n\tModule voltage : 0.0000 V\n"
    assert values(parse_module(text, 7.0, P)) == {("", "link.present"): 1.0}


def test_a_recording_of_several_questions_and_interfaces() -> None:
    others = "== ens1f0np0 ==\n     rx_pcs_symbol_err_phy: 9\nFEC parameters for eth1:\nActive FEC encodings: RS\n"
    text = f"$ ethtool -S eth0\n{STATISTICS}\n{others}"
    found = list(read_ethtool(Source(name="7.txt", data=text.encode(), at=7.0)))
    named = {(reading.subject, reading.quantity): reading.value for reading in found}
    assert named["n0/nic/eth0", "link.symbol_errors"] == 4.0
    assert named["n0/nic/ens1f0np0", "link.symbol_errors"] == 9.0
    assert named["n0/nic/eth1", "link.fec"] == "rs"
    assert {reading.at for reading in found} == {7.0}


@pytest.mark.parametrize(
    ("name", "subject"), [("a/eth7.txt", "n0/nic/eth7"), ("ethtool_S.txt", "n0/nic/unnamed"), ("12.txt", "n0/nic/unnamed")]
)
def test_a_file_may_name_its_interface(name: str, subject: str) -> None:
    (reading,) = read_ethtool(Source(name=name, data=b"link_down_events_phy: 1", at=7.0))
    assert reading.subject == subject


PIECES = st.sampled_from(
    [*STATISTICS.splitlines(True), *MODULE.splitlines(True), "[", "{", '"active":', "Active FEC encoding:", "== eth0 ==\n"]
)


@given(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=30).map("".join))
def test_near_garbage_never_raises_nor_makes_a_bad_reading(text: str) -> None:
    for reading in read_ethtool(Source(name="x", data=text.encode(errors="replace"), at=7.0)):
        assert (reading.value is None) == (reading.state is State.UNKNOWN)
        assert reading.note or reading.state is State.GOOD


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=8), lambda inner: st.lists(inner) | st.dictionaries(
    st.sampled_from(["identifier", "rx_power", "values", "active", "statistics", "corrected_bits", "lanes", "module_voltage"]), inner
)))  # fmt: skip
def test_any_json_is_survived(document: object) -> None:
    text = json.dumps([document])
    assert [reading for reading in (*parse_module(text, 7.0, P), *parse_fec(text, 7.0, P)) if reading.at != 7.0] == []


def test_a_recorded_driver(recordings: Path) -> None:
    data = (recordings / "ib" / "ethtool_S_mlx5_fec.txt").read_bytes()
    found = {(reading.subject, reading.quantity): reading.value for reading in read_ethtool(Source(name="x.txt", data=data, at=7.0))}
    assert found["n0/nic/unnamed", "link.symbol_errors"] == 386.0
    assert found["n0/nic/unnamed", "link.fec.corrected"] == 17750739.0
    assert [found[f"n0/nic/unnamed/lane{lane}", "link.fec.corrected"] for lane in range(4)] == [28116.0, 0.0, 0.0, 17722623.0]
