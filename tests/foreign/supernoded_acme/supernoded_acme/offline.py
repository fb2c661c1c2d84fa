"""Without a chiller: reading its recorded answers, by `supernodectl replay --as acme-log` and by `supernodectl acme decode`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from supernoded.plugin import PluginError, Reading, Source, WireError
from supernoded_acme.device import to_reading


def read_log(source: Source) -> Iterable[Reading]:
    """Lines of `<seconds> <answer>`, such as `12.5 supply 21.9`. Raises PluginError naming the line."""
    for number, line in enumerate(source.data.decode("utf-8", "replace").splitlines(), start=1):
        fields = line.split()
        if not fields:
            continue
        try:
            yield to_reading(f"{source.node}/chiller0", fields[1:], float(fields[0]))
        except (ValueError, WireError) as error:
            raise PluginError(f"{source.name}: line {number}: {line!r} is not `<seconds> <answer>`: {error}") from error


@click.group()
def acme() -> None:
    """Acme chillers."""


@acme.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def decode(file: Path) -> None:
    """Print the readings in FILE, one a line."""
    for reading in read_log(Source(name=file.name, data=file.read_bytes(), at=0.0)):
        click.echo(f"{reading.at:g} {reading.subject} {reading.quantity} {reading.value} {reading.unit} {reading.note}".rstrip())
