"""The stages of both orders. Each says what it wants of a scene; see `stage`."""

from __future__ import annotations

import math
from itertools import pairwise

from supernoded.plugin import State, View, find_least, find_most
from supernoded_isolation.evidence.card_views import is_gone
from supernoded_isolation.evidence.unheard import say_ranks
from supernoded_isolation.evidence.words import clip
from supernoded_isolation.saga.cause import was_let_go
from supernoded_isolation.saga.place import (
    AGE,
    DURABLE,
    SAVE_TIME,
    STEP,
    STEP_TIME,
    find_job,
    find_serial,
    list_others,
)
from supernoded_isolation.saga.remains import is_ended
from supernoded_isolation.saga.stage import (
    TRIES,
    Answer,
    Order,
    Scene,
    Steps,
    Stop,
    attempt,
    find_deeds,
    is_assumed,
    is_done,
    is_sent,
    make_step,
    side_by_side,
)
from supernoded_isolation.saga.substitute import Substitute, find_substitute

STEPS_FLOOR_S, STEPS_MORE_S = 15.0, 45.0  # for the job to step again: max(15 s, 3 x p95 of its steps) + 45 s (design section 14)
STEPS_SHARE = 3.0
LONGEST_REASON = 1_000  # characters of a hold, which goes from node to node (ours)
LEAST_READINGS = 2  # of a step that goes up
FENCE_S = 15.0  # since its collective was ended, for which a job stands still for a fence: a healthy node has it in one (ours)
SAVE_FLOOR_S = 15.0  # the shortest time that a checkpoint is given (ours)


def hold(scene: Scene) -> Answer:
    """The take-out: by leave of who has the role `fleet`. Under the name of its place, so that a later life knows what it was about.

    While that is refused nothing is done, and nothing is given up: a breaker is reset and a role comes back later than any try lasts.
    """
    place, cause = scene.place, find_cause(scene)
    details = {"cause": cause, "serial": find_serial(scene.seen, scene.world, place.card)}
    reason = clip(scene.case.incident.text, LONGEST_REASON)
    order = Order("hold", "card.hold", place.card, reason, scene.settings.hold_s, key=place.name, details=details)
    return attempt(scene, order, by_leave=True)


def find_cause(scene: Scene) -> str:
    """In a word, what breakers count."""
    if scene.place.is_node:
        return "gone"
    return "lost" if is_gone(scene.seen, scene.place.card) else "silent" if scene.case.incident.kind == "card.silent" else "fault"


def capture(scene: Scene) -> Steps:
    """The bundle of evidence; asked for at once, and nothing waits for it. A node that is gone can gather none."""
    place = scene.place
    order = Order("capture", "card.capture", place.card, f"evidence: {scene.case.incident.text}", scene.settings.capture_s)
    return () if find_deeds(scene.record, "capture") or not place.card or place.is_node else (make_step(scene, order, "capture"),)


def checkpoint(scene: Scene) -> Answer:
    """A step that is durable and newer than the trouble, while the card is alive (safety rule 27). Without one nothing is taken out.

    No checkpoint can be had of a job that hangs, and a card that is lost has nothing to save any more: these pass.
    """
    place, seen = scene.place, scene.seen
    if not place.rank or is_sent(scene.record, "hold") or is_done(scene.record, "save"):
        return None
    if hangs(scene) or find_cause(scene) == "lost" or is_saved(scene):
        return None
    seconds = find_save_time(seen, place.job, scene.settings.checkpoint_s)
    reason = f"{place.card} is to be replaced: save at the next step that all ranks agree on, and run on"
    order = Order("save", "job.checkpoint", place.job, reason, seconds, amount=seconds)
    answer = attempt(scene, order, tries=1)
    if isinstance(answer, Stop):
        return Stop(
            f"{place.card} is left in service: no step is durable and newer than its trouble, so its job is not touched ({answer.text})"
        )
    return answer


def hangs(scene: Scene) -> bool:
    """Whether its job hangs, or its rank holds it up."""
    job = find_job(scene.seen, scene.place.job)
    return job is not None and (job.hangs or any(rank.card == scene.place.card for rank in job.culprits))


def is_saved(scene: Scene) -> bool:
    """Whether a step was taken after the trouble began, and is durable."""
    age = find_least(scene.seen, AGE, scene.place.job)
    return age is not None and scene.now - age > scene.case.incident.opened


def find_save_time(seen: View, job: str, most: float) -> float:
    """Seconds for a checkpoint: two steps to agree on one and end it, and twice the worst save."""
    step, save = find_most(seen, STEP_TIME, job) or 0.0, find_most(seen, SAVE_TIME, job)
    return min(max(2.0 * step + 2.0 * save, SAVE_FLOOR_S), most) if save is not None else most


def abort(scene: Scene) -> Answer:
    """End the collective, so that no rank waits for the card any more; a job of which no rank is left has none."""
    place, begun = scene.place, find_deeds(scene.record, "abort")
    later = scene.record.list_of("fence", "remap", "resume")  # it was passed, and the ranks that are there now are those of a new start
    if not place.rank or (not begun and later):
        return None
    if not begun and (ended := is_ended(scene)) is not False:
        return None if ended else ()
    reason = (
        "end the collective that hangs" if scene.case.incident.kind == "rank.silent" else f"{place.card} is replaced: end the collective"
    )
    return attempt(scene, Order("abort", "job.abort", place.job, reason, scene.settings.order_s, details=place.details))


def fence(scene: Scene) -> Answer:
    """Nothing reaches the card any more. One whose node does not answer cannot be fenced: its ranks are ended, and the job goes on.

    It is tried on beside the job, which does not stand still for it for long. On a node that is gone nothing is fenced.
    """
    place = scene.place
    if place.is_node or was_let_go(scene) or (list_others(scene.world, place.card) and not find_deeds(scene.record, "fence")):
        return None  # it would be refused, and the job waits: the fence of a card that a person holds, too, is that person's
    reason = f"{place.card} is out of service: {scene.case.incident.text}"
    answer = attempt(scene, Order("fence", "card.isolate", place.card, reason, scene.settings.order_s))
    ended = [deed.outcome.at for deed in find_deeds(scene.record, "abort") if deed.outcome is not None]
    overdue = answer == () and bool(ended) and scene.now - max(ended) >= FENCE_S
    return None if overdue or isinstance(answer, Stop) else answer


def end_and_fence(scene: Scene) -> Answer:
    """First the collective, then the fence."""
    answer = abort(scene)
    return fence(scene) if answer is None else answer


def substitute(scene: Scene) -> Answer:
    """A spare that has passed its test, else a replica to give up; stops when there is neither (safety rule 31)."""
    return find_substitute(scene).answer if scene.place.rank and not find_deeds(scene.record, "remap") else None


def end_and_find(scene: Scene) -> Answer:
    """The card is fenced while a spare is tested."""
    ended = end_and_fence(scene)
    return side_by_side(ended, _wait_for(substitute(scene), ended))


def _wait_for(answer: Answer, ended: Answer) -> Answer:
    """Without a spare the card is fenced all the same, before people are told."""
    return () if isinstance(answer, Stop) and ended is not None and not isinstance(ended, Stop) else answer


def remap(scene: Scene) -> Answer:
    """The new rank map: one rank on the spare, or one replica less."""
    place = scene.place
    if not place.rank or is_done(scene.record, "remap"):
        return None
    if any(deed.outcome is None for deed in find_deeds(scene.record, "remap")):
        return ()  # the plan may be the new one already
    found = find_substitute(scene)
    if found.answer is not None:
        return found.answer
    if steps_since(scene, "abort" if find_deeds(scene.record, "abort") else "hold"):
        return Stop(f"{place.job} steps again, started by somebody else: it is left as it is")
    return _map(scene, found)


def _map(scene: Scene, found: Substitute) -> Answer:
    place = scene.place
    details = {**place.details, **found.details}
    order = Order("remap", "job.remap", place.job, _say_map(scene, found), scene.settings.order_s, details=details)
    sent = found.dropped and is_sent(scene.record, "remap")  # asked again it would give up another replica
    return attempt(scene, order, tries=1 if sent else TRIES, stands_still=True)


def _say_map(scene: Scene, found: Substitute) -> str:
    place, cards = scene.place, ", ".join(found.cards.values())
    if found.dropped:
        return f"{place.job} goes on without ranks {found.say_dropped()}"
    whose = f"{say_ranks(place.numbers)} of {place.job}" if place.is_node else place.rank
    return f"{whose} {'goes' if len(place.numbers) == 1 else 'go'} from {place.card} to {cards}"


def resume(scene: Scene) -> Answer:
    """Go on from the newest whole step; after a new map only, and unless somebody else has been quicker."""
    place = scene.place
    if not place.rank or scene.record.name("tell", "done") in scene.case.done:
        return None
    if not is_done(scene.record, "resume") and steps_since(scene, "remap" if find_deeds(scene.record, "remap") else "abort"):
        return None
    reason, patience = "go on from the newest whole step", scene.settings.restore_s
    order = Order("resume", "job.resume", place.job, reason, patience, details=place.details)
    return attempt(scene, order, stands_still=True)


def verify(scene: Scene) -> Answer:
    """Whether steps go up, by two readings; waits as long as they may take to."""
    deeds = [deed for deed in find_deeds(scene.record, "resume") if deed.done]
    if not scene.place.rank or not deeds or is_assumed(deeds[-1]) or scene.record.name("tell", "done") in scene.case.done:
        return None
    began = deeds[-1].outcome.at if deeds[-1].outcome is not None else scene.now
    if count_steps(scene.seen, scene.place.job, began) > 0:
        return None
    limit = max(STEPS_FLOOR_S, STEPS_SHARE * (find_most(scene.seen, STEP_TIME, scene.place.job) or 0.0)) + STEPS_MORE_S
    waited = scene.now - began
    return () if waited < limit else Stop(f"{scene.place.job} was started again {waited:.0f} s ago, and its steps are not seen to go up")


def steps_since(scene: Scene, verb: str) -> bool:
    """Whether its job is seen to step since something was done."""
    done = [deed.outcome.at for deed in find_deeds(scene.record, verb) if deed.done and deed.outcome is not None]
    return bool(done) and count_steps(scene.seen, scene.place.job, max(done)) > 0


def count_steps(seen: View, job: str, since: float) -> int:
    """How many steps a job has done since, as one of its nodes says at two times at least."""
    most = 0
    for source in seen.sources(STEP, job):
        window = [one for one in seen.window(STEP, job, source) if one.at > since and one.state is State.GOOD]
        values = [one.value for one in window if isinstance(one.value, float)]
        if len(values) >= LEAST_READINGS:
            most = max(most, int(sum(max(after - before, 0.0) for before, after in pairwise(values))))  # a fall is the restore
    return most


def say_lost(scene: Scene) -> str:
    """How many steps are done again, as a sentence; empty for a card without a rank.

    A job goes on from the newest whole step. What it is heard to have done since comes after that: its first word is one step on, or more.
    """
    place = scene.place
    if not place.rank:
        return ""
    begun = [deed.outcome.at for deed in find_deeds(scene.record, "resume") if deed.done and deed.outcome is not None]
    after = min(_list_values(scene.seen, STEP, place.job, begun[-1]), default=math.inf) - 1.0 if begun else math.inf
    whole = [one for one in _list_values(scene.seen, DURABLE, place.job) if one <= min(place.step, after)]
    if place.step < 0 or not (whole or after <= place.step):
        return " How many steps were lost is not known: look at job.step."
    restored = max(whole, default=after)
    doubt, least = ("", "") if whole else (" or an earlier one", "at least ")
    lost = f"{least}{place.step - restored:.0f} steps are done again"
    return f" It was at step {place.step} and went on from step {restored:.0f}{doubt}: {lost}."


def _list_values(seen: View, quantity: str, subject: str, since: float = -math.inf) -> list[float]:
    return [
        one.value
        for source in seen.sources(quantity, subject)
        for one in seen.window(quantity, subject, source)
        if one.at > since and one.state is State.GOOD and isinstance(one.value, float)
    ]
