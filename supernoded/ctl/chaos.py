"""`supernodectl chaos`: scenarios. Imported only when called: it brings the scenario core, and through it a drive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from supernoded.chaos.comparing import compare, load_report
from supernoded.chaos.drive import Drive
from supernoded.chaos.execute import lint_file, plan_run, read_right
from supernoded.chaos.preview import preview
from supernoded.chaos.reading import list_scenarios, read_scenario
from supernoded.ctl.chaos_options import DRIVE, SCENARIO, find_file, tell
from supernoded.ctl.chaos_run import matrix, run
from supernoded.ctl.chaos_wording import describe_kind, render_differences, render_kinds, render_list, render_preview, to_row
from supernoded.ctl.options import Invocation, common
from supernoded.errors import ChaosError


@click.group()
@common
def chaos() -> None:
    """Play scenarios: what is done to a rack, and what must come of it.

    Exit codes: 0 ok, 1 no, 2 usage, 4 refused, 5 undo not verified, 6 aborted, 7 inconclusive.
    """


@chaos.command("list")
@DRIVE
@common
@click.pass_obj
def list_(invocation: Invocation, drive: Drive) -> None:
    """List the scenarios that a drive ships."""
    rows = [to_row(name, path, *read_scenario(path)) for name, path in list_scenarios(drive.scenarios()).items()]
    tell(invocation, rows, render_list(rows))


@chaos.command("lint")
@click.argument("files", nargs=-1, required=True, metavar="FILE|NAME...")
@DRIVE
@common
@click.pass_context
def lint_(context: click.Context, files: tuple[str, ...], drive: Drive) -> None:
    """Find all that is wrong with scenario files: a line each, `file:line:column: text`. Exit 1 when there is anything."""
    problems = []
    for name in files:
        document, _ = lint_file(find_file(name, drive), drive)
        problems += sorted(document.problems, key=lambda problem: problem.line)
    invocation: Invocation = context.obj
    if invocation.as_json:
        click.echo(msgspec.json.encode(problems).decode())
    else:
        for problem in problems:
            click.echo(str(problem))
    context.exit(1 if problems else 0)


@chaos.command()
@SCENARIO
@DRIVE
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="What picks the targets.")
@common
@click.pass_context
def plan(context: click.Context, scenario: str, drive: Drive, seed: int) -> None:
    """Show what a run would do: targets, schedule, redundancy spent. Nothing is done. Exit 4 when the run would be refused."""
    try:
        told = preview(plan_run(read_right(find_file(scenario, drive), drive, seed), drive, seed))
    except ChaosError as error:
        click.echo(str(error), err=True)
        context.exit(4)
    tell(context.obj, told, render_preview(told))


@chaos.command()
@click.argument("kind", required=False, default="")
@DRIVE
@common
@click.pass_obj
def faults(invocation: Invocation, kind: str, drive: Drive) -> None:
    """List the kinds of faults that a drive can make, or show the parameters of those whose name begins with KIND."""
    kinds: list[dict[str, Any]] = [describe_kind(one, drive.name) for name, one in sorted(drive.faults().items()) if name.startswith(kind)]
    tell(invocation, kinds, render_kinds(kinds, whole=bool(kind)))


@chaos.command()
@click.argument("first", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("second", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--tolerance",
    type=click.FloatRange(min=0),
    default=0.0,
    metavar="SECONDS",
    help="Times that differ by no more are the same, and the traces are not compared: for two drives.",
)
@common
@click.pass_context
def diff(context: click.Context, first: Path, second: Path, tolerance: float) -> None:
    """Compare two reports of `chaos run -o json`. Exit 1 when they differ."""
    differences = compare(load_report(first), load_report(second), tolerance)
    tell(context.obj, differences, render_differences(differences))
    context.exit(1 if differences else 0)


chaos.add_command(run)
chaos.add_command(matrix)
