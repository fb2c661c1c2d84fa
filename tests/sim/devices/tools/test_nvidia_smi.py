"""What is printed is read back by expressions and a parser written from the shape of the vendor's outputs."""

import math
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from sim_hardware.devices.tools import Run, ToolState, run_tool
from sim_hardware.plant.cards.orders import BrakePower, CapCard, FallOff, HangCard, StormEcc
from tests.sim.devices.tools.desks import Desk

GPU = re.compile(r"^GPU (\d+): (.+) \(UUID: (GPU-[0-9a-f-]{36})\)$")
LINK = re.compile(r"^\t Link (\d+): (\S+)(?: GB/s)?$")


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.play(5.0)
    return desk


def run(desk: Desk, *argv: str) -> Run:
    return run_tool("nvidia-smi", argv, desk, "n0", ToolState())


def test_query_gives_a_row_a_gpu(desk: Desk) -> None:
    result = run(desk, "--query-gpu=index,power.draw,memory.total,ecc.errors.corrected.volatile.total", "--format=csv")
    head, *rows = result.out.splitlines()
    assert head == "index, power.draw [W], memory.total [MiB], ecc.errors.corrected.volatile.total"
    assert [row.split(", ")[0] for row in rows] == [str(slot) for slot in range(8)]
    assert re.fullmatch(r"0, 5\d\d\.\d\d W, 98304 MiB, 0", rows[0])
    bare = run(desk, "--query-gpu=power.draw", "--format=csv,noheader,nounits", "-i", "3")
    assert re.fullmatch(r"5\d\d\.\d\d\n", bare.out)
    desk.values["n0/card3", "card.power"] = math.nan
    assert run(desk, "--query-gpu=power.draw", "--format=csv,noheader", "-i", "3").out == "[N/A]\n"


def test_document_can_be_parsed_and_says_what_was_done(desk: Desk) -> None:
    for order in (CapCard("n0/card1", 300.0), BrakePower("n0/card2", on=True), StormEcc("n0/card1", uncorrectable=3)):
        desk.order(order)
    desk.play(1.0)
    root = ET.fromstring(run(desk, "-q", "-x").out)  # noqa: S314 -- our own text
    gpus = root.findall("gpu")
    assert (root.findtext("attached_gpus"), len(gpus)) == ("8", 8)
    assert gpus[1].findtext("gpu_power_readings/current_power_limit") == "300.00 W"
    assert gpus[1].findtext("ecc_errors/volatile/dram_uncorrectable") == "3"
    assert [gpu.findtext("clocks_event_reasons/clocks_event_reason_sw_power_cap") for gpu in gpus[:3]] == [
        "Not Active",
        "Active",
        "Not Active",
    ]
    assert gpus[2].findtext("clocks_event_reasons/clocks_event_reason_hw_power_brake_slowdown") == "Active"
    assert gpus[0].findtext("serial") == "SN00000"
    assert gpus[2].findtext("clocks/sm_clock") == "540 MHz"


def test_table_has_straight_edges(desk: Desk) -> None:
    lines = run(desk).out.splitlines()
    assert {len(line) for line in lines[1:]} == {91}
    assert len([line for line in lines if "Default" in line]) == 8


def test_a_gpu_off_the_bus_takes_the_whole_table(desk: Desk) -> None:
    desk.order(FallOff("n0/card3", off=True))
    for argv in ((), ("-q", "-x"), ("-i", "3")):
        result = run(desk, *argv)
        assert (result.rc, result.out.splitlines()) == (
            15,
            ["Unable to determine the device handle for GPU 0000:1A:00.0: GPU is lost. Reboot the system to recover this GPU"],
        )
    assert run(desk, "--query-gpu=index", "--format=csv,noheader", "-i", "2").out == "2\n"


def test_a_hung_gpu_hangs_what_asks_it(desk: Desk) -> None:
    desk.order(HangCard("n0/card3", hung=True))
    assert (run(desk).seconds, run(desk, "-i", "2").rc) == (math.inf, 0)


def test_links_by_gpu(desk: Desk) -> None:
    desk.values |= {("n0/card0/port1", "link.state"): 0.0, ("n0/card1/port0", "link.state"): 0.0, ("n0/card1/port1", "link.state"): 0.0}
    lines = run(desk, "nvlink", "-s").out.splitlines()
    assert [match[1] for line in lines if (match := GPU.match(line))] == [str(slot) for slot in range(8)]
    assert [match[2] for line in lines[1:3] if (match := LINK.match(line))] == ["25", "<inactive>"]
    assert lines[4] == "NVML: Unable to retrieve NVLink information as all links are inActive"


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("--query-gpu=colour", "--format=csv"), 'Field "colour" is not a valid field'),
        (("--query-gpu=index", "--format=json"), '"--format=json" is not a valid format'),
        (("--query-gpu=index",), "is not a valid format"),
        (("-i", "8"), "-i 8"),
        (("-q",), "-q"),
        (("--fast",), "--fast"),
    ],
)
def test_wrong_arguments_end_with_2_and_say_which(desk: Desk, argv: tuple[str, ...], words: str) -> None:
    result = run(desk, *argv)
    assert (result.rc, words in result.out) == (2, True)


def test_structure_is_that_of_recordings(desk: Desk, recordings: Path) -> None:
    theirs = (recordings / "nvidia" / "azure_good_nvlink_status.txt").read_text().splitlines()
    for line, expression in zip(theirs[:3], (GPU, LINK, LINK), strict=True):
        assert expression.match(line)
    faults = (recordings / "nvidia" / "nvidia_smi_fault_lines.txt").read_text().splitlines()
    desk.order(FallOff("n0/card3", off=True))
    assert re.sub(r"GPU [0-9A-F:.]+\d:", "GPU:", run(desk).out.strip()) in {re.sub(r"GPU [0-9A-F:.]+\d:", "GPU:", line) for line in faults}
