"""Numbers that are well formed and still no values. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from supernoded_modbus.maps import Row
from supernoded_modbus.values import Told


def doubt(quantity: str, told: Told, others: Mapping[str, Told]) -> Told:
    """The value, or none with the reason, seen beside the other quantities of the same thing."""
    charge = others.get("ups.charge")
    if quantity == "ups.runtime" and told.value == 0.0 and charge is not None and charge.value == 100.0:
        return Told(None, "0 s at a charge of 100 %: not computed")  # what many show as long as there is mains
    if quantity == "ups.battery_temperature" and told.value == 0.0:
        return Told(None, "exactly 0 C: there is no such sensor")
    return told


def distrust(told: Told, row: Row, alarms: frozenset[str]) -> Told:
    """The value, or none where the device warns of its sensor: what a bad transmitter shows often looks normal."""
    warned = sorted(alarms.intersection(row.doubted_by))
    if not warned or told.value is None:
        return told
    return Told(None, f"the device warns of it ({', '.join(warned)}) and shows {told.value}")


def join(one: Told, other: Told) -> Told:
    """Two rows of one quantity of one thing: the highest number, or all flags; what is not known only hides a lesser one.

    So a detector that is wet counts, whatever another one is.
    """
    if isinstance(one.value, frozenset) and isinstance(other.value, frozenset):
        return Told(one.value | other.value)
    known = [told for told in (one, other) if told.value is not None]
    best = max(known, key=lambda told: told.number, default=one)
    return best if len(known) == 2 or best.number > 0.0 else next(told for told in (one, other) if told.value is None)
