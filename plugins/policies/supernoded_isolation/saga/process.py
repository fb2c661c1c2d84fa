"""The remedy of a process that is to blame: its job is started anew on the same cards, and nothing is taken out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Case, Step, World, read_record
from supernoded_isolation.evidence.ranks import CARD
from supernoded_isolation.evidence.shared import find_hog
from supernoded_isolation.evidence.unheard import list_gone, list_torn
from supernoded_isolation.health import Table
from supernoded_isolation.saga.orders import PROCESS
from supernoded_isolation.saga.place import WATCHES, Place, find_busy, find_job, make_place, read_place
from supernoded_isolation.saga.stage import Order, Scene, Steps, Stop, find_deeds, is_sent, make_step, notify, walk
from supernoded_isolation.saga.stages import capture, say_lost
from supernoded_isolation.saga.telling import say_done
from supernoded_isolation.settings import IsolationSettings


class ProcessRemedy:
    """Answers `rank.silent`."""

    answers = "rank.silent"
    watches: Mapping[str, float] = WATCHES

    def __init__(self, table: Table, settings: IsolationSettings) -> None:
        self._table, self._set = table, settings

    def next(self, case: Case, world: World, now: float) -> Sequence[Step]:
        """Evidence, abort, resume, and a look at whether steps go up."""
        record = read_record(case, frozenset())
        if not record.round:
            return ()
        noted = next((deed.target for deed in record.list_of("note")), "")
        place = read_place(noted) if noted else _find_place(case)
        scene = Scene(case, world, now, record, place, self._table, self._set)
        if not is_sent(record, "abort"):
            hindered = self._find_hindrance(scene)
            if hindered is not None:
                return hindered
        answer = walk(scene, PROCESS)
        if isinstance(answer, tuple):
            return (*capture(scene), *answer)
        text = case.incident.text.rstrip(".")
        if isinstance(answer, Stop):
            return notify(
                scene,
                "stopped",
                f"{text}. {answer.text.rstrip('.')}. Done so far: {say_done(record) or 'nothing'}. A person has to see to it.",
            )
        return notify(scene, "done", f"{text}. No card was taken out; {say_done(record)}.{say_lost(scene)}")

    def keeps_open(self, case: Case, world: World) -> bool:
        """Whether its job was ended and is not yet seen to step again."""
        del world
        record = read_record(case, frozenset(), again=False)
        return is_sent(record, "abort") and not record.has_ended("tell")

    def _find_hindrance(self, scene: Scene) -> Steps | None:
        case, place = scene.case, scene.place
        if not case.still_raised or case.incident.members:
            return (
                ()
                if not case.still_raised
                else notify(scene, "shared", f"{case.incident.text.rstrip('.')}. Nothing is started anew for this.")
            )
        if _is_torn(scene):
            return ()  # its other ranks have gone with their node: that is job.lost
        if not place.card and "/rank" in place.rank:
            return notify(
                scene, "unknown", f"{case.incident.text.rstrip('.')}. On which card it runs is not known: a person has to see to it."
            )
        other = next((hog for card in _list_cards(scene) if (hog := find_hog(case.seen, card.partition("/")[0]))), "")
        if other and not find_deeds(scene.record, "abort"):
            return notify(
                scene, "other", f"{case.incident.text.rstrip('.')}. Nothing is started anew while that is so, and no card is taken out."
            )
        busy = find_busy(scene.seen, scene.world, case.incident, place)
        if busy is not None and not find_deeds(scene.record, "abort"):
            return notify(scene, "waits", f"{case.incident.text.rstrip('.')}. It waits for {busy.kind} of {busy.subject} ({busy.id}).")
        return None if find_deeds(scene.record, "note") else (*capture(scene), *_note(scene))


def _is_torn(scene: Scene) -> bool:
    gone = list_gone(scene.seen) or ()
    return any(torn.list_on(gone) for torn in list_torn(scene.seen, only=scene.place.job))


def _list_cards(scene: Scene) -> list[str]:
    job = find_job(scene.seen, scene.place.job)
    mine = [rank.card for rank in job.ranks if rank.card] if job is not None and not scene.place.card else []
    return [scene.place.card, *mine]


def _find_place(case: Case) -> Place:
    subject = case.incident.subject
    return make_place(case.seen, case.seen.text(CARD, subject) or "", subject)


def _note(scene: Scene) -> Steps:
    """What it is about, told to people before the job is touched; a later life reads it from the step's name."""
    incident = scene.case.incident
    text = f"{incident.text.rstrip('.')}. Its processes are started anew."
    order = Order("note", "notify", incident.subject, text, 5.0, key=scene.place.name)
    return (make_step(scene, order, "note"),)
