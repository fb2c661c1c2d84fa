"""The variables of a UPS, as quantities. Names: docs/nut-names.txt of NUT. Pure."""

from __future__ import annotations

import re

from supernoded.plugin import quote
from supernoded_nut.doubts import doubt
from supernoded_nut.numbers import Range, Variables
from supernoded_nut.phases import tell_phases
from supernoded_nut.told import Field, Told, tell_fields, tell_texts

STATUS = "ups.status"
WAIT = "wait"  # the driver has started and has not read its device yet
MOST_FLAGS = 32
_FLAG = re.compile(r"[a-z][a-z0-9_.:-]{0,19}", re.ASCII)

SECONDS = Range(0, 1e6, "s")
FIELDS = (
    Field("ups.input_frequency", Range(0, 100, "Hz"), ("input.frequency",)),
    Field("ups.rated_va", Range(50, 1e7, "VA"), ("ups.power.nominal",)),  # below it is a place holder: drivers write 0 and 1
    Field("ups.charge", Range(0, 100, "%"), ("battery.charge",)),
    Field("ups.charge.low", Range(0, 90, "%"), ("battery.charge.low",)),  # above it the threshold is a mistake of the device
    Field("ups.runtime", SECONDS, ("battery.runtime",)),
    Field("ups.runtime.low", SECONDS, ("battery.runtime.low",)),
    Field("ups.battery_voltage", Range(0, 2000, "V"), ("battery.voltage",)),
    Field("ups.battery_temperature", Range(-40, 90, "C"), ("battery.temperature",)),
)
TEXTS = (
    ("ups.test_result", ("ups.test.result",)),
    ("ups.alarm", ("ups.alarm",)),
    ("ups.model", ("ups.model", "device.model")),
    ("ups.serial", ("ups.serial", "device.serial")),
)


def read_ups(variables: Variables) -> list[Told]:
    """Every quantity that it tells of, and the status in any case."""
    flags, note = read_flags(variables)
    told = [*tell_phases(variables), *tell_fields(variables, FIELDS)]
    known = {one.quantity: one.value for one in told if isinstance(one.value, float)}
    return [Told(STATUS, flags, "flags", note), *(doubt(one, flags or frozenset(), known) for one in told), *tell_texts(variables, TEXTS)]


def read_flags(variables: Variables) -> tuple[frozenset[str] | None, str]:
    """The status as it comes, contradictions and unknown words included; None and why when it says nothing."""
    text = variables.get(STATUS)
    if text is None:
        return None, f"its driver gives no {STATUS}"
    words = text.lower().split()
    if not words:
        return None, f"{STATUS} is {quote(text)}"
    if len(words) > MOST_FLAGS or not all(map(_FLAG.fullmatch, words)):
        return None, f"{STATUS} is {quote(text)}, no flags"
    return frozenset(words), ""


def is_waiting(variables: Variables) -> bool:
    """Whether its driver has started and has not read the device yet."""
    return WAIT in variables.get(STATUS, "").lower().split()
