"""The settings that simulated nodes' daemons get: taken by every plugin, and no tool that the node does not have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from sim_hardware.devices.tools import TOOLS
from sim_hardware.drives.plugins import Places
from sim_hardware.drives.settings import write_settings
from sim_hardware.rack import Rack, generate_rack
from sim_hardware.world import World
from supernoded.registry import discover

ASCEND = generate_rack(2, 8)
NODE = msgspec.structs.replace(ASCEND.sim.node, chip="NVIDIA SIM-96GB")
NVIDIA = msgspec.structs.replace(ASCEND, sim=msgspec.structs.replace(ASCEND.sim, node=NODE))


def read(rack: Rack, folder: Path, node: str = "n0", *, kernel: bool = True) -> dict[str, Any]:
    places = Places(folder, ("broker", 1883), "/sys/class", kernel=kernel, endpoints={f"{node}/bmc": "http://10.0.0.1:80"})
    table: dict[str, Any] = msgspec.toml.decode(write_settings(rack, node, places))
    return table


def list_programs(table: dict[str, Any]) -> set[str]:
    """First words of all settings that are a program and its arguments."""
    plugins = table["plugins"]
    keys = ("ethtool", "mlxlink", "lldp", "hccn_tool", "npu_smi", "nvidia_smi", "ring_check", "ring_latency")
    return {told[key][0] for told in plugins.values() for key in keys if told.get(key)}


@pytest.mark.parametrize("rack", [ASCEND, NVIDIA], ids=["ascend", "nvidia"])
def test_every_plugin_takes_its_table(rack: Rack, tmp_path: Path) -> None:
    table = read(rack, tmp_path)
    types = {found.name: found.plugin.supernoded_settings() for found in discover(tuple(table["plugins_off"])) if found.plugin}
    for name, told in table["plugins"].items():
        assert isinstance(msgspec.convert(told, types[name]), types[name])


def test_cards_have_their_own_vendors_tools(tmp_path: Path) -> None:
    ascend, nvidia = read(ASCEND, tmp_path), read(NVIDIA, tmp_path)
    assert list_programs(ascend) | list_programs(nvidia) <= set(TOOLS)
    assert ("nvidia-smi" in list_programs(ascend), "hccn_tool" in list_programs(ascend)) == (False, True)
    assert ("nvidia-smi" in list_programs(nvidia), "hccn_tool" in list_programs(nvidia)) == (True, False)
    assert (ascend["plugins_off"], nvidia["plugins_off"]) == ([], ["ascend"])
    assert nvidia["plugins"]["nvidia"]["cards"]["0000:14:00.0"] == "n0/card1"


def test_what_takes_orders_over_modbus_is_named_by_the_serial_number_that_it_shows(tmp_path: Path) -> None:
    serials = read(ASCEND, tmp_path)["plugins"]["modbus"]["serials"]
    world = World(ASCEND, 7, lambda: 0.0)
    assert serials == {
        **{f"pdu/{pdu.name}": world.truth(f"pdu/{pdu.name}", "pdu.serial") for pdu in ASCEND.pdus},
        **{loop.subject: world.truth(loop.subject, "coolant.serial") for loop in ASCEND.loops},
    }
    assert ASCEND.loops


def test_every_switch_is_asked_by_the_first_node_alone(tmp_path: Path) -> None:
    first, other = (read(ASCEND, tmp_path, node)["plugins"]["fabric"]["switches"] for node in ("n0", "n1"))
    assert first == {switch.name: {"argv": ["switch_cli", switch.name]} for switch in ASCEND.switches}
    assert (len(first), other) == (1, {})


def test_the_kernel_log_of_this_machine_is_nobodys(tmp_path: Path) -> None:
    for rack in (ASCEND, NVIDIA):
        told = read(rack, tmp_path, kernel=False)["plugins"]
        assert [told[name]["kernel_log"] for name in ("host", "fabric", "nvidia")] == [False, False, False]


def test_a_plugin_that_is_off_gets_no_table_and_more_wins(tmp_path: Path) -> None:
    places = Places(tmp_path, ("broker", 1883), "/sys/class")
    table = msgspec.toml.decode(write_settings(ASCEND, "n0", places, "mode = 'observe'", ("ascend",)))
    assert (table["mode"], table["plugins_off"], "ascend" in table["plugins"], "redfish" in table["plugins"]) == (
        "observe",
        ["ascend"],
        False,
        False,
    )


def test_all_that_nodes_share_is_judged_by_the_first_node(tmp_path: Path) -> None:
    roles = dict.fromkeys(("ring/cluster", "cdu/0", "fleet", "spares", "feed/A", "feed/B", "power/site"), "n0")
    assert [read(ASCEND, tmp_path, node)["roles"] for node in ("n0", "n1")] == [roles] * 2
    assert read(generate_rack(1, 8), tmp_path)["roles"] == {}
