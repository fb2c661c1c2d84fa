"""`supernodectl replay`: what the daemon would have seen, said and planned. Imported only when called: it brings the daemon's inside."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

import click
import msgspec

from supernoded.ctl.options import common
from supernoded.ctl.replaying import read_sources, replay
from supernoded.errors import SupernodedError
from supernoded.formats import FORMATS
from supernoded.parts import Format
from supernoded.registry import discover, formats
from supernoded.settings import default_settings, read_settings


@click.command("replay")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path), metavar="FILE...")
@click.option("--as", "format_name", required=True, metavar="FORMAT", help="How to read them; a wrong one lists those there are.")
@click.option("--config", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Settings to judge by. Default: the defaults.")
@click.option("--node", default="n0", show_default=True, help="The node whose readings these are, without --config.")
@click.option("--start", default=0.0, show_default=True, help="Input time of the first file, for formats that carry none, in seconds.")
@click.option("--every", default=5.0, show_default=True, type=click.FloatRange(min=0.001), help="Seconds from one file to the next.")
@common
def command(files: tuple[Path, ...], format_name: str, config: Path | None, node: str, start: float, every: float) -> None:
    """Run recorded input through the daemon's own rules, and print what comes of it as JSON lines.

    Each line has `type` and `at` (input time): `reading`, `event`, `incident`, or `action`, which is what would be planned: nothing is
    ever applied. A FILE may be a folder such as a copy of /sys/class/infiniband; several files are snapshots, one after the other.
    The output is JSON whatever -o says, and no daemon is asked.
    """
    logging.getLogger("supernoded").addHandler(logging.StreamHandler(sys.stderr))
    settings = read_settings(config, os.environ) if config is not None else default_settings(os.environ, node)
    sources, read = read_sources(files, settings.node, start, every), _find_format(format_name)
    try:
        replay(sources, read, settings, every, _print)
        sys.stdout.flush()
    except (SupernodedError, BrokenPipeError):
        raise  # of the latter click makes a quiet end: whoever reads has seen enough
    except OSError as error:
        raise SupernodedError(f"the output cannot be written: {error.strerror}; free space, or write elsewhere") from error


def _find_format(name: str) -> Format:
    known = {**FORMATS, **formats(discover())}
    if name not in known:
        raise click.BadParameter(f"there is no format {name!r}; there are {', '.join(sorted(known))}", param_hint="--as")
    return known[name]


def _print(line: dict[str, object]) -> None:
    sys.stdout.write(msgspec.json.encode(line).decode() + "\n")
