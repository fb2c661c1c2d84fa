"""Whether a card should not have been taken out: its trouble lies elsewhere, is over, or somebody has let it go. Pure."""

from __future__ import annotations

from supernoded.plugin import Incident
from supernoded_isolation.evidence.card_views import is_well
from supernoded_isolation.evidence.shared import list_things
from supernoded_isolation.saga.place import are_holds_known, find_job, find_rank_on, list_ours
from supernoded_isolation.saga.stage import Scene, find_deeds, is_assumed, is_sent

SHARE = 0.5  # of `software_s`, by which its incident is older then: it was opened somewhat later than the cards were suspects (ours)
NAMED = frozenset({"card.silent", "card.faulty", "card.software"})  # kinds whose incidents of a thing name a shared cause


def find_elsewhere(scene: Scene, card: str) -> str:
    """The thing that an incident names within `undo_s` of this one's opening, as a sentence; empty when there is none."""
    things = {*list_things(card, scene.world.topology), scene.place.job or find_rank_on(scene.seen, card).rpartition("/")[0]} - {""}
    near = [
        one
        for one in scene.world.incidents
        if one.kind in NAMED and abs(one.opened - scene.case.incident.opened) <= scene.settings.undo_s and not _was_outlived(scene, one)
    ]
    return next((_say(one) for one in near if one.subject in things or card in one.members), "")


def _was_outlived(scene: Scene, one: Incident) -> bool:
    """Whether software was named long before, and the job stood still all the same: then the card is blamed though that was known."""
    return one.kind == "card.software" and scene.case.incident.opened - one.opened >= SHARE * scene.settings.software_s


def was_let_go(scene: Scene) -> bool:
    """Whether our hold was placed and stands no more: somebody has lifted it."""
    placed = any(deed.done and not is_assumed(deed) for deed in find_deeds(scene.record, "hold"))
    return placed and are_holds_known(scene.world) and not list_ours(scene.world, scene.place.card)


def has_recovered(scene: Scene) -> bool:
    """Whether a card that held its job up is well before anything but the hold was done, and the job steps with it."""
    begun = is_sent(scene.record, "abort") or find_deeds(scene.record, "fence")
    if scene.case.still_raised or scene.case.incident.kind != "card.silent" or begun:
        return False
    place, job = scene.place, find_job(scene.seen, scene.place.job)
    rank = job.find(place.card) if job is not None else None
    if job is None or rank is None or rank.state != "running":
        return False
    return not job.hangs and rank not in job.culprits and is_well(scene.seen, place.card, scene.table, scene.case.incident.opened)


def _say(one: Incident) -> str:
    return f"{one.subject} is named as the cause: {one.text.rstrip('.')}"
