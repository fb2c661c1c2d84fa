"""A tree of values: sorted names, each with a function that reads and perhaps one that writes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum

import msgspec

from sim_hardware.devices.snmp.words import Asn, Kind, Oid, number


class Status(IntEnum):
    """Error statuses (RFC 3416, 3)."""

    TOO_BIG = 1
    NO_SUCH_NAME = 2
    BAD_VALUE = 3
    GENERAL = 5
    NO_ACCESS = 6
    WRONG_TYPE = 7
    WRONG_LENGTH = 8
    WRONG_VALUE = 10
    NO_CREATION = 11
    INCONSISTENT_VALUE = 12
    COMMIT_FAILED = 14
    NOT_WRITABLE = 17


class SetError(Exception):
    """A SET is refused: why, and for which of its values (from 1)."""

    def __init__(self, status: Status, index: int = 0) -> None:
        super().__init__(f"{status.name}, value {index}")
        self.status, self.index = status, index


Commit = Callable[[], None]


class Cell(msgspec.Struct, frozen=True):
    """One instance. `read` gives None while there is none.

    `write` looks at a new value and gives what puts it in place; both raise SetError.
    """

    oid: Oid
    read: Callable[[], Asn | None]
    write: Callable[[Asn], Commit] | None = None


class Mib:
    """The tree. `mistyped` gives another type to all numbers below a name, as some agents do by mistake."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        self._cells = {cell.oid: cell for cell in cells}
        self._oids = sorted(self._cells)
        self._objects = {oid[:-1] for oid in self._oids}
        self.mistyped: dict[Oid, Kind] = {}

    def get(self, oid: Oid) -> Asn | None:
        """The value; None when there is none at present."""
        cell = self._cells.get(oid)
        return None if cell is None else self._read(cell)

    def is_object(self, oid: Oid) -> bool:
        """Whether the name is that of a known column or scalar, if not of an instance."""
        return oid[:-1] in self._objects

    def next(self, oid: Oid) -> tuple[Oid, Asn] | None:
        """The first instance after a name; None after the last."""
        for place in range(bisect_right(self._oids, oid), len(self._oids)):
            value = self._read(self._cells[self._oids[place]])
            if value is not None:
                return self._oids[place], value
        return None

    def set(self, values: Sequence[tuple[Oid, Asn]]) -> None:
        """Write all, or nothing when one cannot be. Raises SetError, at the first that cannot."""
        for index, commit in enumerate([self._check(index, *value) for index, value in enumerate(values, start=1)], start=1):
            try:
                commit()
            except SetError as error:
                raise SetError(error.status, index) from error

    def _check(self, index: int, oid: Oid, value: Asn) -> Commit:
        cell = self._cells.get(oid)
        if cell is None:
            raise SetError(Status.NO_CREATION if self.is_object(oid) else Status.NO_ACCESS, index)
        if cell.write is None:
            raise SetError(Status.NOT_WRITABLE, index)
        try:
            return cell.write(value)
        except SetError as error:
            raise SetError(error.status, index) from error

    def _read(self, cell: Cell) -> Asn | None:
        value = cell.read()
        if not self.mistyped or value is None or not isinstance(value.value, int):
            return value
        kind = next((kind for prefix, kind in self.mistyped.items() if cell.oid[: len(prefix)] == prefix), value.kind)
        return number(value.value, kind)
