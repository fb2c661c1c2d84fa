"""supernode-sim. Exit codes: 0 ok, 1 no, 2 usage, 3 unreachable."""

from __future__ import annotations

from typing import Any

import click

from sim_hardware.command import faulting, looking, racks
from sim_hardware.command.asking import SimError, UnservedError
from sim_hardware.command.options import common
from supernoded import __version__
from supernoded.ctl.deferred import Deferred
from supernoded.errors import SupernodedError

PROGRAM = "supernode-sim"


class _No(click.ClickException):
    """A sentence on stderr and an exit code."""

    exit_code = 1

    def show(self, file: Any = None) -> None:
        click.echo(f"{PROGRAM}: {self.message}", err=True, file=file)


class _Unreachable(_No):
    """No rack could be asked."""

    exit_code = 3


class _Program(click.Group):
    """Turns what is raised on purpose into an exit code, for every verb in one place."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (SimError, SupernodedError) as error:
            raise (_Unreachable if isinstance(error, UnservedError) else _No)(str(error)) from error


@click.group(cls=_Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@common
@click.version_option(__version__, prog_name=PROGRAM)
def program() -> None:
    """Serve a simulated rack over its real protocols, do to it what befalls real ones, and see the truth."""


program.add_command(Deferred("serve", "sim_hardware.command.serve:serve", "Serve a rack until SIGINT or SIGTERM."))
program.add_command(Deferred("faults", "sim_hardware.command.kinds:faults", "List the kinds of faults, or show some."))
for _verb in (
    racks.racks,
    racks.show,
    faulting.inject,
    faulting.lift,
    faulting.active,
    looking.truth,
    looking.sense,
    looking.sensors,
    looking.watch,
):
    program.add_command(_verb)


def main() -> None:
    """The console script."""
    program(prog_name=PROGRAM)
