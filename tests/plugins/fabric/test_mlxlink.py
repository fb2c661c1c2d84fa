"""`mlxlink`: text and JSON, what stands for no errors, modules, and contradictions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supernoded.parts import Source
from supernoded.plugin import Reading, State
from supernoded.quantities import find_fault
from supernoded_fabric.mlxlink import read_port
from supernoded_fabric.recorded_tools import read_mlxlink

P = "n0/nic/mlx5_0/port1"
LINK = {"State": "Active", "Physical state": "LinkUp", "Speed": "IB-HDR", "Width": "2x", "FEC": "RS-FEC - (544,514)"}
COUNTERS = {
    "Symbol Errors": "0",
    "Symbol BER": "15E-255",
    "Effective Physical Errors": "3",
    "Effective Physical BER": "2E-13",
    "Raw Physical Errors Per Lane": "100,300",
    "Raw Physical BER": "1E-8",
    "Link Down Counter": "2",
    "Link Error Recovery Counter": "1",
}
MODULE = {
    "Identifier": "QSFP56",
    "Temperature [C]": "54 [-5..75]",
    "Voltage [mV]": "3261.2 [2970..3630]",
    "Bias Current [mA]": "8.4,9.1 [2..15]",
    "Rx Power Current [dBm]": "0,-10 [-10.41..6]",
    "Tx Power Current [dBm]": "1.5,1.4 [-8.5..5]",
    "Rx LOS [per lane]": "0,1",
}


def replay(text: str, name: str = "mlx5_0.txt") -> dict[tuple[str, str], Reading]:
    found = list(read_mlxlink(Source(name=name, data=text.encode(), at=7.0)))
    assert all(find_fault(reading) is None for reading in found if reading.state is State.GOOD)
    return {(reading.subject.removeprefix(P).lstrip("/"), reading.quantity): reading for reading in found}


def write(*sections: dict[str, str]) -> str:
    return "".join(
        f"\nSome Info\n---------\n{''.join(f'{name:<32}: {value}' + chr(10) for name, value in rows.items())}" for rows in sections
    )


def test_a_healthy_port_in_text_and_json() -> None:
    text = replay(write(LINK, COUNTERS, MODULE))
    sections = {"Operational Info": LINK, "Physical Counters and BER Info": COUNTERS, "Module Info": MODULE}
    lists = {
        title: {
            name: value.split(",") if "," in value and "[" not in value + "[" * ("(" in value) else value for name, value in rows.items()
        }
        for title, rows in sections.items()
    }
    assert replay(json.dumps({"status": {"code": 0}, "result": {"output": lists}})) == text
    values = {key: reading.value for key, reading in text.items()}
    assert values["", "link.state"] == 1.0
    assert (values["", "link.speed"], values["", "link.width"]) == (100.0, 2.0)
    assert values["", "link.fec"] == "rs-fec - (544,514)"
    assert (values["", "link.ber.pre_fec"], values["", "link.ber.post_fec"]) == (1e-8, 2e-13)
    assert (values["", "link.effective_errors"], values["", "link.symbol_errors"]) == (3.0, 0.0)
    assert (values["", "link.downed"], values["", "link.recoveries"]) == (2.0, 1.0)
    assert (values["lane0", "link.fec.corrected"], values["lane1", "link.fec.corrected"], values["", "link.fec.corrected"]) == (
        100.0,
        300.0,
        400.0,
    )
    assert (values["", "link.present"], values["", "link.temperature"]) == (1.0, 54.0)
    assert values["", "link.voltage"] == pytest.approx(3.2612)
    assert values["", "link.bias"] == 9.1
    assert values["lane0", "link.rx_power"] == 1.0
    assert values["", "link.rx_power"] == pytest.approx(0.1)
    assert values["", "link.rx_power.low"] == pytest.approx(0.091, rel=1e-2)
    assert (values["", "link.los"], values["lane0", "link.los"]) == (frozenset({"rx-los"}), frozenset())


def test_none_seen_is_zero_and_what_is_missing_is_fine() -> None:
    found = replay('State : Active\nSymbol BER : 15E-255\nRaw Physical BER : 15E-238\n\n-E- "--show_eye" option is not supported for HCA\n')
    assert {key: reading.value for key, reading in found.items()} == {
        ("", "link.state"): 1.0,
        ("", "link.enabled"): 1.0,
        ("", "link.ber.pre_fec"): 0.0,
        ("", "link.ber.post_fec"): 0.0,
    }


def test_what_is_not_told_is_unknown() -> None:
    found = replay(write(dict.fromkeys((*LINK, *COUNTERS), "N/A"), {"Identifier": "N/A"}))
    assert {reading.state for reading in found.values()} == {State.UNKNOWN}
    assert all(reading.note for reading in found.values())


@pytest.mark.parametrize(
    ("rows", "rate", "words"),
    [
        ({"Raw Physical BER": "15E-255", "Raw Physical BER Per Lane": "3E-6,1E-7"}, 3e-6, "3e-06 on its worst lane"),
        ({"raw-ber": "15E-255", "raw-ber lane 0": "1E-7", "raw-ber lane 1": "2E-6"}, 2e-6, "2e-06 on its worst lane"),
        ({"Raw Physical BER": "15E-255", "Raw Physical Errors Per Lane": "0,70"}, 0.0, "70 errors on a lane"),
        (
            {"Raw Physical BER": "15E-255", "Raw Physical Errors Per Lane": "0,60", "Speed": "200G", "Time Since Last Clear [Min]": "1"},
            1e-11,
            "60 errors on a lane",
        ),
    ],
)
def test_a_contradiction_is_told_and_the_worst_lane_counts(rows: dict[str, str], rate: float, words: str) -> None:
    reading = replay(write(rows))["", "link.ber.pre_fec"]
    assert reading.state is State.GOOD
    assert reading.value == pytest.approx(rate)
    assert reading.note.startswith("contradiction: 15E-255 of the port, but ")
    assert reading.note.endswith(words)


def test_lanes_that_agree_are_no_contradiction() -> None:
    reading = replay(write({"Raw Physical BER": "1E-7", "Raw Physical BER Per Lane": "2E-7,1E-9"}))["", "link.ber.pre_fec"]
    assert (reading.value, reading.note) == (2e-7, "")


@pytest.mark.parametrize(
    ("speed", "width", "value"),
    [("200G", "4x", 200.0), ("IB-NDR", "4x", 400.0), ("100G_2X", "2x", 100.0), ("IB-HDR", "N/A", None), ("x", "4x", None)],
)
def test_speeds(speed: str, width: str, value: float | None) -> None:
    assert replay(write({"Speed": speed, "Width": width}))["", "link.speed"].value == value


def test_a_port_that_is_down_without_a_cable() -> None:
    found = replay(write({"State": "Disable", "Physical state": "Disabled", "Recommendation": "Cable is unplugged"}, {"Identifier": "N/A"}))
    assert [found["", f"link.{name}"].value for name in ("state", "enabled", "present")] == [0.0, 0.0, 0.0]
    assert found["", "link.state"].note == "disable, Cable is unplugged"


def test_passive_copper_measures_nothing() -> None:
    rows = {name: "0,0 [0..0]" if "," in value else "0 [0..0]" for name, value in MODULE.items()} | {"Identifier": "OSFP"}
    assert {key: reading.value for key, reading in replay(write(rows)).items()} == {("", "link.present"): 1.0}


def test_several_devices_in_one_file() -> None:
    text = "$ sudo mlxlink -d mlx5_1 -c\nSymbol Errors : 1\n===== mlx5_2 FEC Counters =====\nSymbol Errors : 2\n"
    found = {reading.subject: reading.value for reading in read_mlxlink(Source(name="x", data=text.encode(), at=7.0))}
    assert found == {"n0/nic/mlx5_1/port1": 1.0, "n0/nic/mlx5_2/port1": 2.0}


NAMES = [*LINK, *COUNTERS, *MODULE, "Recommendation", "raw-ber lane 0", "Time Since Last Clear [Min]"]
TEXTS = st.one_of(
    st.sampled_from(["15E-255", "1e999", "-inf [nan..3]", "[..]", "0,,1", "N/A", "9" * 400, "4x", "IB-HDR"]), st.text(max_size=12)
)


@given(st.dictionaries(st.sampled_from(NAMES).map(str.lower), TEXTS))
def test_odd_rows_never_raise_nor_make_a_bad_reading(rows: dict[str, str]) -> None:
    for reading in read_port(rows, 7.0, P):
        assert (reading.value is None) == (reading.state is State.UNKNOWN)
        assert reading.note or reading.state is State.GOOD


@given(st.binary(max_size=300))
def test_garbage_never_raises(data: bytes) -> None:
    readings: Iterable[Reading] = read_mlxlink(Source(name="x", data=data, at=7.0))
    assert {reading.at for reading in readings} <= {7.0}


def test_recorded_ports(recordings: Path) -> None:
    text = (recordings / "ib" / "mlxlink_show_counters_a100_hdr.txt").read_text()
    found = {(reading.subject, reading.quantity): reading for reading in read_mlxlink(Source(name="x", data=text.encode(), at=7.0))}
    assert {reading.state for reading in found.values()} == {State.GOOD}
    assert {reading.note for reading in found.values()} == {""}
    assert found["n0/nic/unnamed/port1", "link.width"].value == 2.0
    assert [found[f"n0/nic/mlx5_{number}/port1", "link.ber.post_fec"].value for number in (0, 3)] == [0.0, 0.0]
    assert found["n0/nic/mlx5_3/port1", "link.ber.pre_fec"].value == 1e-7
    assert found["n0/nic/mlx5_5/port1/lane1", "link.fec.corrected"].value == 15682171.0


def test_a_recorded_document(recordings: Path) -> None:
    data = (recordings / "ib" / "mlxlink_json_sample.json").read_bytes()
    found = {
        reading.quantity: reading.value for reading in read_mlxlink(Source(name="x", data=data, at=7.0)) if "lane" not in reading.subject
    }
    assert (found["link.speed"], found["link.ber.pre_fec"], found["link.ber.post_fec"]) == (200.0, 1e-6, 1e-13)
