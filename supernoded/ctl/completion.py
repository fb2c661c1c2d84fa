"""`supernodectl completion`: the shell's side of completion, as click makes it."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from supernoded.ctl.options import common

PROGRAM = "supernodectl"
VARIABLE = "_SUPERNODECTL_COMPLETE"
SHELLS: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


@click.command()
@click.argument("shell", type=click.Choice(list(SHELLS)))
@common
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print a completion script for a shell.

    For this shell only: `source <(supernodectl completion bash)`; for all of them, save it where the shell looks.
    """
    click.echo(SHELLS[shell](context.find_root().command, {}, PROGRAM, VARIABLE).source())
