"""The two sensors over programs, the replay format, and that nothing clears a log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import supernoded_ipmi
from supernoded.model import Level
from supernoded.parts import Source
from supernoded.plugin import NODE, Node, PluginError, WireError
from supernoded.testing import Answer, MemoryWires
from supernoded_ipmi.settings import IpmiSettings
from supernoded_power.supply_lost import SupplyLostRule
from tests.plugins.power.site import START, Bench

SENSORS, LOG = ("ipmi-sensors", "--comma-separated-output"), ("ipmitool", "sel", "list")
BOTH = IpmiSettings(ipmi_sensors=SENSORS, ipmitool_sel=LOG)
LINES = "1,PWR_PSU0,Power Supply,310.00,W,'OK'\n2,STATUS_PSU0,Power Supply,N/A,N/A,'Presence detected'\n"
ENTRY = " 1 | 03/04/2026 | 10:00:00 | Fan #0x30 | Lower Critical going low | Asserted\n"


def play(wires: MemoryWires, argv: tuple[str, ...], out: str, code: int = 0, *, cut: bool = False) -> None:
    wires.command(argv).answer = lambda _: Answer(code, out, "", truncated=cut)


async def test_both_tools_are_asked_with_their_own_arguments_and_no_order_is_given(
    supernoded_node: Node, supernoded_wires: MemoryWires
) -> None:
    supernoded_wires.refusals[NODE] = "nothing is written here"
    play(supernoded_wires, SENSORS, LINES)
    play(supernoded_wires, LOG, ENTRY)
    supplies, log = supernoded_ipmi.supernoded_sensors(BOTH, supernoded_node)
    assert {one.quantity: one.value for one in await supplies.read()} == {"psu.power": 310.0, "psu.present": 1.0, "psu.state": "ok"}
    assert [one.value for one in await log.read()] == [frozenset({"Fan #0x30: Lower Critical going low"})]
    assert [supernoded_wires.command(argv).runs for argv in (SENSORS, LOG)] == [[()], [()]]
    assert {(one.scope, one.period, one.timeout) for one in (supplies, log)} == {(NODE, 30.0, 22.0)}


async def test_a_tool_that_fails_or_prints_half_is_no_reading(supernoded_node: Node, supernoded_wires: MemoryWires) -> None:
    supplies, log = supernoded_ipmi.supernoded_sensors(BOTH, supernoded_node)
    play(supernoded_wires, SENSORS, "ipmi_open: driver timeout", 1)
    with pytest.raises(WireError, match="ended with code 1 and said 'ipmi_open: driver timeout'"):
        await supplies.read()
    play(supernoded_wires, SENSORS, LINES, cut=True)
    with pytest.raises(WireError, match="no end"):
        await supplies.read()
    play(supernoded_wires, LOG, ENTRY, cut=True)
    assert [one.value for one in await log.read()] == [None]


def test_nothing_is_asked_as_delivered(supernoded_node: Node) -> None:
    assert supernoded_ipmi.supernoded_settings() is IpmiSettings
    assert supernoded_ipmi.supernoded_sensors(IpmiSettings(), supernoded_node) == []


@pytest.mark.parametrize(
    "argv",
    [("ipmitool", "sel", "clear"), ("ipmi-sel", "--clear"), ("ipmi-sel", "--post-clear"), ("sh", "-c", "ipmitool sel delete 1")],
)
@pytest.mark.parametrize("key", ["ipmi_sensors", "ipmitool_sel"])
def test_a_command_that_removes_entries_is_refused(key: str, argv: tuple[str, ...], supernoded_node: Node) -> None:
    told: dict[str, Any] = {key: argv}
    with pytest.raises(PluginError, match=f"{key}: .* would remove entries of the event log"):
        supernoded_ipmi.supernoded_sensors(IpmiSettings(**told), supernoded_node)


def test_one_file_may_hold_both() -> None:
    read = supernoded_ipmi.supernoded_formats()["ipmi-sensors"]
    found = list(read(Source(name="x", data=f"{LINES}# ipmitool sel list\n{ENTRY}\xff".encode("latin-1"), at=7.0)))
    assert [(one.subject, one.quantity) for one in found] == [
        ("n0/psu0", "psu.power"),
        ("n0/psu0", "psu.present"),
        ("n0/psu0", "psu.state"),
        ("n0", "sel.standing"),
    ]
    assert {one.at for one in found} == {7.0}
    assert len(list(read(Source(name="x", data=LINES.encode(), at=7.0)))) == 3


def test_a_recorded_node_whose_supply_is_there_and_gives_nothing(recordings: Path) -> None:
    """Fleet row 17: one trouble, a warning, and what has recovered does not stand."""
    data = (recordings / "power" / "gcm_ipmi_sensors_lines.txt").read_bytes()
    read, bench = supernoded_ipmi.supernoded_formats()["ipmi-sensors"], Bench(SupplyLostRule(), fresh_for=60.0)
    first, second = (list(read(Source(name="x", data=data, at=START + at))) for at in (0.0, 30.0))
    values = {(one.subject, one.quantity): one.value for one in first}
    assert (values["n0/psu0", "psu.power"], values["n0/psu0", "psu.present"], values["n0/psu0", "psu.state"]) == (0.0, 1.0, "low")
    assert (values["n0/psu1", "psu.power"], values["n0", "psu.redundancy"]) == (780.0, "lost")
    assert values["n0", "sel.standing"] == frozenset({"Voltage #0x4d: Upper Non-critical going high"})
    assert bench.tell(first)["n0"].level is Level.UNSURE
    verdicts = bench.tell(second)
    assert list(verdicts) == ["n0"]
    assert (verdicts["n0"].level, verdicts["n0"].severity.value) == (Level.RAISED, "warning")
    assert verdicts["n0"].text == (
        "n0/psu0: present and gives 0 W, at or below its lower critical threshold: its feed may be lost; "
        "n0 runs on psu1 alone (780 W), redundancy is lost"
    )
