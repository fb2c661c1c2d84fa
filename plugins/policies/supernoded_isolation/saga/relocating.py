"""The remedy of a job whose ranks have gone with their node: all of them go to spares, or with their replicas; else it stays ended. Pure.

It is the order of a silent card, for several ranks at once and without a fence. A node that is back before its job was ended is left in
service, and the job is started anew on the same cards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import Case, Record, Step, World, read_record
from supernoded_isolation.evidence.card_views import is_well
from supernoded_isolation.evidence.unheard import list_gone, list_torn
from supernoded_isolation.health import Table
from supernoded_isolation.saga.back import bring_back, find_unfinished, list_out
from supernoded_isolation.saga.cause import was_let_go
from supernoded_isolation.saga.orders import SILENT
from supernoded_isolation.saga.place import WATCHES, Place, are_holds_known, find_busy, make_place, read_place
from supernoded_isolation.saga.process import ProcessRemedy
from supernoded_isolation.saga.stage import (
    Answer,
    Order,
    Scene,
    Steps,
    Stop,
    attempt,
    find_deeds,
    is_done,
    is_sent,
    make_step,
    notify,
    walk,
)
from supernoded_isolation.saga.stages import say_lost
from supernoded_isolation.saga.telling import say_done
from supernoded_isolation.saga.waiting import tell_refused
from supernoded_isolation.settings import IsolationSettings

UNDOING = frozenset({"unhold", "unhold2"})


class RelocateRemedy:
    """Answers `job.lost`."""

    answers = "job.lost"
    watches: Mapping[str, float] = WATCHES

    def __init__(self, table: Table, settings: IsolationSettings) -> None:
        self._table, self._set = table, settings
        self._process = ProcessRemedy(table, settings)

    def next(self, case: Case, world: World, now: float) -> Sequence[Step]:
        """The next steps; what was begun is ended whether or not the trouble is still there, as the job stands still meanwhile."""
        record = read_record(case, UNDOING)
        if not record.round:
            return ()
        noted = next((deed.target for deed in record.list_of("note")), "")
        scene = Scene(case, world, now, record, read_place(noted) if noted else _find_place(case, record), self._table, self._set)
        if not noted:
            return _begin(scene)
        if record.name("tell", "done") in case.done:
            return bring_back(scene)
        if not is_sent(record, "hold"):
            return self._choose(scene)
        answer = _withdraw(scene) or walk(scene, SILENT)
        if isinstance(answer, tuple):
            return (*tell_refused(scene), *answer)
        return (*tell_refused(scene), *_tell(scene, answer), *bring_back(scene))

    def keeps_open(self, case: Case, world: World) -> bool:
        """Whether anything is still out, or its job was ended and is not yet seen to step again."""
        record = read_record(case, UNDOING, again=False)
        if find_unfinished(record.deeds, world) or (list_out(record.deeds) and not are_holds_known(world)):
            return True
        ended = any(record.name("tell", how) in case.done for how in ("done", "stopped"))
        return any(is_sent(record, verb) for verb in ("abort", "remap", "resume")) and not ended

    def _choose(self, scene: Scene) -> Sequence[Step]:
        """Its node is gone: it is taken out. It is back: the job is started anew there. Nobody can say: nothing."""
        if is_sent(scene.record, "abort") or find_deeds(scene.record, "resume"):
            return self._process.next(scene.case, scene.world, scene.now)
        if not scene.case.still_raised or (gone := is_gone(scene)) is None:
            return ()
        if gone:
            answer = walk(scene, SILENT)
            return answer if isinstance(answer, tuple) else ()
        well = all(is_well(scene.seen, card, scene.table, 0.0) for card in scene.place.moved.values())
        return self._process.next(scene.case, scene.world, scene.now) if well else ()


def _find_place(case: Case, record: Record) -> Place:
    """The node with the lost ranks, as it is read; else what an earlier round has noted, as the node may be back."""
    job, seen = case.incident.subject, case.seen
    torn = next(iter(list_torn(seen, only=job)), None)
    lost = torn.list_on(list_gone(seen) or ()) if torn is not None else {}
    nodes = sorted({card.partition("/")[0] for card in lost.values()})
    if nodes:
        return msgspec.structs.replace(make_place(seen, nodes[0], job), moved=lost)
    noted = next((read_place(deed.target) for deed in reversed(record.deeds) if deed.verb == "note"), Place("", job))
    return msgspec.structs.replace(make_place(seen, noted.card, job), moved=noted.moved)


def _begin(scene: Scene) -> Steps:
    """What is seen to before anything is touched; then people are told what is done, and a later life reads from it what it is about."""
    case, place = scene.case, scene.place
    text = case.incident.text.rstrip(".")
    if not case.still_raised:
        return ()
    if case.incident.members:
        return notify(scene, "shared", f"{text}. Nothing is done for this: see to what these jobs share.")
    torn = next(iter(list_torn(scene.seen, only=place.job)), None)
    if torn is not None and not torn.states:
        return notify(scene, "unheard", f"{text}. Nothing is done while that is so: a person has to see to it.")
    if not place.moved:
        return ()
    nodes = sorted({card.partition("/")[0] for card in place.moved.values()})
    if len(nodes) > 1:
        return notify(scene, "several", f"{text}. {' and '.join(nodes)} are gone together, and none is taken out: see to what they share.")
    busy = find_busy(scene.seen, scene.world, case.incident, place)
    if busy is not None and busy.kind != "rank.silent":  # that one does nothing while ranks of its job are gone
        return notify(scene, "waits", f"{text}. It waits for {busy.kind} of {busy.subject} ({busy.id}).")
    reason = f"{text}. {_say_plan(scene)}"
    return (make_step(scene, Order("note", "notify", case.incident.subject, reason, 5.0, key=place.name), "note"),)


def _say_plan(scene: Scene) -> str:
    if is_gone(scene) is False:
        return f"{scene.place.card} is back: the job is started anew there, once all its cards are seen well."
    return "These go to spares that pass their test; without enough of them their replica is given up, where there is another."


def _withdraw(scene: Scene) -> Steps:
    """A node that is back before its job was touched stays in service: our hold is lifted, and another round begins."""
    touched = [find_deeds(scene.record, verb) for verb in ("abort", "test", "remap")]
    if any(touched) or is_gone(scene) is not False or not is_done(scene.record, "hold") or was_let_go(scene):
        return ()
    reason = f"{scene.place.card} is back before anything else was done: it stays in service"
    answer = attempt(scene, Order("unhold", "card.unhold", scene.place.card, reason, scene.settings.hold_s))
    return answer if isinstance(answer, tuple) else ()


def is_gone(scene: Scene) -> bool | None:
    """Whether its node is; None = that is not known now."""
    gone = list_gone(scene.seen)
    return None if gone is None else scene.place.card in gone


def _tell(scene: Scene, answer: Answer) -> Steps:
    place, done, text = scene.place, say_done(scene.record), scene.case.incident.text.rstrip(".")
    if isinstance(answer, Stop):
        return notify(scene, "stopped", f"{text}. {answer.text.rstrip('.')}. Done so far: {done or 'nothing'}. A person has to see to it.")
    return notify(scene, "done", f"{text}. {place.card} is out of service; {done}.{say_lost(scene)}")
