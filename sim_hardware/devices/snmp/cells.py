"""Cells of the usual sorts: constants, settings, and the system group."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.snmp.mib import Cell, Commit, SetError, Status
from sim_hardware.devices.snmp.words import MOST, Asn, Oid, number, text, ticks
from sim_hardware.plant.words import OrderError

_SYSTEM = (1, 3, 6, 1, 2, 1, 1)


def constant(oid: Oid, value: Asn) -> Cell:
    """What is always the same."""
    return Cell(oid, lambda: value)


class Setting:
    """A value that a manager may write: a number within a range, or a text of at most `most` bytes."""

    def __init__(self, value: Asn, low: int = 0, most: int = MOST) -> None:
        self.value, self._low, self._most = value, low, most

    @property
    def whole(self) -> int:
        """The number; 0 of a text."""
        return self.value.value if isinstance(self.value.value, int) else 0

    def cell(self, oid: Oid) -> Cell:
        """The cell that shows and sets it."""
        return Cell(oid, lambda: self.value, self._write)

    def _write(self, value: Asn) -> Commit:
        if value.kind != self.value.kind:
            raise SetError(Status.WRONG_TYPE)
        if isinstance(value.value, bytes) and len(value.value) > self._most:
            raise SetError(Status.WRONG_LENGTH)
        if isinstance(value.value, int) and not self._low <= value.value <= self._most:
            raise SetError(Status.WRONG_VALUE)

        def commit() -> None:
            self.value = value

        return commit


def take_whole(value: Asn, low: int, high: int) -> int:
    """The number of a SET within a range. Raises SetError."""
    if value.kind != "integer" or not isinstance(value.value, int):
        raise SetError(Status.WRONG_TYPE)
    if not low <= value.value <= high:
        raise SetError(Status.WRONG_VALUE)
    return value.value


def ordering(act: Callable[[], None]) -> Commit:
    """A commit that gives an order; one that the plant refuses is a failed commit."""

    def commit() -> None:
        try:
            act()
        except OrderError as error:
            raise SetError(Status.COMMIT_FAILED) from error

    return commit


def list_system(panel: Panel, description: str, oid: Oid, name: str) -> Iterator[Cell]:
    """The system group (RFC 3418). Uptime is that of the plant: cards are powered with it."""
    yield constant((*_SYSTEM, 1, 0), text(description))
    yield constant((*_SYSTEM, 2, 0), Asn("oid", oid))
    yield Cell((*_SYSTEM, 3, 0), lambda: ticks(panel.now()))
    for column, value in ((4, ""), (5, name), (6, "")):
        yield Setting(text(value), most=255).cell((*_SYSTEM, column, 0))
    yield constant((*_SYSTEM, 7, 0), number(72))
