"""`mlxlink` of one port, as text and as JSON."""

import json
import re
from pathlib import Path

import pytest

from sim_hardware.devices.tools import Run, ToolState, run_tool
from sim_hardware.devices.tools.mlxlink import show_ber
from tests.sim.devices.tools.desks import Desk

PORT = "n0/card0/port0"  # mlx5_1
ROW = re.compile(r"^([^:]{35}): (.*)$")


def run(desk: Desk, *argv: str) -> Run:
    return run_tool("mlxlink", argv, desk, "n0", ToolState())


def read_rows(text: str) -> dict[str, str]:
    return {found[1].strip(): found[2] for line in text.splitlines() if (found := ROW.match(line))}


@pytest.mark.parametrize(
    ("rate", "shown"),
    [(0.0, "15E-255"), (1e-15, "15E-255"), (2.4e-9, "2E-9"), (9.96e-13, "1E-12"), (0.5, "5E-1"), (None, "N/A"), (float("nan"), "15E-255")],
)
def test_rates_have_one_digit_and_none_at_all_is_15e_255(rate: float | None, shown: str) -> None:
    assert show_ber(rate) == shown


def test_a_link_with_its_counters() -> None:
    desk = Desk()
    desk.values |= {(PORT, "link.ber.post_fec"): 3e-12, (PORT, "link.ber.pre_fec"): 1e-8, (PORT, "link.symbol_errors"): 12.0}
    desk.values |= {(PORT, f"link.fec.corrected.lane{lane}"): float(lane) for lane in range(4)}
    desk.values |= {(PORT, "link.width"): 4.0, (PORT, "link.phys_state"): "LinkUp", (PORT, "link.downed"): 2.0}
    rows = read_rows(run(desk, "-d", "mlx5_1", "-c").out)
    assert (rows["State"], rows["Speed"], rows["Width"], rows["Physical state"]) == ("Active", "200G", "4x", "LinkUp")
    assert (rows["Effective Physical BER"], rows["Raw Physical BER"], rows["Symbol Errors"]) == ("3E-12", "1E-8", "12")
    assert (rows["Raw Physical Errors Per Lane"], rows["Link Down Counter"]) == ("0,1,2,3", "2")
    assert "Module Info" not in run(desk, "-d", "mlx5_1", "-c").out


def test_json_says_the_same_as_text() -> None:
    desk = Desk()
    output = json.loads(run(desk, "-d", "mlx5_1", "-c", "-m", "--json").out)["result"]["output"]
    told = {name: value if isinstance(value, str) else ",".join(value) for rows in output.values() for name, value in rows.items()}
    assert told == read_rows(run(desk, "-d", "0000:61:00.0", "-c", "-m").out)
    assert output["Module Info"]["Rx Power Current [dBm]"] == "-0.458,-15.058,-0.458,-0.458 [-8.401..5.5]"
    assert output["Operational Info"]["FEC"] == "Standard_RS-FEC - (544,514)"


def test_a_port_that_is_off_and_one_without_a_module_say_why() -> None:
    desk = Desk()
    desk.values |= {(PORT, "link.state"): 0.0, (PORT, "link.phys_state"): "Disabled"}
    rows = read_rows(run(desk, "-d", "mlx5_1").out)
    assert (rows["State"], rows["Speed"], rows["Status Opcode"]) == ("Disable", "N/A", "1")
    desk.values |= {(PORT, "link.phys_state"): "Polling", (PORT, "link.present"): 0.0}
    rows = read_rows(run(desk, "-d", "mlx5_1", "-m").out)
    assert (rows["State"], rows["Status Opcode"], rows["Recommendation"]) == ("Polling", "1024", "Cable is unplugged")
    assert rows["Rx Power Current [dBm]"] == "N/A"


@pytest.mark.parametrize("argv", [(), ("-d", "mlx5_99"), ("-d", "mlx5_1", "--show_eye"), ("-d", "sda")])
def test_errors_are_told_on_a_line_of_their_own(argv: tuple[str, ...]) -> None:
    result = run(Desk(), *argv)
    assert (result.rc, "\n-E- " in result.out) == (1, True)


def test_the_rows_are_those_of_recordings(recordings: Path) -> None:
    theirs = json.loads((recordings / "ib" / "mlxlink_json_sample.json").read_text())["result"]["output"]
    ours = json.loads(run(Desk(), "-d", "mlx5_1", "-c", "-m", "--json").out)["result"]["output"]
    assert theirs.keys() <= ours.keys()
    assert all(rows.keys() <= ours[title].keys() for title, rows in theirs.items())
