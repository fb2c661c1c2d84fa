"""The remedy of a card that is to blame: one of the two orders, then the way back, for as long as something of it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Case, Record, Step, World, read_record
from supernoded_isolation.evidence.card_views import is_heard
from supernoded_isolation.evidence.ranks import is_unheard
from supernoded_isolation.health import Table
from supernoded_isolation.saga.back import bring_back, find_unfinished, list_held, list_out
from supernoded_isolation.saga.cause import find_elsewhere, has_recovered, was_let_go
from supernoded_isolation.saga.draining import follow_drain, keeps_drained
from supernoded_isolation.saga.orders import choose_order
from supernoded_isolation.saga.place import WATCHES, are_holds_known, find_busy, find_place, is_card, list_ours, was_described
from supernoded_isolation.saga.stage import Answer, Scene, Steps, Stop, find_deeds, is_done, is_sent, notify, walk
from supernoded_isolation.saga.stages import capture, say_lost
from supernoded_isolation.saga.telling import say_done
from supernoded_isolation.saga.waiting import tell_refused
from supernoded_isolation.settings import IsolationSettings

UNDOING = frozenset({"unhold", "unhold2", "release", "release2"})


class ReplaceRemedy:
    """Answers `card.silent` or `card.faulty`."""

    watches: Mapping[str, float] = WATCHES

    def __init__(self, answers: str, table: Table, settings: IsolationSettings) -> None:
        self.answers, self._table, self._set = answers, table, settings

    def next(self, case: Case, world: World, now: float) -> Sequence[Step]:
        """The next steps; what was begun is ended whether or not the trouble is still there, as the job stands still meanwhile."""
        incident = case.incident
        if was_described(incident.subject, world):
            return self._tell_undescribed(case, world)
        if incident.members or not is_card(incident.subject, world):
            return self._tell_shared(case, world)
        record = read_record(case, UNDOING)
        if not record.round:
            return ()
        scene = self._look(case, world, now, record)
        return (*self._go(scene), *follow_drain(scene))

    def keeps_open(self, case: Case, world: World) -> bool:
        """Whether a card is still out, or its job is not yet seen to step again; of a node that is gone for good nothing will ever be."""
        if was_described(case.incident.subject, world):
            return False
        record = read_record(case, UNDOING, again=False)
        if find_unfinished(record.deeds, world) or (list_out(record.deeds) and not are_holds_known(world)):
            return True
        if keeps_drained(record.deeds):
            return True
        return is_sent(record, "hold") and bool(record.list_of("abort", "abort2")) and not record.has_ended("tell")

    def _look(self, case: Case, world: World, now: float, record: Record) -> Scene:
        begun = [deed for deed in find_deeds(record, "hold") if not deed.refused]  # while it is refused, its rank may move
        place = find_place(case.seen, case.incident.subject, begun)
        return Scene(case, world, now, record, place, self._table, self._set)

    def _go(self, scene: Scene) -> Steps:
        record = scene.record
        if record.name("tell", "done") in scene.case.done:
            return bring_back(scene)  # for days, perhaps: nothing else is looked at
        if not is_sent(record, "hold") and not is_done(record, "hold"):
            hindered = self._find_hindrance(scene)
            if hindered is not None:
                return hindered
        answer = self._withdraw(scene) or walk(scene, choose_order(scene))
        if isinstance(answer, tuple):
            return (*capture(scene), *tell_refused(scene), *answer)
        return (*tell_refused(scene), *self._tell(scene, answer), *bring_back(scene))

    def _withdraw(self, scene: Scene) -> Stop | None:
        """What ends it as long as nothing but the hold was done: a job that was ended is brought back first."""
        if find_deeds(scene.record, "abort") or find_deeds(scene.record, "fence") or not is_done(scene.record, "hold"):
            return None
        if was_let_go(scene):
            return Stop(
                "Its hold was lifted before anything else was done: it stays in service, and its job is left as it is", is_over=True
            )
        recovered = f"{scene.place.card} answers again, and {scene.place.job} steps" if has_recovered(scene) else ""
        why = find_elsewhere(scene, scene.place.card) or recovered
        return Stop(f"It stays in service, and its hold is withdrawn: {why}", is_over=True) if why else None

    def _find_hindrance(self, scene: Scene) -> Steps | None:
        """What is seen to before a card is touched; None = nothing."""
        if not scene.case.still_raised:
            return ()
        seen, card = scene.seen, scene.place.card
        if not scene.place.rank and (self.answers == "card.silent" or is_unheard(seen, card) or not is_heard(seen, card)):
            return ()  # whether a job runs on it is not heard now, or not yet in this life: it is not taken for unused
        if elsewhere := find_elsewhere(scene, scene.place.card):
            return notify(scene, "elsewhere", f"{scene.case.incident.text.rstrip('.')}. It stays in service: {elsewhere}.")
        busy = find_busy(scene.seen, scene.world, scene.case.incident, scene.place)
        if busy is not None:
            waits = f"It waits for {busy.kind} of {busy.subject} ({busy.id}): one card of a job at a time"
            text = f"{scene.case.incident.text.rstrip('.')}. {waits}."
            return notify(scene, "waits", text)
        held = [hold for hold in scene.world.holds if hold.subject == scene.place.card]
        if held and not find_deeds(scene.record, "hold") and not scene.place.rank:
            return notify(scene, "held", f"{scene.case.incident.text.rstrip('.')}. {held[0].owner} holds it already: {held[0].reason}")
        return None

    def _tell(self, scene: Scene, answer: Answer) -> Steps:
        """How it ended: both may be said, one after the other, when what stopped it is over."""
        place, done = scene.place, say_done(scene.record)
        if isinstance(answer, Stop):
            told = f" Done so far: {done}." if done else " Nothing was done."
            hold = " The hold stands." if list_held(scene.record.deeds, scene.world) else ""
            task = "" if answer.is_over else f"{hold} A person has to see to it."
            return notify(scene, "stopped", f"{scene.case.incident.text.rstrip('.')}. {answer.text.rstrip('.')}.{told}{task}")
        standing = "was let go again by somebody else" if was_let_go(scene) else "is out of service"
        text = f"{place.card} {standing}: {scene.case.incident.text.rstrip('.')}. {done}.{say_lost(scene)}"
        return notify(scene, "done", text)

    def _tell_undescribed(self, case: Case, world: World) -> Sequence[Step]:
        subject = case.incident.subject
        if "tell" in case.done or not list_ours(world, subject):
            return ()
        text = f"{subject} is in no node of the topology any more, so it has no way back; lift its hold by hand: see `supernodectl holds`."
        return (Step(name="tell", kind="notify", target=subject, reason=text),)

    def _tell_shared(self, case: Case, world: World) -> Sequence[Step]:
        if "tell" in case.done or not case.still_raised:
            return ()
        held = sorted({hold.subject for hold in world.holds if hold.subject in case.incident.members})
        still = f" Held already: {', '.join(held)}; see `supernodectl holds`." if held else ""
        text = f"{case.incident.text.rstrip('.')}. No card is taken out for this: see to what they share.{still}"
        return (Step(name="tell", kind="notify", target=case.incident.subject, reason=text),)
