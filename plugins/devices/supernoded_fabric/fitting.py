"""From settings and node to sensors."""

from __future__ import annotations

from collections.abc import Iterator

from supernoded.plugin import Node, Reading, Sensor
from supernoded_fabric.adapters import Adapters
from supernoded_fabric.asking import Ways
from supernoded_fabric.ethtool_counters import parse_statistics
from supernoded_fabric.ethtool_fec import parse_fec
from supernoded_fabric.ethtool_module import parse_module
from supernoded_fabric.host_sensors import KernelSensor, NeighbourSensor
from supernoded_fabric.mlxlink import read_port
from supernoded_fabric.mlxlink_rows import list_devices
from supernoded_fabric.sensors import EthernetSensor, InfinibandSensor
from supernoded_fabric.settings import FabricSettings
from supernoded_fabric.switch import make_sensors
from supernoded_fabric.tool_sensors import Commands, Question, ToolSensor


def fit_sensors(settings: FabricSettings, node: Node) -> Iterator[Sensor]:
    """The two trees, the tools and the log that the settings leave on, and the switches they name. Raises PluginError."""
    adapters = Adapters(node, settings)
    yield InfinibandSensor(adapters, node, settings)
    yield InfinibandSensor(adapters, node, settings, own=True)
    yield EthernetSensor(adapters, node, settings)
    if settings.ethtool:
        yield from _fit_ethtool(adapters, settings, node)
    if settings.mlxlink:
        commands = Commands(node.name, node.wires.command, settings.mlxlink, "-d")
        question = Question(Ways(("-c", "-m", "--json"), ("-c", "-m")), parse_mlxlink, "link.ber.post_fec")
        yield ToolSensor("fabric.mlxlink", settings.mlxlink_s, settings.within_s, adapters.name_hcas, (question,), commands, node.clock)
    if settings.lldp:
        yield NeighbourSensor(adapters, node.wires.command(settings.lldp), node, settings)
    if settings.kernel_log:
        yield KernelSensor(adapters, node, settings)
    yield from make_sensors(settings.switches, node)


def _fit_ethtool(adapters: Adapters, settings: FabricSettings, node: Node) -> Iterator[Sensor]:
    """A driver's own counters (`-S`) have no JSON. Both sensors share the commands."""
    commands = Commands(node.name, node.wires.command, settings.ethtool)
    fast = (Question(Ways(("-S",)), parse_statistics, "link.symbol_errors"),)
    slow = (
        Question(Ways(("--json", "-I", "--show-fec"), ("--show-fec",)), parse_fec, "link.fec", "text"),
        Question(Ways(("--json", "-m"), ("-m",)), parse_module, "link.present"),
    )
    for name, period, questions in (
        ("fabric.ethtool", settings.period_s or node.limits.link.poll_s, fast),
        ("fabric.module", settings.module_s, slow),
    ):
        yield ToolSensor(name, period, settings.within_s, adapters.name_interfaces, questions, commands, node.clock)


def parse_mlxlink(text: str, at: float, subject: str) -> list[Reading]:
    """The readings of the one device that was asked."""
    return next((readings for _, rows in list_devices(text) if (readings := read_port(rows, at, subject))), [])
