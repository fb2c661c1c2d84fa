"""NVIDIA cards: `nvidia-smi`, NVLink, and what the kernel says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Format, Node, Sensor, hookimpl
from supernoded_nvidia.kernel import KernelSensor
from supernoded_nvidia.recorded import read_kernel_log, read_nvidia_smi
from supernoded_nvidia.sensors import CardSensor, Census, NvlinkSensor
from supernoded_nvidia.settings import NvidiaSettings
from supernoded_nvidia.slots import Slots
from supernoded_nvidia.smi import Smi


@hookimpl
def supernoded_settings() -> type[NvidiaSettings]:
    """`[plugins.nvidia]`."""
    return NvidiaSettings


@hookimpl
def supernoded_sensors(settings: NvidiaSettings, node: Node) -> Sequence[Sensor]:
    """The tool's two views, and the kernel's. Raises PluginError for a bus id that is none."""
    slots = Slots(node.name, node.topology, settings.cards)
    census = Census(node.wires.tree(settings.driver), slots)
    sensors: list[Sensor] = []
    if settings.nvidia_smi:
        smi = Smi(node.wires, settings.nvidia_smi, settings.within_s)
        sensors += [CardSensor(node, settings, smi, slots, census), NvlinkSensor(node, settings, smi, slots, census)]
    if settings.kernel_log:
        sensors.append(KernelSensor(node, settings, slots, census))
    return sensors


@hookimpl
def supernoded_formats() -> Mapping[str, Format]:
    """`supernodectl replay --as nvidia-smi`, and what `kernel-log` says of these cards."""
    return {"nvidia-smi": read_nvidia_smi, "kernel-log": read_kernel_log}
