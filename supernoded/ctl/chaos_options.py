"""What the verbs of `supernodectl chaos` share: the drive, the scenario's name, and how an answer leaves."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import click
import msgspec
from click.shell_completion import CompletionItem

from supernoded.chaos.drive import DRIVES, Drive, find_drive
from supernoded.chaos.reading import find_scenario, list_scenarios
from supernoded.ctl.options import Invocation
from supernoded.ctl.printing import Sheet, print_sheet
from supernoded.errors import ChaosError, PluginError, SupernodedError

DEFAULT_DRIVE = "sim"


def _find_drive(context: click.Context, option: click.Parameter, value: str) -> Drive | str:
    """The drive of this name; usage is wrong when nobody brings it."""
    if context.resilient_parsing:
        return value
    try:
        return find_drive(value)
    except PluginError as error:
        raise click.BadParameter(str(error), context, option) from error


def complete_drive(context: click.Context, option: click.Parameter, typed: str) -> list[CompletionItem]:
    """The drives that are installed."""
    del context, option
    return [CompletionItem(name) for name in sorted({one.name for one in entry_points(group=DRIVES)}) if name.startswith(typed)]


def complete_scenario(context: click.Context, option: click.Parameter, typed: str) -> list[CompletionItem]:
    """The drive's scenarios, else files."""
    del option
    try:
        known = list_scenarios(find_drive(context.params.get("drive") or DEFAULT_DRIVE).scenarios())
    except SupernodedError:  # in the middle of a line there is nobody to tell
        known = {}
    return [CompletionItem(name) for name in known if name.startswith(typed)] or [CompletionItem(typed, type="file")]


DRIVE = click.option(
    "--drive",
    callback=_find_drive,
    default=DEFAULT_DRIVE,
    show_default=True,
    metavar="NAME",
    shell_complete=complete_drive,
    help="What plays it.",
)
SCENARIO = click.argument("scenario", metavar="FILE|NAME", shell_complete=complete_scenario)


def find_file(name: str, drive: Drive) -> Path:
    """The scenario file of this path or catalogue name; usage is wrong when there is none."""
    try:
        return find_scenario(name, drive.scenarios())
    except ChaosError as error:
        raise click.UsageError(str(error)) from error


def tell(invocation: Invocation, told: Any, sheet: Sheet) -> None:
    """Print an answer: to programs as JSON, alone; to people laid out."""
    if invocation.as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(told), indent=2).decode())
    else:
        print_sheet(sheet)
