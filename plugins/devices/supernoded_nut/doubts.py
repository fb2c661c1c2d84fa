"""What the rest of its values says against one: drivers write 0 where their device computes nothing. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from supernoded_nut.told import Told

Flags = frozenset[str]
Known = Mapping[str, float]

LOW_CHARGE = 10.0  # percent; above it no battery is empty within a second (ours)
TROUBLED = frozenset({"lb", "rb", "alarm"})
EMPTYING = frozenset({"ob", "dischrg"})


def doubt(told: Told, flags: Flags, known: Known) -> Told:
    """The same, or without its value and why."""
    asks = ASKS.get(told.quantity)
    why = asks(flags, known) if asks is not None and told.value == 0.0 else ""
    return told._replace(value=None, note=why) if why else told


def _ask_runtime(flags: Flags, known: Known) -> str:
    """On battery it is believed; on mains it is the answer of a UPS that computes none, unless a bad battery explains it."""
    charge = known.get("ups.charge")
    if "ob" in flags or (charge is not None and charge < LOW_CHARGE and flags & TROUBLED):
        return ""
    return f"runtime 0 s {'on mains' if 'ol' in flags else 'not on battery'} at {_show(charge)} charge: not computed"


def _ask_charge(flags: Flags, _: Known) -> str:
    if flags & (TROUBLED | EMPTYING | {"chrg"}):
        return ""
    return "charge 0 % with no flag that tells of an empty, charging or bad battery: not measured"


def _ask_temperature(_: Flags, __: Known) -> str:
    return "battery temperature of exactly 0 C: no probe"


def _ask_frequency(flags: Flags, _: Known) -> str:
    return "" if "ob" in flags else "input frequency 0 Hz and not on battery: not measured"


def _ask_power(_: Flags, known: Known) -> str:
    load = max((value for quantity, value in known.items() if quantity.startswith("ups.load")), default=0.0)
    return f"0 at a load of {load:g} %: not measured" if load > 0.0 else ""


def _show(charge: float | None) -> str:
    return "unknown" if charge is None else f"{charge:g} %"


ASKS: Mapping[str, Callable[[Flags, Known], str]] = {
    "ups.runtime": _ask_runtime,
    "ups.charge": _ask_charge,
    "ups.battery_temperature": _ask_temperature,
    "ups.input_frequency": _ask_frequency,
    "ups.output_va": _ask_power,
    "ups.output_power": _ask_power,
}
