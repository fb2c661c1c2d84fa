"""The verbs `racks` and `show`: which racks there are, and what is in one."""

from __future__ import annotations

import difflib
import json

import click

from sim_hardware.command.asking import SimError
from sim_hardware.command.options import Invocation, common
from sim_hardware.rack import SHIPPED, Rack, RackError, load_rack, write_rack
from supernoded.ctl.printing import Table, print_sheet


def find_rack(name: str) -> Rack:
    """A rack by name or file. Raises SimError that suggests the nearest name."""
    try:
        return load_rack(name)
    except RackError as error:
        near = difflib.get_close_matches(name, SHIPPED, n=1)
        raise SimError(f"{error}" + (f"; did you mean {near[0]}?" if near and near[0] != name else "")) from error


@click.command()
@common
@click.pass_obj
def racks(invocation: Invocation) -> None:
    """List the racks that come with the simulator."""
    known = {name: find_rack(name) for name in SHIPPED}
    if invocation.as_json:
        rows = [
            {"name": name, "nodes": len(rack.nodes), "cards": len(rack.list_cards()), "text": rack.sim.text} for name, rack in known.items()
        ]
        click.echo(json.dumps({"racks": rows}, indent=2))
        return
    cells = [(name, str(len(rack.nodes)), str(len(rack.list_cards())), rack.sim.text) for name, rack in known.items()]
    print_sheet(
        [
            Table(("RACK", "NODES", "CARDS", "WHAT"), cells, below=1),
            "Any rack-NxM or pod-NxM is generated too, N nodes with M cards each; and a .toml file is a rack of your own.",
        ]
    )


@click.command()
@click.argument("rack")
@common
@click.pass_obj
def show(invocation: Invocation, rack: str) -> None:
    """Show the TOML of RACK: a name, or a file. A file of your own may begin so, or say `like = "rack-4x8"`."""
    text = write_rack(find_rack(rack))
    click.echo(json.dumps({"name": rack, "rack": text}, indent=2) if invocation.as_json else text.rstrip("\n"))
