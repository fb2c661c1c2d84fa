"""A node's `/sys/class`: `infiniband`, `net`, `hwmon` and `dsm`, in memory and as a real folder."""

from sim_hardware.devices.sysfs.ethernet import list_interfaces
from sim_hardware.devices.sysfs.folder import SysfsFolder
from sim_hardware.devices.sysfs.infiniband import list_hcas, name_ports
from sim_hardware.devices.sysfs.tree import SysfsTree, render, write

__all__ = ["SysfsFolder", "SysfsTree", "list_hcas", "list_interfaces", "name_ports", "render", "write"]
