"""What is printed is read back by expressions written from the shape of the vendor's outputs."""

import math
import re
from pathlib import Path

import pytest

from sim_hardware.devices.tools import Run, ToolState, run_tool
from sim_hardware.plant.cards.orders import FallOff, HangCard
from tests.sim.devices.tools.desks import Desk

OPTICAL = re.compile(r"^([^:]{21}): (.+)$")
COUNTER = re.compile(r"^([a-z0-9_]+):(\d+)$")
RECORD = re.compile(r"^\[devid (\d)\]    ([A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})    LINK (UP|DOWN)$")


def run(desk: Desk, *argv: str) -> Run:
    return run_tool("hccn_tool", argv, desk, "n0", ToolState())


def ask(desk: Desk, kind: str, slot: int = 0) -> str:
    result = run(desk, "-i", f"{slot}", f"-{kind}", "-g")
    assert (result.rc, result.err) == (0, "")
    return result.out


def read_page(text: str) -> dict[str, str]:
    head, *lines = text.splitlines()
    assert head == "optical info:"
    return {match[1].strip(): match[2] for line in lines if (match := OPTICAL.match(line))}


def test_link() -> None:
    desk = Desk()
    assert ask(desk, "link") == "link status: UP\n"
    desk.values["n0/card0/port0", "link.state"] = 0.0
    assert (ask(desk, "link"), ask(desk, "link", 1)) == ("link status: DOWN\n", "link status: UP\n")
    assert run(desk, "-i", "0", "-port", "1", "-link", "-g").out == "link status: UP\n"
    desk.values["n0/card0/port0", "link.state"] = math.nan
    assert ask(desk, "link") == ""


def test_link_records_come_newest_first() -> None:
    lines = ask(Desk(), "link_stat", 3).splitlines()
    assert lines[1:3] == ["[devid 3]link up count       : 3", "[devid 3]link down count     : 2"]
    records = [match.group(1, 2, 3) for line in lines if (match := RECORD.match(line))]
    assert records == [("3", "Thu Jan  1 00:00:11 2026", "UP"), ("3", "Thu Jan  1 00:00:10 2026", "DOWN")]


def test_of_two_records_at_one_time_the_later_comes_first() -> None:
    desk = Desk()
    desk.values["n0/card0/port0", "link.flaps"] = '[[0.0, "UP"], [5.0, "DOWN"], [5.0, "UP"], [5.0, "DOWN"]]'
    words = [match[3] for line in ask(desk, "link_stat").splitlines() if (match := RECORD.match(line))]
    assert words == ["DOWN", "UP", "DOWN", "UP"]


def test_counters() -> None:
    head, *lines = ask(Desk(), "stat").splitlines()
    counters = {match[1]: int(match[2]) for line in lines if (match := COUNTER.match(line))}
    assert (head, len(counters)) == ("packet statistics:", len(lines))
    assert counters["mac_rx_total_oct_num"] == 10**12
    assert (counters["mac_tx_pfc_pkt_num"], counters["mac_rx_pfc_pkt_num"], counters["roce_rx_cnp_pkt_num"]) == (5, 6, 7)


def test_optical_page_shows_lanes_limits_and_flags() -> None:
    desk = Desk()
    page = read_page(ask(desk, "optical"))
    assert (page["present"], page["temperature"], page["Vcc"]) == ("present", "44 C", "3301.20 mV")
    assert (page["Rx Power0"], page["Rx Power1"], page["Tx Power3"]) == ("0.9000 mW", "0.0312 mW", "1.2500 mW")
    assert page["Rx Los Flag"] == "0x0"
    desk.values["n0/card0/port0", "link.los"] = 1.0
    assert read_page(ask(desk, "optical"))["Rx Los Flag"] == "0xff"
    desk.values["n0/card0/port0", "link.present"] = 0.0
    assert read_page(ask(desk, "optical"))["present"] == "not present"
    desk.values["n0/card0/port0", "link.voltage"] = None
    assert read_page(ask(desk, "optical")) == {"present": "not present"}


@pytest.mark.parametrize("value", [None, math.nan, math.inf, "x"])
def test_optical_lines_that_cannot_be_read_are_missing(value: float | str | None) -> None:
    desk = Desk()
    for quantity in ("link.temperature", "link.tx_power", "link.bias", "link.present", "link.los", "link.flaps", "link.ups"):
        desk.values["n0/card0/port0", quantity] = value
    page = read_page(ask(desk, "optical"))
    assert page["present"] == "not present"
    assert not page.keys() & {"temperature", "Tx Power0", "Tx Bias2"}
    assert "LINK" not in ask(desk, "link_stat")


def test_the_rest() -> None:
    desk = Desk()
    desk.values["n0", "node.up_s"] = 1.0
    assert ask(desk, "net_health") == "net health status: Init\n"
    desk.values["n0", "node.up_s"] = 26.0
    assert ask(desk, "net_health") == "net health status: Success\n"
    assert (ask(desk, "fec"), ask(desk, "speed")) == ("fec mode: rs FEC mode\n", "Speed: 200000 Mb/s\n")
    assert ask(desk, "ip") == "ipaddr:10.20.0.3\nnetmask:255.255.255.0\n"
    assert "\tIfname: n0/card1/port1\n" in ask(desk, "lldp")
    desk.values |= {("n0/card0/port0", "link.state"): 0.0, ("n0/card0/port0", "link.ip"): "", ("n0/card0/port0", "link.fec.mode"): "none"}
    assert (ask(desk, "net_health"), ask(desk, "ip")) == ("net health status: Fault\n", "")
    assert ask(desk, "fec") == "fec mode: no FEC mode\n"


def test_a_hung_card_hangs_it_and_one_off_the_bus_is_an_error() -> None:
    desk = Desk()
    desk.order(HangCard("n0/card0", hung=True))
    desk.order(FallOff("n0/card1", off=True))
    assert run(desk, "-i", "0", "-link", "-g").seconds == math.inf
    gone = run(desk, "-i", "1", "-link", "-g")
    assert (gone.rc, gone.out, "device 1" in gone.err) == (1, "", True)


@pytest.mark.parametrize(
    "argv", [(), ("-i", "0", "-link"), ("-i", "8", "-link", "-g"), ("-i", "0", "-link", "-fec", "-g"), ("-i", "0", "-x", "-g")]
)
def test_wrong_arguments_end_with_1_and_the_usage(argv: tuple[str, ...]) -> None:
    result = run(Desk(), *argv)
    assert (result.rc, "usage: hccn_tool" in result.err) == (1, True)


def test_structure_is_that_of_recordings(recordings: Path) -> None:
    dump = (recordings / "ascend" / "npu_info_before__faults.txt").read_text()
    theirs = read_page(dump.partition("-i 0 -optical -g\n")[2].partition("\n\n")[0])
    ours = read_page(ask(Desk(), "optical"))
    assert ours.keys() <= theirs.keys()
    assert [name for name in theirs if name in ours] == list(ours)
    assert {name: value.split()[-1] for name, value in ours.items() if value[-1] in "CWVAB"}.items() <= {
        name: value.split()[-1] for name, value in theirs.items()
    }.items()
    records = dump.partition("-i 0 -link_stat -g\n")[2].partition("\n\n")[0].splitlines()
    assert [bool(RECORD.match(line)) for line in records] == [False, False, False, True, True, True]
    assert {line.partition(":")[0] for line in records[:3]} <= {line.partition(":")[0] for line in ask(Desk(), "link_stat").splitlines()}
    names = (recordings / "ascend" / "mindcluster_npu_0_details.csv").read_text().partition("\n")[0].split(",")
    assert len({line.partition(":")[0] for line in ask(Desk(), "stat").splitlines()} & set(names)) >= 15
