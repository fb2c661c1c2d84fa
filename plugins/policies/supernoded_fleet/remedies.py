"""People are told; a node that is gone is held, drained where that is wanted, and given back after its probation. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from supernoded.plugin import Case, Mode, Record, Step, World, read_record, take
from supernoded_fleet.seeing import AGE, FLEET, measure_beating
from supernoded_fleet.settings import FleetSettings

NOTIFY = "notify"
HOLDS = ("hold", "hold.2", "hold.3")  # tries; the guards allow as many in an hour
RELEASES, UNHOLDS = (tuple(f"{verb}.{number}" for number in range(1, 21)) for verb in ("release", "unhold"))
UNDOING = frozenset(UNHOLDS)
AGAIN = 60.0  # seconds from a step that did not succeed to the next try (ours)
PATIENCE = 30.0  # seconds: a grant must be asked for first


class TellRemedy:
    """One notice of an incident, once it has lasted for `after` seconds, unless an incident of `better` kinds says more of the same."""

    def __init__(self, answers: str, after: float = 0.0, better: tuple[str, ...] = ()) -> None:
        self.answers, self._after, self._better = answers, after, better

    def next(self, case: Case, world: World, now: float) -> Step | None:
        """The notice."""
        if any(one.kind in self._better and one.subject == case.incident.subject for one in world.incidents):
            return None
        if NOTIFY in case.done or not case.still_raised or now - case.incident.opened < self._after:
            return None
        return Step(name=NOTIFY, kind=NOTIFY, target=case.incident.subject, reason=say_incident(case))


def say_incident(case: Case) -> str:
    """The incident as a sentence, with what to look at first."""
    incident = case.incident
    shared = f"; look first at what they share: {incident.subject}" if incident.members else ""
    return f"{incident.text}{shared}"


class GoneRemedy:
    """Answers a node that is gone. Several at once have a cause that they share: people are told, and none is taken out."""

    answers = "node.gone"

    def __init__(self, settings: FleetSettings) -> None:
        self._settings = settings
        self.watches: Mapping[str, float] = {AGE: settings.probation_s + 60.0}

    def next(self, case: Case, world: World, now: float) -> Sequence[Step]:
        """Tell; hold and drain what stays gone; give back what has beaten for long enough."""
        record = read_record(case, UNDOING)
        told = () if NOTIFY in case.done or not case.still_raised else (self._tell(case),)
        if case.still_raised:
            return (*take(case, told), *self._take_out(case, record, now))
        return (*take(case, told), *self._give_back(case, record, world, now))

    def keeps_open(self, case: Case, world: World) -> bool:
        """Whether anything that we took out is still out."""
        return bool(_list_held(case, world) or read_record(case, UNDOING).list_standing("drain", *RELEASES))

    def _tell(self, case: Case) -> Step:
        held = "nothing is taken out of service" if case.incident.members else "it is held, so that nothing is put there"
        return Step(name=NOTIFY, kind=NOTIFY, target=case.incident.subject, reason=f"{say_incident(case)}; {held}")

    def _take_out(self, case: Case, record: Record, now: float) -> Sequence[Step]:
        if case.incident.members:
            return ()
        node = case.incident.subject
        if any(one.done for one in record.list_of(*HOLDS)):
            drain = self._step(record, "drain", "node.drain", node, f"{case.incident.text}: nothing new is to be put there")
            return take(case, [drain]) if self._settings.drain else ()
        verb = _find_try(record, HOLDS, node, now)
        if not verb or now - case.incident.opened < self._settings.hold_after_s:
            return ()
        return take(case, [self._step(record, verb, "card.hold", node, case.incident.text, {"cause": "gone"})])

    def _give_back(self, case: Case, record: Record, world: World, now: float) -> Sequence[Step]:
        """Only our own. In another mode than `act` the way back is told at once, so that the incident waits for it."""
        acting = world.modes.get(FLEET, Mode.ACT) is Mode.ACT
        probation, steps = self._settings.probation_s, list[Step]()
        held, drained = _list_held(case, world), record.list_standing("drain", *RELEASES)
        for node in sorted({*held, *drained}):
            beating = measure_beating(case.seen, node, self._settings.late_s)
            if acting and beating < probation:
                continue
            reason = f"{node} has beaten for {beating:.0f} s, its probation is {probation:g} s"
            wanted = (("node.release", RELEASES, drained), ("card.unhold", UNHOLDS, held))
            tries = [(kind, _find_try(record, verbs, node, now)) for kind, verbs, among in wanted if node in among]
            steps += [self._step(record, verb, kind, node, reason) for kind, verb in tries if verb]
        return take(case, steps)

    def _step(self, record: Record, verb: str, kind: str, node: str, reason: str, details: Mapping[str, str] | None = None) -> Step:
        name = record.name(verb, node)
        return Step(name=name, kind=kind, target=node, reason=reason, patience=PATIENCE, details=details or {})


def _find_try(record: Record, verbs: Sequence[str], node: str, now: float) -> str:
    """The verb of the next try; empty = it is under way, done, just tried, or was tried often enough."""
    tries = [one for one in record.list_of(*verbs) if one.target == node]
    if not tries:
        return verbs[0]
    outcome = tries[-1].outcome
    if outcome is None or tries[-1].done or now - outcome.at < AGAIN or len(tries) >= len(verbs):
        return ""
    return verbs[len(tries)]


def _list_held(case: Case, world: World) -> list[str]:
    """The nodes of this incident that we hold."""
    subjects: Iterable[str] = case.incident.members or (case.incident.subject,)
    held = {hold.subject for hold in world.holds if hold.owner == FLEET}
    return [subject for subject in subjects if subject in held]
