"""`npu-smi info`: the table of all chips, read by what its two header lines name, whatever its width and columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from supernoded.plugin import quote
from supernoded_ascend.making import LONGEST_LINE, MOST_LINES, is_number

_WORD = re.compile(r"\d+\s*/\s*\d+|\S+", re.ASCII)  # `58072/ 65536` is one
_RULE = re.compile(r"[|+\-=\s]*")  # a line between rows


class Chip(msgspec.Struct, frozen=True):
    """Two rows of the table; `values` are by the names in the header, in small letters. A value that was not printed is not there."""

    npu: int
    chip: int
    name: str
    values: Mapping[str, str]

    @property
    def physical(self) -> int | None:
        """Its number over the whole machine, where the table has one."""
        text = self.values.get("phy-id", "")
        return int(text) if is_number(text) else None


class Table(msgspec.Struct, frozen=True):
    """What stands in it. `strange` are lines that are no rows: whatever is missing may be one of them.

    It is `whole` when the table of processes follows: the tool was not cut short.
    """

    chips: tuple[Chip, ...] = ()
    strange: tuple[str, ...] = ()
    whole: bool = False


Cells = Sequence[Sequence[str]]


def parse_table(text: str) -> Table:
    """All chips. What stands before the header is not looked at, nor the table of processes after it."""
    upper: Cells = ()
    lower: Cells = ()
    first: Cells = ()
    chips: list[Chip] = []
    strange: list[str] = []
    whole = False
    for line in text.splitlines()[:MOST_LINES]:
        cells = _split(line)
        if _begins(cells, "npu", "name"):
            upper, lower, first = _lower(cells), (), ()
        elif upper and not lower and _begins(cells, "chip"):
            lower = _lower(cells)
        elif _begins(cells, "npu", "chip"):  # the processes
            upper, lower = (), ()
            whole = True
        elif not lower or _RULE.fullmatch(line):
            continue
        elif not first and _fits(cells, upper, 1):
            first = cells
        elif first and (chip := _join(upper, lower, first, cells)) is not None:
            chips.append(chip)
            first = ()
        else:
            strange.append(quote(line.strip()))
            first = ()
    return Table(tuple(chips), tuple(strange), whole)


def _split(line: str) -> Cells:
    """The words of each cell of a line between bars; none when it is not one."""
    line = line[:LONGEST_LINE].strip()
    if not line.startswith("|") or not line.endswith("|"):
        return ()
    return [_WORD.findall(cell) for cell in line[1:-1].split("|")]


def _begins(cells: Cells, *words: str) -> bool:
    return len(cells) > 1 and [word.lower() for word in cells[0][: len(words)]] == list(words)


def _lower(cells: Cells) -> Cells:
    return [[word.lower() for word in cell] for cell in cells]


def _fits(cells: Cells, header: Cells, numbers: int) -> bool:
    """Whether it has the header's cells, and begins with so many numbers."""
    return len(cells) == len(header) and len(cells[0]) >= numbers and all(is_number(word) for word in cells[0][:numbers])


def _join(upper: Cells, lower: Cells, first: Cells, second: Cells) -> Chip | None:
    """One chip; None when the second row is none."""
    if not _fits(second, lower, 1):
        return None
    values = dict(_name(upper[1:], first[1:]))
    values |= dict(_name(lower, second))
    return Chip(int(first[0][0]), int(second[0][0]), " ".join(first[0][1:]), values)


def _name(header: Cells, cells: Cells) -> Iterator[tuple[str, str]]:
    """Names and words of the cells that have as many as their header; a lone word under one name may be several."""
    for names, words in zip(header, cells, strict=True):
        if len(names) == len(words):
            yield from zip(names, words, strict=True)
        elif len(names) == 1 and words:
            yield names[0], " ".join(words)


class Mapped(msgspec.Struct, frozen=True):
    """One row of `npu-smi info -m`."""

    npu: int
    chip: int
    device: int  # the physical number where it is told, else the logical one: what `hccn_tool -i` takes


def parse_mapping(text: str) -> tuple[Mapped, ...]:
    """The chips that compute: a controller has no logical number."""
    lines = [re.split(r"\s{2,}|\t", line.strip()) for line in text.splitlines()[:MOST_LINES]]
    heads = [place for place, line in enumerate(lines) if line[:2] == ["NPU ID", "Chip ID"]]
    return tuple(_list_mapped([name.lower() for name in lines[heads[0]]], lines[heads[0] + 1 :])) if heads else ()


def _list_mapped(names: Sequence[str], lines: Iterable[Sequence[str]]) -> Iterator[Mapped]:
    for line in lines:
        row = dict(zip(names, line, strict=False))
        numbers = [row["npu id"], row.get("chip id", ""), row.get("chip phy-id") or row.get("chip logic id", "")]
        if all(map(is_number, numbers)):
            yield Mapped(*map(int, numbers))
