"""UPSes and PDUs over SNMP v1 and v2c: RFC 1628, APC's two trees, Raritan PX2 and Sentry3, and what a site describes itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Actuator, Format, Node, Sensor, hookimpl
from supernoded_snmp.making import make_actuators, make_sensors
from supernoded_snmp.recorded import FORMATS
from supernoded_snmp.settings import SnmpSettings


@hookimpl
def supernoded_settings() -> type[SnmpSettings]:
    """`[plugins.snmp]`."""
    return SnmpSettings


@hookimpl
def supernoded_sensors(settings: SnmpSettings, node: Node) -> Sequence[Sensor]:
    """One sensor per UPS and PDU."""
    return list(make_sensors(settings, node))


@hookimpl
def supernoded_actuators(settings: SnmpSettings, node: Node) -> Sequence[Actuator]:
    """Outlets one by one; nothing sheds this way."""
    return list(make_actuators(settings, node))


@hookimpl
def supernoded_formats() -> Mapping[str, Format]:
    """Recorded walks."""
    return FORMATS
