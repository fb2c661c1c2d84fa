"""The mains by their voltage: at the UPS's input, phase by phase, and at the PDUs behind it. Pure."""

from __future__ import annotations

from enum import Enum

import msgspec

from supernoded.plugin import View
from supernoded_power.seeing import list_phases, name_phases

INPUT, NOMINAL = "ups.input_voltage", "ups.input_voltage.nominal"
STATUS = "ups.status"
FREQUENCY = "ups.input_frequency"
PDU = "pdu.voltage"
QUANTITIES = (*name_phases(INPUT), NOMINAL, FREQUENCY, PDU)
DEAD_V = 20.0  # an outlet strip below this has no power; ours
NOMINAL_HZ = (50.0, 60.0)


class Level(Enum):
    """What a voltage says."""

    GOOD = "good"
    LOW = "low"
    UNKNOWN = "unknown"


class Volts(msgspec.Struct, frozen=True):
    """One view of a feed's voltage."""

    level: Level
    text: str = ""  # a part of a sentence
    at: float = 0.0


NOT_SEEN = Volts(Level.UNKNOWN)


def look_at_input(seen: View, ups: str, nominal: float | None, sag_percent: float) -> Volts:
    """The input of a UPS by its newest reading: low when any phase is down by more than `sag_percent` (P3)."""
    views = (_look(seen, ups, source, nominal, sag_percent) for source in seen.sources(INPUT, ups))
    return max((view for view in views if view.level is not Level.UNKNOWN), key=lambda view: view.at, default=NOT_SEEN)


def _look(seen: View, ups: str, source: str, nominal: float | None, sag_percent: float) -> Volts:
    whole = seen.good(INPUT, ups, source)
    wanted = nominal or seen.number(NOMINAL, ups, source) or seen.number(NOMINAL, ups)
    if whole is None or not isinstance(whole.value, int | float) or not wanted:
        return NOT_SEEN
    lowest = min([whole.value, *list_phases(seen, INPUT, ups, source).values()])
    drop = 100.0 * (1.0 - lowest / wanted)
    if drop > sag_percent + 1e-9:
        return Volts(
            Level.LOW, f"its input is at {lowest:.0f} V, {drop:.0f} % below {wanted:.0f} V, the limit is {sag_percent:g} %", whole.at
        )
    return Volts(Level.GOOD, f"its input is at {lowest:.0f} V", whole.at)


def look_at_pdus(seen: View, pdus: tuple[str, ...]) -> Volts:
    """The PDUs behind a feed, by subject: low when none of those that are read has voltage."""
    readings = [reading for pdu in pdus for source in seen.sources(PDU, pdu) if (reading := seen.good(PDU, pdu, source)) is not None]
    live = [one for one in readings if isinstance(one.value, int | float) and one.value >= DEAD_V]
    if live:
        return Volts(Level.GOOD, f"{live[0].subject} reads {live[0].value:.0f} V", max(one.at for one in live))
    if readings:
        return Volts(Level.LOW, f"{readings[0].subject} reads {readings[0].value:.0f} V", max(one.at for one in readings))
    return NOT_SEEN


def are_silent(seen: View, pdus: tuple[str, ...]) -> bool:
    """Whether PDUs that have been read are no longer, all of them: a feed that is dead takes their voice too."""
    heard = [pdu for pdu in pdus if seen.sources(PDU, pdu)]
    return bool(heard) and not any(seen.good(PDU, pdu, source) for pdu in heard for source in seen.sources(PDU, pdu))


def find_shift(seen: View, ups: str) -> float | None:
    """By how many Hz the input's frequency is off 50 or 60 Hz; None when it is not read, or there is no input."""
    hertz = seen.number(FREQUENCY, ups)
    return min(abs(hertz - nominal) for nominal in NOMINAL_HZ) if hertz else None
