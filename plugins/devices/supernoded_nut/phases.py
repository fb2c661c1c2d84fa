"""Voltages, loads and powers of a UPS, whole and by phase. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from supernoded_nut.numbers import PHASES, Number, Range, Variables, choose, count_phases, read_first, read_number, read_phases
from supernoded_nut.told import Told, tell

VOLTS, WATTS, VA = Range(0, 1000, "V"), Range(0, 1e7, "W"), Range(0, 1e7, "VA")
LOAD = Range(0, 200, "%")  # what is above no inverter carries for a second (ours; IEC 62040-3 tests overload up to 150 %)
NOMINAL = Range(50, 1000, "V")  # below it is a place holder
_ACROSS = ("L1-L2", "L2-L3", "L3-L1")


def tell_phases(variables: Variables) -> Iterator[Told]:
    """Those that are there."""
    ingoing, outgoing = count_phases(variables, "input"), count_phases(variables, "output")
    yield from _tell_voltage(variables, "input", ingoing)
    nominal = read_first(variables, ["input.voltage.nominal"], NOMINAL)
    if nominal is not None:
        yield tell("ups.input_voltage.nominal", _to_neutral(nominal, three_phase=_is_three_phase(variables)), "V")
    yield from _tell_voltage(variables, "output", outgoing)
    volt_amperes = read_phases(variables, ("output.{}.power", "ups.{}.power"), VA, outgoing)
    yield from _tell(
        "ups.output_va", choose(read_first(variables, ("ups.power", "output.power"), VA), _sum(volt_amperes)), volt_amperes, "VA"
    )
    watts = read_phases(variables, ("output.{}.realpower", "ups.{}.realpower"), WATTS, outgoing)
    yield from _tell("ups.output_power", choose(read_first(variables, ("ups.realpower", "output.realpower"), WATTS), _sum(watts)), {}, "W")
    loads = read_phases(variables, ("output.{}.power.percent", "ups.{}.power.percent"), LOAD, outgoing)
    yield from _tell("ups.load", choose(read_first(variables, ("ups.load",), LOAD), _pick(loads, highest=True)), loads, "%")


def _tell(quantity: str, whole: Number | None, phases: Mapping[str, Number], unit: str) -> Iterator[Told]:
    if whole is not None:
        yield tell(quantity, whole, unit)
    yield from (tell(f"{quantity}.{phase}", number, unit) for phase, number in phases.items())


def _tell_voltage(variables: Variables, side: str, count: int) -> Iterator[Told]:
    """Phase to neutral; the whole is the lowest phase, or else what the device calls its voltage."""
    phases = read_phases(variables, (f"{side}.{{}}-N.voltage", f"{side}.{{}}.voltage"), VOLTS, count)
    whole = _pick(phases) or read_first(variables, [f"{side}.voltage"], VOLTS) or _lowest_across(variables, side)
    yield from _tell(f"ups.{side}_voltage", whole, phases, "V")


def _lowest_across(variables: Variables, side: str) -> Number | None:
    """From voltages between phases, where there are no others."""
    names = (f"{side}.{pair}.voltage" for pair in _ACROSS)
    lowest = _pick({name: read_number(variables, name, VOLTS) for name in names if name in variables})
    return lowest if lowest is None or lowest.value is None else Number(lowest.value / math.sqrt(3.0))


def _pick(phases: Mapping[str, Number], *, highest: bool = False) -> Number | None:
    """The lowest or highest; not known while one of them is not."""
    values = [number.value for number in phases.values() if number.value is not None]
    if len(values) < len(phases):
        return Number(None, next(number.note for number in phases.values() if number.value is None))
    return Number(max(values) if highest else min(values)) if values else None


def _sum(phases: Mapping[str, Number]) -> Number | None:
    """Of all three phases, or of the one that there is."""
    known = _pick(phases)
    if known is None or known.value is None or len(phases) == 2:
        return known if known is not None and known.value is None else None
    return Number(sum(number.value for number in phases.values() if number.value is not None))


def _is_three_phase(variables: Variables) -> bool:
    told = read_first(variables, ["input.phases"], Range(1, 3, ""))
    return (told is not None and told.value == 3.0) or any(f"input.{phase}-N.voltage" in variables for phase in PHASES[1:])


def _to_neutral(nominal: Number, *, three_phase: bool) -> Number:
    """Some give the voltage between phases: of the pairs of IEC 60038 those are 200 to 208 V, and whatever is above 360 V."""
    volts = nominal.value
    across = volts is not None and three_phase and (195.0 <= volts <= 210.0 or volts > 360.0)
    return Number(volts / math.sqrt(3.0)) if volts is not None and across else nominal
