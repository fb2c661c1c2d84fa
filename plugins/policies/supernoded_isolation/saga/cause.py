"""Whether the cause of a card's trouble has turned out to lie elsewhere: in what it shares with others. Pure."""

from __future__ import annotations

from supernoded.plugin import Incident
from supernoded_isolation.evidence.shared import list_things
from supernoded_isolation.saga.place import find_rank_on
from supernoded_isolation.saga.stage import Scene

NAMED = frozenset({"card.silent", "card.faulty", "card.software"})  # kinds whose incidents of a thing name a shared cause


def find_elsewhere(scene: Scene, card: str) -> str:
    """The thing that an incident names within `undo_s` of this one's opening, as a sentence; empty when there is none."""
    things = {*list_things(card, scene.world.topology), scene.place.job or find_rank_on(scene.seen, card).rpartition("/")[0]} - {""}
    near = [
        one for one in scene.world.incidents if one.kind in NAMED and abs(one.opened - scene.case.incident.opened) <= scene.settings.undo_s
    ]
    return next((_say(one) for one in near if one.subject in things or card in one.members), "")


def _say(one: Incident) -> str:
    return f"{one.subject} is named as the cause: {one.text.rstrip('.')}"
