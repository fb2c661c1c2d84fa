"""The way back, once the trouble is over: requests withdrawn, caps lifted, fans to their BMC, flow as it was. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from supernoded.plugin import Case, Record, Step, View, World, find_most, list_jobs, say_outcomes, take
from supernoded_thermal.remedies.ladder import CAP, GRACE_W
from supernoded_thermal.remedies.margin import measure
from supernoded_thermal.remedies.place import Place
from supernoded_thermal.settings import ThermalSettings

RELEASE_S = 30.0  # for a scheduler to show it (ours)
LIFT_S = 60.0  # for a cap to be seen lifted: a node may be starting anew
FANS = "fan.control"
RELEASES = ("release", "release2")
TRIES = ("lift", "lift2", "lift3")
UNDOING = frozenset({*TRIES, *RELEASES, "auto", "less", "withdraw", "back"})  # with one of these a round ends
ON_BATTERY = ("power.outage", "power.reserve")  # while one of these is open caps stay: they end with it, which caps all nodes
WORDS = {
    "withdraw": "requests withdrawn",
    "lift": "caps lifted",
    "auto": "fans with their BMC",
    "less": "flow as before",
    "release": "nodes back",
}


def undo(case: Case, record: Record, place: Place, world: World, settings: ThermalSettings) -> Sequence[Step]:
    """The next steps of the way back; what was stopped or switched off is a person's."""
    if not record.round and not case.incident.members:
        return ()
    kept = list_kept(case, record, place, world, settings)
    free = [node for node in list_capped(case, record, place, settings) if node not in kept]
    first = [*_withdraw(case, record), *_lift(record, free), *_calm(case, record, place), *_lower(record), *_release(record, RELEASES[0])]
    batches = [first, [*_lift_again(record, free), *_release(record, RELEASES[1])]]
    return take(case, *batches, _tell(case, record, kept), _tell_rest(case, record, kept)) if record.deeds or first else ()


def list_kept(case: Case, record: Record, place: Place, world: World, settings: ThermalSettings) -> list[str]:
    """The nodes whose cap must stand for longer than the trouble: they are still hot, or the site is on battery."""
    capped = list_capped(case, record, place, settings)
    on_battery = any(one.kind in ON_BATTERY for one in world.incidents)
    return [node for node in capped if (on_battery or not _is_cool(case, place, node, settings)) and not _is_given_up(record, node)]


def list_capped(case: Case, record: Record, place: Place, settings: ThermalSettings) -> list[str]:
    """The nodes that may stand capped by this incident.

    One that has taken over others has not their records: of its members those count that show the very cap that we set.
    """
    merged = [node for node in place.nodes if case.incident.members and _shows_our_cap(case.seen, place.cards[node], settings)]
    standing = (*record.list_standing("cap", *TRIES), *record.list_standing("low", *TRIES))
    return list(dict.fromkeys((*standing, *(node for node in merged if not record.is_undone(node, *TRIES)))))


def _shows_our_cap(seen: View, cards: Sequence[str], settings: ThermalSettings) -> bool:
    shown = [find_most(seen, CAP, card) for card in cards]
    return any(all(one is not None and abs(one - watts) <= GRACE_W for one in shown) for watts in (settings.cap_w, settings.cap_low_w))


def _is_given_up(record: Record, node: str) -> bool:
    return {deed.verb for deed in record.list_of(*TRIES) if deed.target == node and deed.outcome is not None} >= set(TRIES)


def _is_cool(case: Case, place: Place, node: str, settings: ThermalSettings) -> bool:
    """Whether its dies have room; of one that nobody can see the clear verdict counts."""
    margin = measure(case.seen, {node: place.cards.get(node, ())}, settings.node)
    return margin.room is None or not margin.is_near(settings.die_near_c)


def _withdraw(case: Case, record: Record) -> Iterator[Step]:
    asked = {deed.target for deed in record.list_of("save")}
    begun = {deed.target for deed in record.list_of("withdraw")}
    for job in list_jobs(case.seen):
        if job.subject in asked and (job.can_withdraw or job.subject in begun):
            reason = "it is cool again, and no rank has agreed on a step yet"
            yield Step(name=record.name("withdraw", job.subject), kind="job.withdraw", target=job.subject, reason=reason)


def _lift(record: Record, nodes: Sequence[str]) -> Iterator[Step]:
    for node in nodes:
        yield Step(name=record.name("lift", node), kind="power.cap", target=node, reason="it is cool again: the cap is lifted")


def _lift_again(record: Record, nodes: Sequence[str]) -> Iterator[Step]:
    """What was not seen lifted is tried again, twice, with time."""
    for node in nodes:
        ended = [deed.verb for deed in record.list_of(*TRIES) if deed.target == node and deed.outcome is not None]
        verb = next((verb for verb in TRIES if verb not in ended), "")
        if verb and verb != TRIES[0]:
            reason = "it is cool again: the cap is lifted, which was not seen before"
            yield Step(name=record.name(verb, node), kind="power.cap", target=node, reason=reason, patience=LIFT_S)


def _calm(case: Case, record: Record, place: Place) -> Iterator[Step]:
    merged = [node for node in place.nodes if case.incident.members and case.seen.text(FANS, node) == "full"]
    for node in dict.fromkeys((*record.list_standing("fans", "auto"), *(one for one in merged if not record.is_undone(one, "auto")))):
        yield Step(name=record.name("auto", node), kind="fan.auto", target=node, reason="it is cool again: fans are its BMC's")


def _lower(record: Record) -> Iterator[Step]:
    for cdu in record.list_standing("flow", "less"):
        yield Step(name=record.name("less", cdu), kind="coolant.flow", target=cdu, reason="it is cool again: flow as it was", patience=20.0)


def _release(record: Record, verb: str) -> Iterator[Step]:
    """Nodes that we have drained; one that was not seen back is tried once more."""
    for node in record.list_standing("drain", *RELEASES):
        reason = "it is cool again: the node may be used"
        yield Step(name=record.name(verb, node), kind="node.release", target=node, reason=reason, patience=RELEASE_S)


def _tell(case: Case, record: Record, kept: Sequence[str]) -> Iterator[Step]:
    told = list(say_outcomes(record, WORDS))
    stopped = sorted({deed.target for deed in record.deeds if deed.verb in {"stop", "off", "self"} and deed.sent})
    lost = sorted({deed.target for deed in record.list_of(TRIES[-1]) if _is_given_up(record, deed.target) and not deed.done})
    more = f" Stopped or off, and a person's to bring back: {', '.join(stopped)}." if stopped else ""
    more += f" Still capped: {', '.join(kept)}, as they are hot or the site is on battery; lifted when that is over." if kept else ""
    more += f" Not seen lifted in {len(TRIES)} tries: {', '.join(lost)}; lift the cap by hand once they are on." if lost else ""
    done = f"{'; '.join(told)}." if told else "nothing was left to undo."
    reason = f"{case.incident.kind} of {case.incident.subject} is over: {done}{more}"
    yield Step(name=record.name("back", "tell"), kind="notify", target=case.incident.subject, reason=reason)


def _tell_rest(case: Case, record: Record, kept: Sequence[str]) -> Iterator[Step]:
    """What could be lifted only after people had been told."""
    said = next((deed.outcome.at for deed in record.list_of("back") if deed.target == "tell" and deed.outcome is not None), None)
    late = [deed for deed in record.list_of(*TRIES) if said is not None and deed.outcome is not None and deed.outcome.at > said]
    if late and not kept:
        lost = [deed.target for deed in late if not deed.done and deed.verb == TRIES[-1]]
        more = f" Not seen lifted: {', '.join(lost)}; lift the cap by hand." if lost else ""
        nodes = ", ".join(sorted({deed.target for deed in late if deed.done}))
        reason = f"{case.incident.kind} of {case.incident.subject}: the last caps are off{f' ({nodes})' if nodes else ''}.{more}"
        yield Step(name=record.name("back", "rest"), kind="notify", target=case.incident.subject, reason=reason)
