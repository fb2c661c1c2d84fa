"""What has been done to a site before anybody rehearses on it: the link-health monitor of each BMC, off as delivered, is on (L4)."""

from __future__ import annotations

from sim_hardware.devices.redfish import RedfishDevice, switch_monitor
from sim_hardware.rig import Rig


def commission(rig: Rig) -> None:
    """As whoever installed the site has left it."""
    for node in rig.world.rack.nodes:
        bmc = rig.devices[f"{node.name}/bmc"]
        if isinstance(bmc, RedfishDevice):
            switch_monitor(bmc, on=True)
