"""The remedy of a card that is to blame: one of the two orders, then the way back, for as long as something of it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from supernoded.plugin import Case, Record, Step, World, read_record
from supernoded_isolation.evidence.ranks import is_unheard
from supernoded_isolation.health import Table
from supernoded_isolation.saga.back import bring_back, find_unfinished, list_held
from supernoded_isolation.saga.cause import find_elsewhere
from supernoded_isolation.saga.orders import choose_order
from supernoded_isolation.saga.place import WATCHES, find_busy, find_place, is_card
from supernoded_isolation.saga.stage import Answer, Scene, Steps, Stop, find_deeds, is_done, is_sent, notify, walk
from supernoded_isolation.saga.stages import capture, say_lost
from supernoded_isolation.saga.telling import say_done
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
        if incident.members or not is_card(incident.subject, world):
            return self._tell_shared(case, world)
        record = read_record(case, UNDOING)
        if not record.round:
            return ()
        scene = self._look(case, world, now, record)
        return self._go(scene)

    def keeps_open(self, case: Case, world: World) -> bool:
        """Whether a card is still out, or its job is not yet seen to step again."""
        record = read_record(case, UNDOING, again=False)
        if find_unfinished(record.deeds, world):
            return True
        return is_sent(record, "hold") and bool(record.list_of("abort", "abort2")) and not record.has_ended("tell")

    def _look(self, case: Case, world: World, now: float, record: Record) -> Scene:
        place = find_place(case.seen, case.incident.subject, find_deeds(record, "hold"))
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
            return (*capture(scene), *answer)
        return (*self._tell(scene, answer), *bring_back(scene))

    def _withdraw(self, scene: Scene) -> Stop | None:
        """A cause that is named elsewhere ends it, as long as nothing but the hold was done: a job that was ended is brought back first."""
        if find_deeds(scene.record, "abort") or find_deeds(scene.record, "fence") or not is_done(scene.record, "hold"):
            return None
        elsewhere = find_elsewhere(scene, scene.place.card)
        return Stop(f"It stays in service, and its hold is withdrawn: {elsewhere}") if elsewhere else None

    def _find_hindrance(self, scene: Scene) -> Steps | None:
        """What is seen to before a card is touched; None = nothing."""
        if not scene.case.still_raised:
            return ()
        if not scene.place.rank and (self.answers == "card.silent" or is_unheard(scene.seen, scene.place.card)):
            return ()  # whether a job runs on it is not heard now: it is not taken for unused
        if (elsewhere := find_elsewhere(scene, scene.place.card)) and not find_deeds(scene.record, "hold"):
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
            return notify(
                scene,
                "stopped",
                f"{scene.case.incident.text.rstrip('.')}. {answer.text.rstrip('.')}.{told}{hold} A person has to see to it.",
            )
        text = f"{place.card} is out of service: {scene.case.incident.text.rstrip('.')}. {done}.{say_lost(scene)}"
        return notify(scene, "done", text)

    def _tell_shared(self, case: Case, world: World) -> Sequence[Step]:
        if "tell" in case.done or not case.still_raised:
            return ()
        held = sorted({hold.subject for hold in world.holds if hold.subject in case.incident.members})
        still = f" Held already: {', '.join(held)}; see `supernodectl holds`." if held else ""
        text = f"{case.incident.text.rstrip('.')}. No card is taken out for this: see to what they share.{still}"
        return (Step(name="tell", kind="notify", target=case.incident.subject, reason=text),)
