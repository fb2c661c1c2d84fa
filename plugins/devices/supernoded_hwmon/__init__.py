"""Fans and temperatures of the machine, by the kernel's hwmon tree."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import Handle, Node, Sensor, hookimpl
from supernoded_hwmon.control import FanControlSensor
from supernoded_hwmon.fans import FanHandle
from supernoded_hwmon.sensor import HwmonSensor
from supernoded_hwmon.settings import HwmonSettings
from supernoded_hwmon.site import find_site


@hookimpl
def supernoded_settings() -> type[HwmonSettings]:
    """`[plugins.hwmon]`."""
    return HwmonSettings


@hookimpl
def supernoded_sensors(settings: HwmonSettings, node: Node) -> Sequence[Sensor]:
    """What the chips measure; who turns the fans."""
    site = find_site(settings, node)
    return (
        HwmonSensor(node.name, site.chips, node.clock, settings),
        FanControlSensor(node.name, site.grip, node.clock),
    )


@hookimpl
def supernoded_handles(settings: HwmonSettings, node: Node) -> Sequence[Handle]:
    """The node's fans."""
    return (FanHandle(node.name, find_site(settings, node).grip, node.clock),)
