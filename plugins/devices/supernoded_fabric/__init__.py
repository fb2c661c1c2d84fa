"""Network links of this machine: the kernel's trees and log, `ethtool`, `mlxlink`, and neighbours by LLDP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Format, Node, Sensor, hookimpl
from supernoded_fabric.fitting import fit_sensors
from supernoded_fabric.recorded import read_sysfs_infiniband
from supernoded_fabric.recorded_log import read_kernel_log
from supernoded_fabric.recorded_tools import read_ethtool, read_lldp, read_mlxlink
from supernoded_fabric.settings import FabricSettings


@hookimpl
def supernoded_settings() -> type[FabricSettings]:
    """`[plugins.fabric]`."""
    return FabricSettings


@hookimpl
def supernoded_sensors(settings: FabricSettings, node: Node) -> Sequence[Sensor]:
    """One for each view of the links."""
    return tuple(fit_sensors(settings, node))


@hookimpl
def supernoded_formats() -> Mapping[str, Format]:
    """`supernodectl replay --as ...`; of `kernel-log` what it says of links and adapters."""
    return {
        "ethtool": read_ethtool,
        "kernel-log": read_kernel_log,
        "lldp": read_lldp,
        "mlxlink": read_mlxlink,
        "sysfs-infiniband": read_sysfs_infiniband,
    }
