"""A map laid out for one device, and which reads bring it in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from supernoded_modbus.kinds import count_registers
from supernoded_modbus.maps import RegisterMap, Row, Table

MOST_BITS = 256  # of one read of coils or discrete inputs; the standard takes 2000, and no PDU has more outlets


class Place(NamedTuple):
    """One row at its address; `number` is that of the outlet or pump, -1 where there is one alone."""

    row: Row
    address: int
    size: int
    number: int
    subject: str

    @property
    def key(self) -> tuple[str, int]:
        """What it is asked for by."""
        return self.row.name, self.number


class Block(NamedTuple):
    """Places that one read brings in. A value of several registers is never cut in two."""

    table: Table
    address: int
    size: int
    places: tuple[Place, ...]


def lay_out(register_map: RegisterMap, subject: str, outlets: Sequence[int] = (), branches: Sequence[str] = ()) -> tuple[Place, ...]:
    """Every place of a device with these outlets, or with branches of these nodes, in the order of the map.

    What would stand beyond 65535 is left out.
    """
    places = (
        Place(row, address, size, number, _name_subject(row, subject, number, branches))
        for row in register_map.rows
        for size in (count_registers(row.kind, row.length),)
        for number, address in _number(row, register_map.base, outlets, len(branches))
    )
    return tuple(place for place in places if place.address + place.size <= 0x10000)


def _name_subject(row: Row, subject: str, number: int, branches: Sequence[str]) -> str:
    node = branches[number] if row.each == "branch" else ""
    return row.subject.replace("{subject}", subject).replace("{n}", str(number)).replace("{node}", node)


def _number(row: Row, base: int, outlets: Sequence[int], branches: int) -> Iterator[tuple[int, int]]:
    first = row.address - base
    if row.each == "branch":
        yield from ((number, first + number * row.stride) for number in range(branches))
    elif row.each:
        yield from ((number, first + (number - 1) * row.stride) for number in sorted(outlets) if number >= 1)
    elif row.count is not None:
        yield from ((number, first + number * row.stride) for number in range(row.count))
    else:
        yield -1, first


def find_clash(places: Iterable[Place]) -> str:
    """Why these cannot all stand where they do; empty = they can. Rows may show one register in two ways, but not two outlets."""
    last: Place | None = None
    for place in sorted(places, key=lambda place: (place.row.table, place.address, place.size)):
        if (
            last is not None
            and last.row.table == place.row.table
            and place.address < last.address + last.size
            and place.number != last.number
        ):
            return f"{_name(last)} and {_name(place)} both stand at {place.row.table} {place.address}"
        if last is None or last.row.table != place.row.table or place.address + place.size >= last.address + last.size:
            last = place
    return ""


def _name(place: Place) -> str:
    return place.row.name if place.number < 0 else f"{place.row.name} {place.number}"


def make_blocks(places: Iterable[Place], register_map: RegisterMap) -> tuple[Block, ...]:
    """The fewest reads that bring them in, none longer than the map allows and none over a gap that it does not."""
    tables: dict[Table, list[Place]] = defaultdict(list)
    for place in places:
        tables[place.row.table].append(place)
    return tuple(block for table, found in sorted(tables.items()) for block in _cut(table, found, register_map))


def _cut(table: Table, places: list[Place], register_map: RegisterMap) -> Iterator[Block]:
    most = MOST_BITS if table in ("coil", "discrete") else register_map.most
    run: list[Place] = []
    end = 0
    for place in sorted(places, key=lambda place: place.address):
        too_far = run and (place.address > end + register_map.gap or place.address + place.size - run[0].address > most)
        if too_far:
            yield _close(table, run, end)
            run, end = [], 0
        run.append(place)
        end = max(end, place.address + place.size)
    if run:
        yield _close(table, run, end)


def _close(table: Table, run: list[Place], end: int) -> Block:
    return Block(table, run[0].address, end - run[0].address, tuple(run))


def list_polled(places: Iterable[Place]) -> tuple[Place, ...]:
    """Those that are read without being asked for: what has a quantity, and the clocks of such."""
    every = tuple(places)
    clocks = {place.row.clock for place in every if place.row.quantity}
    return tuple(place for place in every if place.row.quantity or place.row.name in clocks)
