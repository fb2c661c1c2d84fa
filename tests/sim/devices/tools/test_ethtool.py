"""What `ethtool` prints of an interface, read back by expressions of its own shape."""

import json
import re
from pathlib import Path

import pytest

from sim_hardware.devices.tools import Run, ToolState, run_tool
from tests.sim.devices.tools.desks import Desk

PORT = "n0/card0/port0"  # eth1
COUNTER = re.compile(r"^     (\w+): (\d+)$")
ROW = re.compile(r"^\t(.{41}) : (.+)$")


def run(desk: Desk, *argv: str) -> Run:
    return run_tool("ethtool", argv, desk, "n0", ToolState())


def read_counters(text: str) -> dict[str, int]:
    head, *lines = text.splitlines()
    assert head == "NIC statistics:"
    return {found[1]: int(found[2]) for line in lines if (found := COUNTER.match(line))}


def read_page(text: str) -> dict[str, str]:
    return {found[1].strip(): found[2] for line in text.splitlines() if (found := ROW.match(line))}


def test_counters_are_the_plants() -> None:
    desk = Desk()
    desk.values |= {(PORT, f"link.fec.corrected.lane{lane}"): 10.0 + lane for lane in range(4)}
    desk.values |= {(PORT, "link.fec.corrected"): 46.0, (PORT, "link.symbol_errors"): 2.0, (PORT, "link.downed"): 3.0}
    counters = read_counters(run(desk, "-S", "eth1").out)
    assert [counters[f"rx_err_lane_{lane}_phy"] for lane in range(4)] == [10, 11, 12, 13]
    assert (counters["rx_corrected_bits_phy"], counters["rx_pcs_symbol_err_phy"], counters["link_down_events_phy"]) == (46, 2, 3)
    assert (counters["rx_prio4_pause"], counters["tx_prio4_pause"], counters["rx_bytes_phy"]) == (6, 5, 10**12)
    assert run(desk, "--json", "-S", "eth1").out == run(desk, "-S", "eth1").out  # a driver's own counters have no JSON


def test_a_counter_that_cannot_be_read_is_missing() -> None:
    desk = Desk()
    desk.values[PORT, "link.downed"] = float("nan")
    assert "link_down_events_phy" not in read_counters(run(desk, "-S", "eth1").out)


def test_fec_as_text_and_as_json() -> None:
    desk = Desk()
    desk.values |= {(PORT, f"link.fec.corrected.lane{lane}"): 5.0 for lane in range(4)} | {(PORT, "link.fec.uncorrected"): 7.0}
    text = run(desk, "--show-fec", "eth1").out
    assert ("Active FEC encoding: RS\n" in text, "Statistics" in text) == (True, False)
    assert "  corrected_bits: 20\n    Lane 0: 5\n" in run(desk, "-I", "--show-fec", "eth1").out
    (page,) = json.loads(run(desk, "--json", "-I", "--show-fec", "eth1").out)
    assert (page["ifname"], page["active"], page["statistics"]["uncorrectable_blocks"]) == ("eth1", ["RS"], {"total": 7})
    desk.values[PORT, "link.fec.mode"] = "none"
    assert json.loads(run(desk, "--json", "--show-fec", "eth1").out)[0] == {"ifname": "eth1", "config": ["Auto", "RS"], "active": ["Off"]}


def test_the_modules_page_shows_lanes_and_limits() -> None:
    page = read_page(run(Desk(), "-m", "eth1").out)
    assert page["Module temperature"] == "44.00 degrees C / 111.20 degrees F"
    assert (page["Rcvr signal avg optical power(Channel 2)"], page["Laser tx bias current (Channel 4)"]) == (
        "0.0312 mW / -15.06 dBm",
        "7.500 mA",
    )
    assert (page["Laser rx power low alarm threshold"], page["Rx loss of signal"]) == ("0.1445 mW / -8.40 dBm", "None")


def test_without_a_module_there_is_no_page() -> None:
    desk = Desk()
    desk.values[PORT, "link.present"] = 0.0
    assert run(desk, "-m", "eth1")[:3] == (1, "", "netlink error: Input/output error\n")


@pytest.mark.parametrize(
    "argv", [(), ("-S",), ("-x", "eth1"), ("-S", "lo"), ("-S", "eth99"), ("--json", "-m", "eth1"), ("-S", "eth1", "eth2")]
)
def test_what_it_does_not_take_ends_with_1(argv: tuple[str, ...]) -> None:
    result = run(Desk(), *argv)
    assert (result.rc, result.out, bool(result.err)) == (1, "", True)


def test_names_are_those_of_a_recording(recordings: Path) -> None:
    theirs = set(read_counters("NIC statistics:\n" + (recordings / "ib" / "ethtool_S_mlx5_fec.txt").read_text()))
    desk = Desk()
    desk.values |= {(PORT, f"link.fec.corrected.lane{lane}"): 0.0 for lane in range(4)}
    desk.values |= {(PORT, f"link.{name}"): 0.0 for name in ("fec.corrected", "symbol_errors", "downed")}
    ours = set(read_counters(run(desk, "-S", "eth1").out))
    assert theirs - ours == {"rx_buffer_passed_thres_phy"}
