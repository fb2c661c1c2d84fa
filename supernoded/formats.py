"""The replay format that is nobody's device: readings as JSON lines."""

from __future__ import annotations

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


def read_readings(source: Source) -> list[Reading]:
    """The readings of a file, ordered by `at`. Raises SupernodedError that names the first line that is none."""
    lines = enumerate(source.data.splitlines(), start=1)
    return sorted((_read_line(source.name, number, line) for number, line in lines if line.strip()), key=lambda reading: reading.at)


def _read_line(name: str, number: int, line: bytes) -> Reading:
    try:
        told = _DECODER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        wanted = 'write {"at": seconds, "subject": .., "quantity": .., "value": .., "unit": ..}'
        raise SupernodedError(f"{name}, line {number}: {error}; {wanted}") from error
    return Reading(
        subject=told.subject,
        quantity=told.quantity,
        value=frozenset(told.value) if isinstance(told.value, tuple) else told.value,
        unit=told.unit,
        at=told.at,
        state=_find_state(told),
        note=told.note,
    )


def _find_state(told: Line) -> State:
    """UNKNOWN without a value, whatever the line says."""
    if told.value is None:
        return State.UNKNOWN
    return told.state if told.state is not None else State.GOOD


FORMATS: Mapping[str, Format] = {"readings": read_readings}
