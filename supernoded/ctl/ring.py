"""`supernodectl ring`: the rings as the daemon sees them; verbs below it are the plugins' group of the same name. Imported when called."""

from __future__ import annotations

from collections.abc import Mapping

import click
import msgspec

from supernoded.ctl.client import AdminClient, UnreachableError
from supernoded.ctl.foreign import list_commands
from supernoded.ctl.options import Invocation, common
from supernoded.ctl.printing import print_sheet
from supernoded.ctl.ring_drawing import Rings, SeenRing, render_rings, trace_rings
from supernoded.errors import AdminError
from supernoded.messages import Diagnosed, Links, ReadingFilter, Readings, SubjectFilter
from supernoded.model import Level

NAME = "ring"
OWN = f"{NAME}/"


class RingGroup(click.Group):
    """Our own view without a further verb, and whatever plugins bring below `ring`; theirs take the common options too."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The plugins' verbs."""
        del ctx
        return sorted(_find_verbs())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One of them."""
        del ctx
        verb = _find_verbs().get(cmd_name)
        if verb is not None and not any(option.name == "output" for option in verb.params):
            common(verb)
        return verb


def _find_verbs() -> Mapping[str, click.Command]:
    group = list_commands().get(NAME)
    return group.commands if isinstance(group, click.Group) else {}


@click.group(NAME, cls=RingGroup, invoke_without_command=True)
@common
@click.pass_context
def ring(context: click.Context) -> None:
    """Show the rings: each hop, its latency, where it is broken, and what the rules say of the whole."""
    if context.invoked_subcommand is not None:
        return
    invocation: Invocation = context.obj
    told = look(invocation.open_client())
    if invocation.as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(told), indent=2))
    else:
        print_sheet(render_rings(told))


def look(client: AdminClient) -> Rings:
    """The rings as of now. Raises AdminError."""
    links = client.get("links", Links).answer
    latencies = client.get("readings", Readings, ReadingFilter(quantity="hop.latency", limit=10_000)).answer
    found = [_describe(client, seen) for seen in trace_rings(links.links, latencies.readings)]
    others = dict.fromkeys(name for seen in found for name in seen.around if name not in {one.name for one in found})
    return Rings(now=links.now, rings=(*found, *(_describe(client, SeenRing(name=name)) for name in others)))


def _describe(client: AdminClient, seen: SeenRing) -> SeenRing:
    """With its name, which is that of the ring in which its first member is and that member's node is not; and what is said of it."""
    if seen.hops:
        member = seen.hops[0].member
        own, node = _find_rings(client, member), _find_rings(client, member.partition("/")[0])
        name = next((ring for ring in own if ring not in node), "")
        seen = msgspec.structs.replace(seen, name=name, around=tuple(dict.fromkeys((*own, *node))))
    told = _ask(client, seen.name) if seen.name else None
    if told is None:
        return seen
    mode = next((str(one.value) for one in told.readings if one.quantity == "ring.mode" and one.value is not None), "")
    said = [v for level in (Level.RAISED, Level.UNSURE) for v in told.verdicts if v.subject == seen.name and v.level is level]
    return msgspec.structs.replace(seen, mode=mode, said=tuple(v.text for v in said), raised=any(v.level is Level.RAISED for v in said))


def _find_rings(client: AdminClient, subject: str) -> tuple[str, ...]:
    told = _ask(client, subject)
    return () if told is None else tuple(thing for thing in told.related if thing.startswith(OWN))


def _ask(client: AdminClient, subject: str) -> Diagnosed | None:
    """What is known of a subject; None when the daemon knows no such thing, as of ports that no topology describes."""
    try:
        return client.get("diagnosis", Diagnosed, SubjectFilter(subject=subject)).answer
    except UnreachableError:
        raise
    except AdminError:
        return None
