"""What a verb prints: a sheet is plain data made by pure functions; only here does it meet a terminal."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import click
import msgspec
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from supernoded.ctl.client import Reply
from supernoded.ctl.options import Invocation
from supernoded.ctl.wording import NONE
from supernoded.messages import Answer

T = TypeVar("T", bound=Answer)

WIDE = 100_000  # columns of a pipe: nothing is wrapped or cut
GAP = 2  # between columns
LEAST = 8  # characters of a column that gives way
INDENT = 4  # of sentences below their row

STYLES = {  # a cell that is one of these words
    "critical": "bold red",
    "warning": "yellow",
    "info": "cyan",
    "good": "green",
    "unknown": "yellow",
    "stale": "magenta",
    "unsure": "yellow",
    "up": "green",
    "down": "bold red",
    "conflict": "bold yellow",
    "suspect": "yellow",
    "isolating": "bold yellow",
    "isolated": "bold yellow",
    "probation": "yellow",
    "absent": "bold red",
    "act": "bold",
    "READY": "bold green",
    "DEGRADED": "bold yellow",
    "STARTING": "bold yellow",
    "done": "green",
    "refused": "yellow",
    "unconfirmed": "red",
    "expired": "yellow",
    "left out": "yellow",
    "PASS": "green",
    "FAIL": "bold red",
    "INCONCLUSIVE": "yellow",
    "ABORTED": "bold red",
    "REFUSED": "yellow",
    "not verified": "bold red",
}


@dataclass(frozen=True)
class Table:
    """Rows under columns; without `columns` there is no header. `empty` is said when there are no rows.

    The last `below` columns are sentences: on a terminal that is too narrow each stands on lines of its own below its row.
    """

    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    empty: str = ""
    below: int = 0


class Drawing(Protocol):
    """What lays itself out in so many columns, in colours of its own; into a pipe these are left away."""

    def draw(self, width: int) -> Sequence[Text]:
        """Its lines."""
        ...


Sheet = Sequence[str | Table | Drawing]


def show(invocation: Invocation, reply: Reply[T], render: Callable[[T], Sheet]) -> None:
    """Print an answer: to programs as it came, to people as `render` lays it out."""
    if invocation.as_json:
        click.echo(msgspec.json.format(reply.body, indent=2))
    else:
        print_sheet(render(reply.answer))


def print_sheet(sheet: Sheet, *, to_stderr: bool = False) -> None:
    """Print a sheet; in colour on a terminal, whole and unwrapped into a pipe."""
    stream = sys.stderr if to_stderr else sys.stdout
    if stream.isatty():
        _print_on(Console(file=stream, highlight=False), sheet)
        return
    page = io.StringIO()
    _print_on(Console(file=page, width=WIDE, color_system=None, force_terminal=False, highlight=False), sheet)
    for line in page.getvalue().splitlines():
        click.echo(line.rstrip(), file=stream)


def _print_on(console: Console, sheet: Sheet) -> None:
    for part in sheet:
        if isinstance(part, str):
            console.print(_to_text(part))
        elif not isinstance(part, Table):
            for line in part.draw(console.width):
                console.print(line)
        elif part.rows:
            for piece in _lay_out(part, console):
                console.print(piece)
        else:
            console.print(_to_text(part.empty))


def _lay_out(table: Table, console: Console) -> Iterator[RenderableType]:
    widths = [max(map(cell_len, cells)) for cells in zip(*([table.columns] if table.columns else []), *table.rows, strict=True)]
    if not table.below or sum(widths) + GAP * (len(widths) - 1) <= console.width:
        yield _to_grid(table.columns, table.rows)
        return
    short = len(widths) - table.below
    widths = narrow(widths[:short], console.width)
    yield _to_grid(table.columns[:short], (), widths)
    for row in table.rows:
        yield _to_grid((), [row[:short]], widths)
        said = [(name.lower(), cell) for name, cell in zip(table.columns[short:], row[short:], strict=True) if cell not in {"", NONE}]
        if said:
            yield Padding(_to_grid((), said if table.below > 1 else [(cell,) for _, cell in said]), (0, 0, 0, INDENT))


def narrow(widths: Sequence[int], room: int) -> list[int]:
    """Widths of columns that fit into `room` with the gaps between them: the widest give way, down to LEAST."""
    narrowed = list(widths)
    while sum(narrowed) + GAP * (len(narrowed) - 1) > room and max(narrowed) > LEAST:
        narrowed[narrowed.index(max(narrowed))] -= 1
    return narrowed


def _to_grid(columns: Sequence[str], rows: Sequence[tuple[str, ...]], widths: Sequence[int] = ()) -> RichTable:
    grid = RichTable(box=None, pad_edge=False, show_header=bool(columns), header_style="bold", padding=(0, GAP, 0, 0))
    for i in range(len(columns or rows[0])):
        grid.add_column(columns[i] if columns else "", overflow="fold", width=widths[i] if widths else None)  # folded, never cut
    for row in rows:
        grid.add_row(*(_to_text(cell) for cell in row))
    return grid


def _to_text(cell: str) -> Text:
    return Text(escape_controls(cell), style=STYLES.get(cell, ""))


def escape_controls(text: str) -> str:
    r"""What a device or a kernel line says must not steer the terminal: control characters are shown as `\x1b`."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)
