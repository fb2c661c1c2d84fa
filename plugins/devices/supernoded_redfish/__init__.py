"""Devices that speak Redfish. Begun: the link monitor of a node's BMC."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import Check, Node, Sensor, hookimpl
from supernoded_redfish.bmc import open_bmcs
from supernoded_redfish.check import LinkMonitorCheck
from supernoded_redfish.sensor import LinkMonitorSensor
from supernoded_redfish.settings import RedfishSettings


@hookimpl
def supernoded_settings() -> type[RedfishSettings]:
    """`[plugins.redfish]`."""
    return RedfishSettings


@hookimpl
def supernoded_sensors(settings: RedfishSettings, node: Node) -> Sequence[Sensor]:
    """One sensor per BMC."""
    period = settings.period_s or node.limits.link.poll_s
    return [LinkMonitorSensor(bmc, node.clock, period) for bmc in open_bmcs(settings, node)]


@hookimpl
def supernoded_checks(settings: RedfishSettings, node: Node) -> Sequence[Check]:
    """Whether the link monitor is on (L4)."""
    return [LinkMonitorCheck(tuple(open_bmcs(settings, node)))]
