"""The verb `serve`."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import sys
from collections.abc import Iterator

import click

from sim_hardware.command.asking import SimError
from sim_hardware.command.looking import say_happening
from sim_hardware.command.options import Invocation, Seconds, common
from sim_hardware.command.racks import find_rack
from sim_hardware.drives.serving import SETTINGS, Served, serve_rack
from sim_hardware.plant.words import Happening
from sim_hardware.rack import Rack
from supernoded.ctl.printing import Table, print_sheet

TROUBLED = ("lost", "tripped", "failed", "down", "dead", "hung", "aborted", "broken", "silent", "leak", "off", "on_battery")
PROGRAM = "supernode-sim"
HOW = """
All URLs are in {folder}/endpoints.json. The daemon of {node}{likewise}, and how to ask it:
  PATH={home}/bin:$PATH supernoded --config {home}/{settings}
  supernodectl --socket {home}/run/admin.sock status
Do something to the rack, and see the truth:
  {ours} inject power.input_sag utility/A depth=1 --for 5
  {ours} truth ups/A
"""


@click.command()
@click.argument("rack")
@click.option("--seed", type=int, default=0, show_default=True, help="Of all chance in the rack.")
@click.option("--for", "seconds", type=Seconds(), metavar="SECONDS", help="End by itself after so long.")
@common
@click.pass_obj
def serve(invocation: Invocation, rack: str, seed: int, seconds: float | None) -> None:
    """Serve RACK, a name or a .toml file, over its real protocols until SIGINT or SIGTERM; then a line for everything that happens."""
    logging.basicConfig(format="%(levelname)s %(message)s", level=logging.WARNING)
    asyncio.run(_serve(invocation, find_rack(rack), rack, seed, seconds))


async def _serve(invocation: Invocation, rack: Rack, name: str, seed: int, seconds: float | None) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stopped.set)
    if not invocation.as_json:
        click.echo(f"{name} is to be served from {invocation.dir} ...", err=True)
    async with serve_rack(rack, invocation.dir, seed) as served:
        _introduce(invocation, served, name)
        teller = _Teller(invocation, stopped)
        served.rig.world.watches.append(teller.tell)
        if seconds is not None:
            loop.call_later(seconds, stopped.set)
        waiting = asyncio.create_task(stopped.wait())
        await asyncio.wait([waiting, served.keeping], return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if served.keeping.done() and (error := served.keeping.exception()) is not None:
            raise SimError(f"the rack can be served no longer: {error}") from error
    if teller.broken is not None:
        raise teller.broken


def _introduce(invocation: Invocation, served: Served, name: str) -> None:
    if invocation.as_json:
        click.echo(json.dumps({"rack": name, "folder": str(served.folder), "endpoints": served.endpoints}))
    else:
        print_sheet([Table(("DEVICE", "URL"), list(_list_devices(served)))])
        click.echo(_say_how(served))
    sys.stdout.flush()


def _list_devices(served: Served) -> Iterator[tuple[str, str]]:
    """Of many nodes the first one stands for all."""
    others = tuple(f"{node}/" for node in list(served.rig.trees)[1:])
    return ((device, url) for device, url in sorted(served.endpoints.items()) if not device.startswith(others))


def _say_how(served: Served) -> str:
    """Commands, each on a line that can be copied."""
    folder, (node, *others) = served.folder, list(served.rig.trees)
    ours = PROGRAM if folder == Invocation().dir else f"{PROGRAM} --dir {folder}"
    likewise = f", and likewise {others[0]} to {others[-1]}" if len(others) > 1 else f", and likewise {others[0]}" if others else ""
    return HOW.format(folder=folder, home=folder / node, node=node, likewise=likewise, ours=ours, settings=SETTINGS)


class _Teller:
    """A line for everything that happens. When nobody reads on, the serving ends."""

    def __init__(self, invocation: Invocation, stopped: asyncio.Event) -> None:
        self.broken: BrokenPipeError | None = None
        self._as_json, self._stopped = invocation.as_json, stopped

    def tell(self, news: Happening) -> None:
        """Say it."""
        table = {"at": news.at, "kind": news.kind, "subject": news.subject, "text": news.text, "value": news.value}
        try:
            if self._as_json:
                click.echo(json.dumps(table))
            else:
                click.secho(say_happening(table), fg="yellow" if news.kind.rpartition(".")[2] in TROUBLED else None)
            sys.stdout.flush()
        except BrokenPipeError as error:
            self.broken = error
            self._stopped.set()
