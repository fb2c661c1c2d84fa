"""What a device can read of the plant, and whether it has the power to."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sim_hardware.devices.panel import Panel
from sim_hardware.plant.words import UnknownSensorError, Value

# what says that the electronics of a thing have power; those of a node are its BMC's
_SUPPLIES: Mapping[str, str] = MappingProxyType({"pdu": "pdu.on", "cdu": "coolant.live", "ups": "ups.live"})


def read(panel: Panel, subject: str, quantity: str) -> Value:
    """What the panel shows; None too when it has no such sensor."""
    try:
        return panel.sense(subject, quantity)
    except UnknownSensorError:
        return None


def is_dark(panel: Panel, subject: str) -> bool:
    """Whether the electronics of a thing (`pdu/A1`, `cdu/0`, `ups/A`, `n0`) have no power: then it answers nothing at all."""
    return read(panel, subject, _SUPPLIES.get(subject.partition("/")[0], "power.available")) == 0.0
