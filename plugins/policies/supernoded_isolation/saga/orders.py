"""The two orders, each to be read from top to bottom, and who goes which way. See docs/cards.md."""

from __future__ import annotations

from supernoded_isolation.saga.place import find_job
from supernoded_isolation.saga.remains import is_dead
from supernoded_isolation.saga.stage import Answer, Order, Scene, Stage, Stop, attempt, find_deeds, is_sent
from supernoded_isolation.saga.stages import (
    abort,
    checkpoint,
    end_and_find,
    fence,
    hangs,
    hold,
    remap,
    resume,
    substitute,
    verify,
)


def find_or_stop(scene: Scene) -> Answer:
    """A spare is found before the running job is ended. Without one the job is saved and stopped, and the card fenced (safety rule 31)."""
    if is_sent(scene.record, "abort") or find_deeds(scene.record, "remap"):
        return None
    begun = find_deeds(scene.record, "stop")
    answer = Stop("there was nothing to take its place") if begun else substitute(scene)
    if not isinstance(answer, Stop):
        return answer
    if is_dead(scene) and not begun:
        fenced = fence(scene)
        return answer if fenced is None else fenced
    reason = f"{answer.text}: save, stop, and wait for a person"
    seconds = scene.settings.checkpoint_s
    order = Order("stop", "job.stop", scene.place.job, reason, 2.0 * seconds, amount=seconds)
    stopped = attempt(scene, order)
    if isinstance(stopped, Stop):
        return Stop(f"{answer.text}; and {stopped.text}")
    if stopped is not None:
        return stopped
    fenced = fence(scene)
    return answer if fenced is None else fenced


ALIVE: tuple[Stage, ...] = (checkpoint, hold, find_or_stop, abort, fence, remap, resume, verify)
SILENT: tuple[Stage, ...] = (hold, end_and_find, remap, resume, verify)
UNUSED: tuple[Stage, ...] = (hold, fence)
PROCESS: tuple[Stage, ...] = (abort, resume, verify)


def choose_order(scene: Scene) -> tuple[Stage, ...]:
    """By what the card does to its job. A job that hangs by now goes the way of the silent, whatever the incident began as."""
    if not scene.place.rank:
        return UNUSED
    if scene.case.incident.kind == "card.silent" or is_waiting(scene):
        return SILENT
    return ALIVE


def is_waiting(scene: Scene) -> bool:
    """Whether no checkpoint can be had any more and no abort is under way, which makes every job look as if it hung."""
    return not is_sent(scene.record, "abort") and find_job(scene.seen, scene.place.job) is not None and hangs(scene)
