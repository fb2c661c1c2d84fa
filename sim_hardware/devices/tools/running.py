"""All tools by name, and running one with its impairment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.reading import read
from sim_hardware.devices.tools.cardctl import cardctl
from sim_hardware.devices.tools.dsm import dsm_snapshot, dsm_sync_all, dsmbandwidth
from sim_hardware.devices.tools.ethtool import ethtool
from sim_hardware.devices.tools.hccn_tool import hccn_tool
from sim_hardware.devices.tools.lldpcli import lldpcli
from sim_hardware.devices.tools.mlxlink import mlxlink
from sim_hardware.devices.tools.msprof import msprof
from sim_hardware.devices.tools.npu_smi import npu_smi
from sim_hardware.devices.tools.nvidia_smi import nvidia_smi
from sim_hardware.devices.tools.rings import hccl_ring_check, hccl_ring_latency
from sim_hardware.devices.tools.scontrol import scontrol
from sim_hardware.devices.tools.switch_cli import switch_cli
from sim_hardware.devices.tools.words import STUCK, Run, StuckError, Tool, ToolState
from sim_hardware.plant.chance import draw, start_chance

TOOLS: Mapping[str, Tool] = MappingProxyType(
    {
        "npu-smi": npu_smi,
        "hccn_tool": hccn_tool,
        "hccl_ring_check": hccl_ring_check,
        "hccl_ring_latency": hccl_ring_latency,
        "dsmbandwidth": dsmbandwidth,
        "dsm_snapshot": dsm_snapshot,
        "dsm_sync_all": dsm_sync_all,
        "msprof": msprof,
        "nvidia-smi": nvidia_smi,
        "ethtool": ethtool,
        "mlxlink": mlxlink,
        "lldpcli": lldpcli,
        "switch_cli": switch_cli,
        "cardctl": cardctl,
        "scontrol": scontrol,
    }
)
UNKNOWN_COMMAND = 127  # of a shell


def run_tool(name: str, argv: Sequence[str], panel: Panel, node: str, state: ToolState) -> Run:
    """Run a tool on a node. On a node that is not on nothing ever ends."""
    tool = TOOLS.get(name)
    if tool is None:
        return Run(UNKNOWN_COMMAND, err=f"{name}: command not found\n")
    impairment = state.impair(name)
    if impairment.hang or read(panel, node, "node.power") in {"off", "booting"}:
        return STUCK
    if impairment.rc is not None:
        return Run(impairment.rc, seconds=0.05 + impairment.slow_s)
    try:
        run = tool(argv, panel, node, state)
    except StuckError:
        return STUCK
    out = _garble(run.out, f"{name}/{panel.now()}") if impairment.garbage else run.out
    return run._replace(out=out, seconds=run.seconds + impairment.slow_s)


def _garble(text: str, name: str) -> str:
    """A third of all characters are something else; the same at the same time."""
    chance, garbled = start_chance(0, name), []
    for character in text or "?" * 80:
        chance, level = draw(chance)
        garbled.append(character if level > 1 / 3 else chr(33 + int(level * 3 * 94)))
    return "".join(garbled)
