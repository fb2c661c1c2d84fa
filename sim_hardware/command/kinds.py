"""The verb `faults`: the catalogue. It needs no rack that is served."""

from __future__ import annotations

import json

import click

from sim_hardware.command.asking import SimError
from sim_hardware.command.options import Invocation, common
from sim_hardware.drives.offering import FAULTS
from supernoded.chaos.catalogue import suggest
from supernoded.ctl.chaos_wording import describe_kind, render_kinds
from supernoded.ctl.printing import print_sheet

DRIVE = "bench"


@click.command()
@click.argument("kind", default="")
@common
@click.pass_obj
def faults(invocation: Invocation, kind: str) -> None:
    """List the kinds of faults, or show the parameters of those whose name begins with KIND."""
    kinds = [describe_kind(one, DRIVE) for name, one in sorted(FAULTS.items()) if name.startswith(kind)]
    if not kinds:
        raise SimError(f"no kind of fault begins with {kind!r}; {suggest(kind, FAULTS, 'kinds')}")
    if invocation.as_json:
        click.echo(json.dumps({"faults": kinds}, indent=2))
    else:
        print_sheet(render_kinds(kinds, whole=bool(kind)))
