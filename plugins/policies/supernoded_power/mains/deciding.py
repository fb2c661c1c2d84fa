"""What a feed lives on, from the word of its UPS and two voltages. Pure; see docs/safety.md, rules 5, 10 and 13."""

from __future__ import annotations

from supernoded_power.mains.volts import Level, Volts
from supernoded_power.mains.words import Mains
from supernoded_power.status import SILENT, Row, Source

_BY_INPUT = {Level.GOOD: Mains.PRESENT, Level.LOW: Mains.SAGGED, Level.UNKNOWN: Mains.UNKNOWN}


def decide(row: Row, volts: Volts, pdus: Volts, *, overdue: bool, odd: bool, dark: bool) -> tuple[Mains, str]:
    """The state of a feed with a UPS, and the contradiction where there is one.

    `overdue` = its test or calibration has lasted longer than any does; `odd` = two views have contradicted each other for too long;
    `dark` = nothing is heard any more of the PDUs behind it, which have been heard.
    """
    if row.source is Source.CONFLICT:
        return Mains.CONFLICT, row.means
    if row.source in {Source.MAINS, Source.BYPASS}:
        return _decide_on_line(row, volts, pdus, odd=odd)
    if row.source is Source.OFF and pdus.level is Level.GOOD:
        return (Mains.CONFLICT, f"{row.means}, but {pdus.text}") if odd else (Mains.UNKNOWN, "")  # the PDU may not have been read since
    if pdus.level is Level.LOW or (row.source is Source.OFF and (volts.level is Level.LOW or dark)):
        return Mains.LOST, ""
    if row.source is Source.OFF:
        return Mains.UNKNOWN, ""  # a second source must say so (safety rule 13)
    if row.source is Source.UNKNOWN:
        return _BY_INPUT[volts.level], ""
    if odd:
        return Mains.CONFLICT, f"{row.means}, and another source says on line"
    if row.on_purpose and not overdue and volts.level is not Level.LOW:
        return Mains.PRESENT, ""
    return Mains.BATTERY, ""


def _decide_on_line(row: Row, volts: Volts, pdus: Volts, *, odd: bool) -> tuple[Mains, str]:
    if pdus.level is Level.LOW:
        return (Mains.CONFLICT, f"{row.means}, but {pdus.text}") if odd else (Mains.LOST, "")  # the UPS may not have been read since
    if odd:
        return Mains.CONFLICT, f"{row.means}, but {volts.text if volts.level is Level.LOW else 'another source says on battery'}"
    if volts.level is not Level.LOW:
        return Mains.PRESENT, ""
    return (Mains.BATTERY if row.on_purpose else Mains.SAGGED), ""  # calibrating with its input lost: a real outage, at low charge


def contradicts(row: Row, others: tuple[Row, ...], volts: Volts, pdus: Volts) -> bool:
    """Whether views differ that may differ for a moment only: polls lag behind each other."""
    sources = {one.source for one in (row, *others)}
    if {Source.MAINS, Source.BATTERY} <= sources and not any(one.on_purpose for one in (row, *others)):
        return True
    if (row.source in {Source.MAINS, Source.BYPASS} and pdus.level is Level.LOW) or (row.source is Source.OFF and pdus.level is Level.GOOD):
        return True
    explains = "boost" in row.every or row.on_purpose or row is SILENT
    return row.source is Source.MAINS and volts.level is Level.LOW and not explains
