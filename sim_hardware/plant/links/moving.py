"""A plug goes into another port."""

from __future__ import annotations

from sim_hardware.plant.links.revising import Revision


def move_plug(revision: Revision, source: int, target: int) -> None:
    """What is in `source` and in `target` changes places. Done twice, everything is as it was."""
    touched = [end for number in (source, target) for end in (number, revision.peers[number]) if end >= 0]
    revision.pause(touched)
    plugs = revision.plugs
    plugs[source], plugs[target] = plugs[target], plugs[source]
    places = {plug: number for number, plug in enumerate(plugs) if plug >= 0}
    for number in touched:
        revision.peers[number] = places.get(plugs[number] ^ 1, -1) if plugs[number] >= 0 else -1
    revision.refresh(touched)
    names = revision.site.places
    text = f"the plug in {names[source].subject} is now in {names[target].subject}"
    revision.tell("cable.moved", revision.site.lines[plugs[target] // 2].subject, text)
