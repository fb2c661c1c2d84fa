"""What a verb prints: a sheet is plain data made by pure functions; only here does it meet a terminal."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import click
import msgspec
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from supernoded.ctl.client import Reply
from supernoded.ctl.options import Invocation
from supernoded.messages import Answer

T = TypeVar("T", bound=Answer)

WIDE = 100_000  # columns of a pipe: nothing is wrapped or cut

STYLES = {  # a cell that is one of these words
    "critical": "bold red",
    "warning": "yellow",
    "info": "cyan",
    "good": "green",
    "unknown": "yellow",
    "stale": "magenta",
    "act": "bold",
    "READY": "bold green",
    "DEGRADED": "bold yellow",
    "STARTING": "bold yellow",
    "done": "green",
    "refused": "yellow",
    "unconfirmed": "red",
    "expired": "yellow",
    "left out": "yellow",
}


@dataclass(frozen=True)
class Table:
    """Rows under columns; without `columns` there is no header. `empty` is said when there are no rows."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    empty: str = ""


Sheet = Sequence[str | Table]


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
        if isinstance(part, Table) and part.rows:
            console.print(_lay_out(part))
        else:
            console.print(_to_text(part.empty if isinstance(part, Table) else part))


def _lay_out(table: Table) -> RichTable:
    laid_out = RichTable(box=None, pad_edge=False, show_header=bool(table.columns), header_style="bold", padding=(0, 2, 0, 0))
    for i in range(len(table.rows[0])):
        laid_out.add_column(table.columns[i] if table.columns else "", overflow="fold")  # folded, never cut
    for row in table.rows:
        laid_out.add_row(*(_to_text(cell) for cell in row))
    return laid_out


def _to_text(cell: str) -> Text:
    return Text(escape_controls(cell), style=STYLES.get(cell, ""))


def escape_controls(text: str) -> str:
    r"""What a device or a kernel line says must not steer the terminal: control characters are shown as `\x1b`."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)
