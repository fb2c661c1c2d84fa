"""The variables of a PDU behind a NUT server, as quantities. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from supernoded.plugin import quote
from supernoded_nut.numbers import Number, Range, Variables, choose, count_phases, read_first, read_phases
from supernoded_nut.told import Field, Told, tell, tell_fields, tell_texts

MOST_OUTLETS = 256  # of one PDU (ours)
VOLTS, WATTS, AMPERES = Range(0, 1000, "V"), Range(0, 1e6, "W"), Range(0, 1e4, "A")
FIELDS = (
    Field("pdu.voltage", VOLTS, ("input.voltage", "input.L1-N.voltage", "input.L1.voltage", "outlet.voltage")),
    Field("pdu.rated_current", Range(1, 1e4, "A"), ("input.current.nominal",)),  # 0 is a place holder
)
TEXTS = (("pdu.model", ("device.model", "ups.model")), ("pdu.serial", ("device.serial", "ups.serial")))
_OUTLET = re.compile(r"outlet\.([1-9]\d{0,2})\.(status|switchable|realpower|current)", re.ASCII)


def is_pdu(variables: Variables) -> bool:
    """Whether a device calls itself one."""
    return "pdu" in {variables.get(name, "").strip().lower() for name in ("device.type", "ups.type")}


def read_pdu(variables: Variables) -> list[Told]:
    """Every quantity that it tells of."""
    outlets = sorted({int(found[1]) for name in variables if (found := _OUTLET.fullmatch(name))})[:MOST_OUTLETS]
    whole = [*tell_fields(variables, FIELDS), *_tell_input(variables), *tell_texts(variables, TEXTS)]
    return [*whole, *(told for number in outlets for told in read_outlet(variables, number))]


def _tell_input(variables: Variables) -> Iterator[Told]:
    """Power, which is the sum of its phases where the device gives no whole, and currents."""
    count = count_phases(variables, "input")
    powers = read_phases(variables, ("input.{}.realpower",), WATTS, count)
    watts = choose(read_first(variables, ("input.realpower", "device.realpower"), WATTS), _sum(powers) if len(powers) == count else None)
    if watts is not None:
        yield tell("pdu.power", watts, "W")
    amperes = read_phases(variables, ("input.{}.current",), AMPERES, count)
    current = choose(read_first(variables, ("input.current",), AMPERES), amperes.get("L1") if count == 1 else None)
    if current is not None:
        yield tell("pdu.current", current, "A")
    yield from (tell(f"pdu.current.{phase}", number, "A") for phase, number in amperes.items())


def _sum(powers: dict[str, Number]) -> Number:
    unknown = next((number for number in powers.values() if number.value is None), None)
    return unknown or Number(sum(number.value or 0.0 for number in powers.values()))


def read_outlet(variables: Variables, number: int) -> Iterator[Told]:
    """State, power, current, and whether it is locked."""
    name, below = f"outlet.{number}", f"/outlet{number}"
    status = variables.get(f"{name}.status")
    if status is not None:
        word = status.strip().lower()
        known = word in {"on", "off"}
        yield Told("outlet.state", word if known else None, "text", "" if known else f"{name}.status is {quote(status)}", below)
    fields = (Field("outlet.power", WATTS, (f"{name}.realpower",)), Field("outlet.current", AMPERES, (f"{name}.current",)))
    yield from tell_fields(variables, fields, below)
    switchable = {"yes": 0.0, "no": 1.0}.get(variables.get(f"{name}.switchable", "").strip().lower())
    if switchable is not None:
        yield Told("outlet.locked", switchable, "1", below=below)
