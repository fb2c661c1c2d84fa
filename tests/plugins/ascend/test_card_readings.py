"""What is said of a card."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from supernoded.plugin import Reading, State
from supernoded.quantities import find_fault
from supernoded_ascend.card_readings import (
    parse_board,
    parse_ecc,
    parse_health,
    read_chip,
    read_health,
)
from supernoded_ascend.npu_table import Chip

CARD = "n0/card3"
VALUES = {
    "health": "OK",
    "power(w)": "166.6",
    "temp(c)": "37",
    "aicore(%)": "12",
    "memory-usage(mb)": "0    / 0",
    "hbm-usage(mb)": "58072/ 65536",
}


def read(**changes: str) -> dict[str, Reading]:
    values = VALUES | {"power(w)" if name == "power" else name.replace("__", "-"): text for name, text in changes.items()}
    return {reading.quantity: reading for reading in read_chip(Chip(3, 0, "Ascend910", values), 7.0, CARD)}


def test_a_healthy_card() -> None:
    found = read()
    assert {name: reading.value for name, reading in found.items()} == {
        "card.present": 1.0,
        "card.health": frozenset(),
        "card.chip": "ascend910",
        "card.power": 166.6,
        "card.temperature": 37.0,
        "card.utilisation": 12.0,
        "card.memory_used": 58072 * 2.0**20,
        "card.memory_total": 2.0**36,
    }
    assert all(find_fault(reading) is None for reading in found.values())


@pytest.mark.parametrize("text", ["-", "NA", "", "0.0"])
def test_power_that_is_not_measured_is_not_0(text: str) -> None:
    assert (read(power=text)["card.power"].value, read(power=text)["card.power"].state) == (None, State.UNKNOWN)
    assert read(power=text)["card.temperature"].value == 37.0


def test_a_module_without_hbm_has_its_other_memory() -> None:
    values = {name: text for name, text in VALUES.items() if name != "hbm-usage(mb)"} | {"memory-usage(mb)": "3628 / 15609"}
    found = {reading.quantity: reading.value for reading in read_chip(Chip(0, 0, "310B4", values), 7.0, CARD)}
    assert (found["card.memory_used"], found["card.memory_total"]) == (3628 * 2.0**20, 15609 * 2.0**20)


@pytest.mark.parametrize(
    ("word", "codes", "flags"),
    [
        ("OK", "", frozenset()),
        ("OK", "NA", frozenset()),
        ("Alarm", "", frozenset({"alarm"})),
        ("Warning", "NA", frozenset({"warning"})),
        ("Critical", "-", frozenset({"critical"})),
        ("Alarm", "A4025021, 8c03a000", frozenset({"A4025021", "8C03A000"})),
        ("OK", "0x8C084E00", frozenset({"8C084E00"})),
        ("Alarm", "many", frozenset({"alarm"})),
        ("OK", "many", None),
        ("UNKNOWN", "", None),
        ("NA", "NA", None),
        ("", "", None),
        ("OKAY", "", None),
    ],
)
def test_health(word: str, codes: str, flags: frozenset[str] | None) -> None:
    value, note = read_health(word, codes)
    assert value == flags
    assert note or value is not None


def test_codes_over_several_lines() -> None:
    text = """
\tHealth Status                  : Alarm
\tError Code                     : A4025021 8C03A000
\t                                 8C084E00
\tError Information              : memory is not what it was, event 12345678
\tand so on, 87654321
"""
    (reading,) = parse_health(text, 7.0, CARD)
    assert reading.value == frozenset({"A4025021", "8C03A000", "8C084E00"})
    assert reading.note == "memory is not what it was, event 12345678"


def test_errors_of_all_memories_are_added() -> None:
    text = """
\tNPU ID                         : 3
\tDDR Single Bit Error Count     : 1
\tDDR Double Bit Error Count     : 0
\tHBM Single Bit Error Count     : 40
\tHBM Double Bit Error Count     : 2
\tHBM Single Bit Aggregate Total Err Cnt : 900
"""
    assert [(one.quantity, one.value) for one in parse_ecc(text, 7.0, CARD)] == [
        ("card.errors_corrected", 41.0),
        ("card.errors_uncorrected", 2.0),
    ]
    blind = parse_ecc(text.replace(": 40", ": NA").replace(": 1\n", ": NA\n"), 7.0, CARD)
    assert (blind[0].state, blind[0].note) == (State.UNKNOWN, "the tool prints 'NA, NA'")
    assert {one.state for one in parse_ecc("", 7.0, CARD)} == {State.UNKNOWN}


@pytest.mark.parametrize(
    ("text", "serial"), [("\tSerial Number : 2102SIM\n", "2102SIM"), ("Serial Number: NA", None), ("Board ID : 0x02", None)]
)
def test_serial(text: str, serial: str | None) -> None:
    (reading,) = parse_board(text, 7.0, CARD)
    assert (reading.quantity, reading.value) == ("card.serial", serial)
    assert bool(reading.note) == (serial is None)


def test_every_published_code_is_one(recordings: Path) -> None:
    levels = msgspec.json.decode((recordings / "ascend" / "mindcluster_faultCode.json").read_bytes(), type=dict[str, object])
    codes = [code for listed in levels.values() if isinstance(listed, list) for code in listed if isinstance(code, str)]
    assert len(codes) > 200
    for code in codes:
        assert read_health("Alarm", code.strip()) == (frozenset({code.strip().upper()}), "")
