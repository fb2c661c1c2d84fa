"""Numbers that are well formed and still no values. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from supernoded_modbus.values import Told


def doubt(quantity: str, told: Told, others: Mapping[str, Told]) -> Told:
    """The value, or none with the reason, seen beside the other quantities of the same thing."""
    charge = others.get("ups.charge")
    if quantity == "ups.runtime" and told.value == 0.0 and charge is not None and charge.value == 100.0:
        return Told(None, "0 s at a charge of 100 %: not computed")  # what many show as long as there is mains
    if quantity == "ups.battery_temperature" and told.value == 0.0:
        return Told(None, "exactly 0 C: there is no such sensor")
    return told
