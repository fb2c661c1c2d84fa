"""What is special of UPSes: one status out of several columns, and zeros and silences that stand for something else. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from supernoded.plugin import Reading, State, make_reading

STATUS, RUNTIME, CHARGE, LINK = "ups.status", "ups.runtime", "ups.charge", "ups.link"
OUTPUTS = ("ups.output_power", "ups.output_va")
EMPTY = frozenset({"ob", "lb", "rb", "alarm", "off"})  # with which a battery may be empty
LOST = "commlost"  # our own word for upsAlarmCommunicationsLost (RFC 1628): the card goes on telling what it knew
WHY_LOST = "its card says that it has lost the UPS (upsAlarmCommunicationsLost)"


def settle_ups(readings: Sequence[Reading], subject: str, at: float) -> list[Reading]:
    """One status, and the state of the card's own line to the UPS."""
    parts = [reading for reading in readings if reading.quantity == STATUS]
    others = [reading for reading in readings if reading.quantity != STATUS]
    status = _join_status(parts)
    flags = status.value if status is not None and isinstance(status.value, frozenset) else frozenset()
    if any(LOST in reading.value for reading in parts if isinstance(reading.value, frozenset)):
        lost = others if status is None else [status, *others]
        return [*(_lose(reading) for reading in lost), make_reading(subject, LINK, "stale", "text", at)]
    load = next((reading.value for reading in others if reading.quantity == "ups.load"), None)
    loaded = isinstance(load, float) and load >= 1.0
    told = [_doubt_zero(reading, flags, loaded=loaded) for reading in others]
    return told if status is None else [status, *told, make_reading(subject, LINK, "ok", "text", at)]


def _join_status(parts: Sequence[Reading]) -> Reading | None:
    """The first says what feeds the output: without it there is no status. The others add to it."""
    if not parts:
        return None
    first = parts[0]
    if not isinstance(first.value, frozenset):
        return first
    flags = frozenset[str]().union(*(part.value for part in parts if isinstance(part.value, frozenset)))
    if "cal" in flags:
        flags -= {"test"}
    notes = [part.note for part in parts if part.value is None and part.note]
    return msgspec.structs.replace(first, value=flags, note="; ".join((first.note, *notes)).strip("; "))


def _lose(reading: Reading) -> Reading:
    return msgspec.structs.replace(reading, value=None, state=State.UNKNOWN, note=WHY_LOST)


def _doubt_zero(reading: Reading, flags: frozenset[str], *, loaded: bool) -> Reading:
    """Zeros of what many cards have not worked out or do not measure (East, Phoenixtec)."""
    why = ""
    if reading.value == 0.0:
        if reading.quantity == RUNTIME and "ob" not in flags:
            why = "0 minutes and not on battery: not worked out"
        elif reading.quantity == CHARGE and not flags & EMPTY:
            why = "0 % and no flag that goes with it"
        elif reading.quantity.startswith(OUTPUTS) and loaded:
            why = "0 at a load: not measured"
    return make_reading(reading.subject, reading.quantity, None, reading.unit, reading.at, why) if why else reading
