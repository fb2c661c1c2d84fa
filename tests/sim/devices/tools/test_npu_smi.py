"""What is printed is read back by expressions written from the shape of the vendor's outputs."""

import math
import re
from pathlib import Path

import pytest

from sim_hardware.devices.tools import ToolState, run_tool
from sim_hardware.plant.cards.orders import FallOff, HangCard, RaiseCode, StormEcc
from sim_hardware.plant.words import Value
from tests.sim.devices.tools.desks import Desk

FIRST = re.compile(r"^\| (\d+) +(\S+) +\| (\S+) +\| (\S+) +(\S+) +(\d+) +/ (\d+) +\|$")
SECOND = re.compile(r"^\| (\d+) +(\d+) +\| ([0-9A-F]{4}:[0-9A-F]{2}:00\.0) +\| (\S+) +(\d+) +/ (\d+) +(\S+) *\/ (\S+) +\|$")
ROW = re.compile(r"^\t(.{31}): (.*)$")


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.play(5.0)
    return desk


def ask(desk: Desk, *argv: str) -> str:
    run = run_tool("npu-smi", argv, desk, "n0", ToolState())
    assert (run.rc, run.err) == (0, "")
    assert 0.0 < run.seconds < 2.0
    return run.out


def read_rows(text: str) -> dict[str, str]:
    found = [match for line in text.splitlines() if (match := ROW.match(line))]
    return {match[1].strip(): match[2] for match in found}


def test_the_table_has_two_rows_a_card_and_straight_edges(desk: Desk) -> None:
    text = ask(desk, "info")
    cards = [match.groups() for line in text.splitlines() if (match := FIRST.match(line))]
    chips = [match.groups() for line in text.splitlines() if (match := SECOND.match(line))]
    assert [card[0] for card in cards] == [chip[1] for chip in chips] == [str(slot) for slot in range(8)]
    assert {(card[1], card[2], card[4]) for card in cards} == {("Ascend950", "OK", "45")}
    assert all(float(card[3]) == pytest.approx(585.0, abs=15.0) for card in cards)
    assert all((chip[6], chip[7]) == ("64512", "98304") for chip in chips)
    assert len({chip[2] for chip in chips}) == 8
    assert {len(line) for line in text.splitlines()} == {98}
    assert text.count("python3") == 8


def test_a_card_off_its_bus_is_not_in_the_table_and_cannot_be_asked(desk: Desk) -> None:
    desk.order(FallOff("n0/card3", off=True))
    rows = [match[1] for line in ask(desk, "info").splitlines() if (match := FIRST.match(line))]
    assert rows == ["0", "1", "2", "4", "5", "6", "7"]
    run = run_tool("npu-smi", ("info", "-t", "health", "-i", "3"), desk, "n0", ToolState())
    assert (run.rc, "NPU 3" in run.out, "-8010" in run.out) == (1, True, True)


def test_a_hung_card_hangs_the_table_and_itself_but_not_others(desk: Desk) -> None:
    desk.order(HangCard("n0/card3", hung=True))
    for argv in (("info",), ("info", "-t", "temp", "-i", "3")):
        assert run_tool("npu-smi", argv, desk, "n0", ToolState()).seconds == math.inf
    assert read_rows(ask(desk, "info", "-t", "temp", "-i", "2"))["NPU Temperature (C)"] == "45"
    assert len(ask(desk, "info", "-m").splitlines()) == 9


def test_health_names_codes(desk: Desk) -> None:
    assert read_rows(ask(desk, "info", "-i", "0", "-c", "0", "-t", "health")) == {
        "Health Status": "OK",
        "Error Code": "NA",
        "Error Information": "NA",
    }
    desk.order(RaiseCode("n0/card0", "80E21007", present=True))
    desk.order(StormEcc("n0/card0", uncorrectable=2))
    rows = read_rows(ask(desk, "info", "-t", "health", "-i", "0"))
    assert (rows["Health Status"], rows["Error Code"]) == ("Alarm", "80E01801, 80E21007")
    assert "Alarm" in ask(desk, "info")


def test_properties_of_one_card(desk: Desk) -> None:
    desk.order(StormEcc("n0/card1", uncorrectable=4))
    ecc = read_rows(ask(desk, "info", "-t", "ecc", "-i", "1"))
    assert (ecc["HBM Single Bit Error Count"], ecc["HBM Double Bit Error Count"], ecc["NPU ID"]) == ("0", "4", "1")
    usages = read_rows(ask(desk, "info", "-t", "usages", "-i", "1"))
    assert (usages["HBM Capacity(MB)"], usages["HBM Usage Rate(%)"]) == ("98304", "66")
    assert 90 <= int(usages["Aicore Usage Rate(%)"]) <= 100
    board = read_rows(ask(desk, "info", "-t", "board", "-i", "1"))
    assert (board["Serial Number"], board["Slot ID"]) == ("SN00001", "1")
    assert re.fullmatch(r"\d+\.\d", read_rows(ask(desk, "info", "-t", "power", "-i", "1"))["Power Dissipation(W)"])
    assert re.fullmatch(r"npu-smi version: \S+\n", ask(desk, "-v"))


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf, 1e300, "hot", frozenset({"x"})])
def test_what_cannot_be_read_is_shown_as_missing(desk: Desk, value: Value) -> None:
    for quantity in ("card.temperature", "card.power", "card.memory_used", "card.memory_total", "card.utilisation", "card.ecc_corrected"):
        desk.values["n0/card0", quantity] = value
    first = next(match for line in ask(desk, "info").splitlines() if (match := FIRST.match(line)))
    assert first.group(4, 5) == ("-", "-")
    assert read_rows(ask(desk, "info", "-t", "temp", "-i", "0"))["NPU Temperature (C)"] == "NA"
    assert read_rows(ask(desk, "info", "-t", "usages", "-i", "0"))["HBM Usage Rate(%)"] == "NA"
    assert read_rows(ask(desk, "info", "-t", "ecc", "-i", "0"))["HBM Single Bit Error Count"] == "NA"


@pytest.mark.parametrize("health", [None, math.nan, "OK"])
def test_health_that_cannot_be_read_is_not_well(desk: Desk, health: Value) -> None:
    desk.values["n0/card0", "card.health"] = health
    assert read_rows(ask(desk, "info", "-t", "health", "-i", "0"))["Health Status"] == "NA"


@pytest.mark.parametrize(
    "argv",
    [
        (),
        ("--help",),
        ("info", "-t"),
        ("info", "-t", "colour", "-i", "0"),
        ("info", "-t", "ecc", "-i", "8"),
        ("info", "-t", "ecc"),
        ("set",),
    ],
)
def test_wrong_arguments_end_with_1_and_the_usage(desk: Desk, argv: tuple[str, ...]) -> None:
    run = run_tool("npu-smi", argv, desk, "n0", ToolState())
    assert (run.rc, "Usage: npu-smi" in run.out) == (1, True)


def test_a_reset_takes_the_card_away_for_8_s(desk: Desk) -> None:
    desk.order(HangCard("n0/card2", hung=True))
    assert read_rows(ask(desk, "set", "-t", "reset", "-i", "2", "-c", "0"))["Status"] == "OK"
    assert run_tool("npu-smi", ("info", "-t", "power", "-i", "2"), desk, "n0", ToolState()).rc == 1
    again = run_tool("npu-smi", ("set", "-t", "reset", "-i", "2"), desk, "n0", ToolState())
    assert (again.rc, "Failed to reset NPU 2" in again.out) == (1, True)
    desk.play(8.0)
    assert read_rows(ask(desk, "info", "-t", "power", "-i", "2"))["Chip ID"] == "0"


def test_structure_is_that_of_recordings(desk: Desk, recordings: Path) -> None:
    table = (recordings / "ascend" / "npu_smi_info_A3_25.3.rc1_excerpt.txt").read_text().splitlines()
    ours = ask(desk, "info").splitlines()
    assert [len(line) for line in ours[:7]] == [len(line) for line in table[:7]]
    assert [line for line in ours[:7] if "|" not in line] == [line for line in table[:7] if "|" not in line]
    for mine, theirs in zip(ours[3:5], table[3:5], strict=True):
        assert [place for place, sign in enumerate(mine) if sign == "|"] == [place for place, sign in enumerate(theirs) if sign == "|"]
        assert mine.split() == theirs.split()
    assert all(FIRST.match(line) or SECOND.match(line) for line in table[6:8])

    dump = (recordings / "ascend" / "npu_info_before__faults.txt").read_text()
    for title, argv in (
        ("-t usages", ("info", "-i", "0", "-t", "usages")),
        ("-c 0 -t health", ("info", "-i", "0", "-c", "0", "-t", "health")),
    ):
        theirs_rows = read_rows(dump.partition(f"npu-smi info -i 0 {title}\n")[2].partition("\n/usr")[0])
        assert read_rows(ask(desk, *argv)).keys() <= theirs_rows.keys()
        assert len(theirs_rows) >= 3
