"""`supernodectl ring verify`: the cabling as it is against the cabling as it was meant; without a daemon, for crews at the rack."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from supernoded.plugin import SupernodedError, Topology, read_topology
from supernoded_ring.explaining import CLOSED
from supernoded_ring.links import join_links, recognise
from supernoded_ring.observed import ObservedError, read_observed
from supernoded_ring.plan import build_plans
from supernoded_ring.verify import Report, verify

MOST_LISTED = 16  # rings; of more, those that are closed are only counted
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group("ring")
def ring() -> None:
    """Rings and their cabling."""


@ring.command("verify")
@click.argument("topology", type=FILE, metavar="TOPOLOGY.toml")
@click.option("--observed", type=FILE, required=True, metavar="FILE.json", help='A list of {"a": port, "b": port}.')
@click.pass_context
def verify_command(context: click.Context, topology: Path, observed: Path) -> None:
    """Verify observed links against the rings of a topology; no daemon is asked.

    Prints a verdict, what is wrong, and the fewest moves that repair it: one move is one cable end that goes into another port.
    Exits 0 when every ring is closed as it was meant, else 1.
    """
    site = _read_site(topology)
    report = inspect(site, observed)
    if getattr(context.obj, "output", "table") == "json":
        click.echo(msgspec.json.format(msgspec.json.encode(report), indent=2))
    else:
        click.echo("\n".join(lay_out(report)))
    context.exit(0 if report.verdict == CLOSED else 1)


def _read_site(path: Path) -> Topology:
    try:
        site = read_topology(path.read_text("utf-8"), str(path))
    except (SupernodedError, OSError, UnicodeDecodeError) as error:
        raise click.BadParameter(str(error), param_hint="TOPOLOGY.toml") from error
    if not site.rings:
        raise click.BadParameter(f"{path} describes no ring; add [[rings]]", param_hint="TOPOLOGY.toml")
    return site


def inspect(site: Topology, observed: Path) -> Report:
    """What the links in a file make of the rings. Raises BadParameter for a file that cannot be used."""
    try:
        pairs = read_observed(observed.read_bytes())
    except (ObservedError, OSError) as error:
        raise click.BadParameter(f"{observed}: {error}", param_hint="--observed") from error
    mates, faults = join_links(pairs, recognise(site))
    return verify(build_plans(site), mates, faults)


def lay_out(report: Report) -> Iterator[str]:
    """For people: each ring's verdict, what is wrong, and what to do, numbered."""
    named = [ring for ring in report.rings if ring.verdict != CLOSED or len(report.rings) <= MOST_LISTED]
    width = max((len(ring.ring) for ring in named), default=0)
    yield from (f"ring {ring.ring:{width}s}  {ring.verdict}" for ring in named)
    if closed := len(report.rings) - len(named):
        yield f"{closed} {'other rings' if named else 'rings'}  {CLOSED}"
    if report.findings:
        yield from ("", "What is wrong:")
        yield from (f"  {finding.sentence}" for finding in report.findings)
    if report.moves:
        yield from ("", f"What to do, {len(report.moves)} cable {'end' if len(report.moves) == 1 else 'ends'}:")
        yield from (f"  {move.number:3d}. {move.sentence}" for move in report.moves)
    elif report.verdict != CLOSED:
        yield from ("", "No cable has to be moved: correct the list of links.")
