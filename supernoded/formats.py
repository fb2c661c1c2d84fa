"""The replay format that is nobody's device: readings as JSON lines."""

from __future__ import annotations

import json
import math
from codecs import BOM_UTF8
from collections.abc import Mapping

import msgspec

from supernoded.errors import SupernodedError
from supernoded.model import Reading, State
from supernoded.parts import Format, Source


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One line. What else stands in it, such as the `type` that `supernodectl replay` prints, is not looked at."""

    at: float
    subject: str
    quantity: str
    value: float | str | tuple[str, ...] | None
    unit: str
    state: State | None = None
    note: str = ""


_DECODER = msgspec.json.Decoder(Line)

# How others spell the units of our vocabulary.
_SPELLINGS: Mapping[str, str] = {
    **dict.fromkeys(("°C", "degC", "celsius", "Celsius"), "C"),
    **dict.fromkeys(("", "count", "errors", "bool"), "1"),
    "bits": "bit",
    "bytes": "B",
    "percent": "%",
    "Gbit/s": "Gb/s",
    "l/min": "L/min",
    "µs": "us",
    "RPM": "rpm",
}


def read_readings(source: Source) -> list[Reading]:
    """The readings of a file, ordered by `at`. Raises SupernodedError that names the first line that is none."""
    lines = enumerate(source.data.removeprefix(BOM_UTF8).splitlines(), start=1)
    return sorted((_read_line(source.name, number, line) for number, line in lines if line.strip()), key=lambda reading: reading.at)


def _read_line(name: str, number: int, line: bytes) -> Reading:
    try:
        told = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        wanted = 'write {"at": seconds, "subject": .., "quantity": .., "value": .., "unit": ..}'
        raise SupernodedError(f"{name}, line {number}: {error}; {wanted}") from error
    if not math.isfinite(told.at):
        raise SupernodedError(f"{name}, line {number}: `at` is {told.at}; write the time in seconds")
    value = frozenset(told.value) if isinstance(told.value, tuple) else told.value
    lost = isinstance(value, float) and not math.isfinite(value)
    return Reading(
        subject=told.subject,
        quantity=told.quantity,
        value=None if lost else value,
        unit=_SPELLINGS.get(told.unit, told.unit),
        at=told.at,
        state=State.UNKNOWN if lost else _find_state(told),
        note=told.note or (f"{value} is no measurement" if lost else ""),
    )


def _decode(line: bytes) -> Line:
    try:
        return _DECODER.decode(line)
    except msgspec.DecodeError as error:
        try:
            loose = json.loads(line)  # which reads what Python writes, NaN and Infinity, and 1e999 as that
        except ValueError:
            raise error from None
        return msgspec.convert(loose, Line)


def _find_state(told: Line) -> State:
    """UNKNOWN without a value, whatever the line says."""
    if told.value is None:
        return State.UNKNOWN
    return told.state if told.state is not None else State.GOOD


FORMATS: Mapping[str, Format] = {"readings": read_readings}
