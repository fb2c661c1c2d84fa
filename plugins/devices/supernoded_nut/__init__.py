"""UPSes and PDUs behind NUT servers (upsd of Network UPS Tools)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Actuator, Format, Node, Sensor, hookimpl
from supernoded_nut.making import make_actuators, make_sensors
from supernoded_nut.recorded import read_nut
from supernoded_nut.settings import NutSettings


@hookimpl
def supernoded_settings() -> type[NutSettings]:
    """`[plugins.nut]`."""
    return NutSettings


@hookimpl
def supernoded_sensors(settings: NutSettings, node: Node) -> Sequence[Sensor]:
    """One sensor per device."""
    return list(make_sensors(settings, node))


@hookimpl
def supernoded_actuators(settings: NutSettings, node: Node) -> Sequence[Actuator]:
    """Outlets one by one, of PDUs whose wire is NUT."""
    return list(make_actuators(settings, node))


@hookimpl
def supernoded_formats() -> Mapping[str, Format]:
    """`nut`."""
    return {"nut": read_nut}
