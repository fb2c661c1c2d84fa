"""Network links of this machine from sysfs: InfiniBand and RoCE ports, and network interfaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Format, Node, Sensor, hookimpl
from supernoded_fabric.recorded import read_sysfs_infiniband
from supernoded_fabric.sensors import EthernetSensor, InfinibandSensor
from supernoded_fabric.settings import FabricSettings


@hookimpl
def supernoded_settings() -> type[FabricSettings]:
    """`[plugins.fabric]`."""
    return FabricSettings


@hookimpl
def supernoded_sensors(settings: FabricSettings, node: Node) -> Sequence[Sensor]:
    """One sensor per tree."""
    infiniband, ethernet = node.wires.tree(settings.infiniband), node.wires.tree(settings.ethernet)
    return (InfinibandSensor(infiniband, node, settings), EthernetSensor(ethernet, node, settings))


@hookimpl
def supernoded_formats() -> Mapping[str, Format]:
    """`supernodectl replay --as sysfs-infiniband`."""
    return {"sysfs-infiniband": read_sysfs_infiniband}
