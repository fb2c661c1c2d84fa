"""What the built-in plugins of a simulated node are told: where its trees, tools, logs and BMC are. No tool that the node does not have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sim_hardware.devices.kubernetes import TOKEN
from sim_hardware.devices.sysfs import name_ports
from sim_hardware.devices.sysfs.ethernet import list_interfaces
from sim_hardware.devices.sysfs.hwmon import CHIP, FANS
from sim_hardware.devices.tools.gauges import find_bus
from sim_hardware.devices.tools.kernel_log import NVIDIA
from sim_hardware.drives.bmcs import write_bmcs
from sim_hardware.drives.commissioned import write_commissioned
from sim_hardware.drives.folder import API_LOGIN
from sim_hardware.drives.log_tree import FOLDER
from sim_hardware.plant.cooling.sensing import name_cdu_serial
from sim_hardware.plant.power.gauges_pdu import name_pdu_serial
from sim_hardware.rack import Rack

SECOND_PORT = ("-port", "1")  # of our hccn_tool; the real one has no word for it


@dataclass(frozen=True)
class Places:
    """Where a site's daemons find what is simulated."""

    folder: Path
    broker: tuple[str, int]
    sysfs: str
    logs: str = FOLDER  # the folder of `hccl.log`
    kernel: bool = False  # the kernel log is simulated too; else it is this machine's, and none of a node's daemon's business
    endpoints: Mapping[str, str] = field(default_factory=dict)  # device -> URL
    seed: int = 0  # of the site's keys


def list_plugins(rack: Rack, node: str, places: Places) -> dict[str, Any]:
    """The tables `[plugins.*]`. Raises OSError."""
    nvidia = rack.sim.node.chip.startswith(NVIDIA)
    tables: dict[str, Any] = {
        "fabric": _list_fabric(rack, node, places, nvidia=nvidia),
        "host": {"kernel_log": places.kernel},
        "hwmon": _list_hwmon(node, places),
    }
    if nvidia:
        tables["nvidia"] = _list_nvidia(rack, node, places)
    else:
        tables |= {"ascend": _list_ascend(rack, node, places), "nvidia": {"nvidia_smi": [], "kernel_log": False}}
    if rack.ups:
        power = rack.sim.power  # what comes back before a generator can have started is the mains
        tables["power"] = {"generator": power.generator, "generator_after_s": max(power.generator_start_s - 2.0, 1.0)}
    if serials := _list_serials(rack):
        tables["modbus"] = {"serials": serials}
    if recorded := write_commissioned(rack, places.folder):
        tables["thermal"] = {"commissioning": recorded}
    if url := places.endpoints.get("kubernetes"):
        tables["kubernetes"] = {"url": url, "token_file": _write_token(places.folder), "insecure": True}
    bmcs = write_bmcs(rack, node, places.folder, places.endpoints)
    return {**tables, "redfish": bmcs} if bmcs else tables


def _write_token(folder: Path) -> str:
    """What lets the daemons into the simulated API server, which speaks plain http. Raises OSError."""
    file = folder / API_LOGIN
    file.write_text(TOKEN, encoding="utf-8")
    file.chmod(0o600)
    return str(file)


def _list_serials(rack: Rack) -> dict[str, str]:
    """Of the devices that take orders over Modbus."""
    pdus = {f"pdu/{pdu.name}": name_pdu_serial(number) for number, pdu in enumerate(rack.pdus)}
    return pdus | {loop.subject: name_cdu_serial(number) for number, loop in enumerate(rack.loops)}


def list_absent(rack: Rack) -> tuple[str, ...]:
    """Plugins of another vendor's cards, which have no switch of their own."""
    return ("ascend",) if rack.sim.node.chip.startswith(NVIDIA) else ()


def _count_cards(rack: Rack, node: str) -> int:
    return next(one.cards for one in rack.nodes if one.name == node)


def _list_fabric(rack: Rack, node: str, places: Places, *, nvidia: bool) -> dict[str, Any]:
    """Every port is both an HCA and an interface. Of those that `hccn_tool` tells of too one view is enough; of the NIC all are read."""
    ports = list_interfaces(rack, node)
    return {
        "infiniband": f"{places.sysfs}/infiniband",
        "ethernet": f"{places.sysfs}/net",
        "subjects": {**name_ports(rack, node), **ports},
        "interfaces": list(ports) if nvidia else ["eth0"],
        "ethtool": ["ethtool"],
        "mlxlink": ["mlxlink"],
        "lldp": ["lldpcli"],
        "kernel_log": places.kernel,
        "switches": _list_switches(rack, node),
    }


def _list_hwmon(node: str, places: Places) -> dict[str, Any]:
    """Its fans are declared, so that one that stands is told, and may be turned."""
    fans = {f"{CHIP}/fan{number + 1}": f"{node}/fan{number}" for number in range(FANS)}
    return {"root": f"{places.sysfs}/hwmon", "fans": fans, "steer": [CHIP]}


def _list_switches(rack: Rack, node: str) -> dict[str, Any]:
    """All of them are asked by the first node, so that each is asked once."""
    mine = rack.switches if node == rack.nodes[0].name else ()
    return {switch.name: {"argv": ["switch_cli", switch.name]} for switch in mine}


def _list_ascend(rack: Rack, node: str, places: Places) -> dict[str, Any]:
    return {
        "hccn_tool": ["hccn_tool"],
        "npu_smi": ["npu-smi"],
        "devices": list(range(_count_cards(rack, node))),
        "second_port": list(SECOND_PORT),
        "log_folder": places.logs,
        "ring_check": ["hccl_ring_check", "--ring", "{ring}"],
        "ring_latency": ["hccl_ring_latency", "--ring-size", "{size}", "--ring-order", "{order}", "--ring", "{ring}"],
    }


def _list_nvidia(rack: Rack, node: str, places: Places) -> dict[str, Any]:
    cards = {find_bus(slot).lower(): f"{node}/card{slot}" for slot in range(_count_cards(rack, node))}
    return {"nvidia_smi": ["nvidia-smi"], "cards": cards, "kernel_log": places.kernel}
