"""IPMI: what a BMC says of the power supplies of its node, and of its event log, which is only read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Format, Node, Sensor, hookimpl
from supernoded_ipmi.recorded import read_ipmi
from supernoded_ipmi.sensors import list_sensors
from supernoded_ipmi.settings import IpmiSettings


@hookimpl
def supernoded_settings() -> type[IpmiSettings]:
    """`[plugins.ipmi]`."""
    return IpmiSettings


@hookimpl
def supernoded_sensors(settings: IpmiSettings, node: Node) -> Sequence[Sensor]:
    """One for each tool that is named. Raises PluginError for a command that would clear the log."""
    return list_sensors(settings, node)


@hookimpl
def supernoded_formats() -> Mapping[str, Format]:
    """`supernodectl replay --as ipmi-sensors`."""
    return {"ipmi-sensors": read_ipmi}
