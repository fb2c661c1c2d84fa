"""Whether a cooling unit is the right one, and its readings can be, before anything is written to it. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from supernoded_redfish.facts import Fact, Key

COLDEST, WARMEST = 5.0, 60.0  # C that coolant can be
BESIDE = 1.0  # K by which the return may seem colder than the supply, without load (ours)


def find_doubt(cdu: str, serial: str, facts: Mapping[Key, Fact]) -> str:
    """Why it must not be taken; empty = nothing speaks against it. `serial` empty = any will do (safety rule 25)."""
    told = {quantity: fact.value for (subject, quantity), fact in facts.items() if subject == cdu}
    if serial and told.get("coolant.serial") != serial:
        return f"its serial number is {told.get('coolant.serial') or 'not told'}, and the settings say {serial}"
    supply, back = told.get("coolant.supply_temperature"), told.get("coolant.return_temperature")
    if not isinstance(supply, int | float):
        fact = facts.get((cdu, "coolant.supply_temperature"))
        return f"its supply temperature is not known: {fact.note if fact is not None else 'no sensor of it is found'}"
    for name, value in (("supply", supply), ("return", back)):
        if isinstance(value, int | float) and not COLDEST <= value <= WARMEST:
            return f"its {name} reads {value:g} C, which is not {COLDEST:g} to {WARMEST:g}; is it the right sensor, in the right unit?"
    if isinstance(back, int | float) and back < supply - BESIDE:
        return f"its return reads {back:g} C and its supply {supply:g} C; are they swapped?"
    return ""
