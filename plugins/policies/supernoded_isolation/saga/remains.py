"""Whether anything is left of a job that could be ended: its ranks may have died with a node, or before this life heard of them. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from supernoded.plugin import Reading, State, View
from supernoded_isolation.evidence.card_views import PRESENT
from supernoded_isolation.saga.place import JOB, find_job
from supernoded_isolation.saga.stage import Scene

ABSENT_S = 10.0  # for which no node has told of a rank of it: those that live connect anew within a second or two (ours)


def is_dead(scene: Scene) -> bool:
    """Whether no rank is left of its job that could wait or save."""
    job = find_job(scene.seen, scene.place.job)
    return job is not None and job.is_dead


def is_ended(scene: Scene) -> bool | None:
    """The same, or all nodes that are heard say for a while that they have no rank of it; None = that is to be seen."""
    if find_job(scene.seen, scene.place.job) is not None:
        return is_dead(scene)
    told = list(_list_told(scene.seen, scene.place.job))
    if any(one.value != "absent" for one in told if scene.now - one.at <= ABSENT_S):
        return False
    heard = min((one.at for one in (*told, *_list_looks(scene.seen))), default=scene.now)
    return bool(told) if scene.now - heard >= ABSENT_S else None


def _list_told(seen: View, job: str) -> Iterator[Reading]:
    for source in seen.sources(JOB, job):
        if seen.good(JOB, job, source) is not None:
            yield from (one for one in seen.window(JOB, job, source) if one.state is State.GOOD)


def _list_looks(seen: View) -> Iterator[Reading]:
    """By which it shows how long this life has heard anything."""
    for card in seen.subjects(PRESENT):
        for source in seen.sources(PRESENT, card):
            yield from seen.window(PRESENT, card, source)[:1]
