"""Brings back what an incident has switched off, on what is stable and has room (safety rule 8). Pure.

Nothing but cords of nodes is ever switched off one by one, so that network, coolant control and pumps need no way back, and fans are what a
shed has opened: nodes come last, once coolant is seen to flow and no shed of their fans is open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import Case, Deed, Record, Step, Topology, View, World, find_least, find_most, is_read, say_outcomes, take
from supernoded_power.battery import find_excess
from supernoded_power.mains import Feed, Feeds, Mains
from supernoded_power.seeing import name_phases
from supernoded_power.settings import PowerSettings
from supernoded_power.site import list_cords, list_shed_nodes

CURRENT, RATED, FLOW, LOAD, EVENT = "pdu.current", "pdu.rated_current", "coolant.flow", "ups.load", "pdu.event"
WATCHES: Mapping[str, float] = dict.fromkeys((*name_phases(CURRENT, LOAD), RATED, FLOW, EVENT), 60.0)
TRIES = 3  # of one outlet: then it stays off, and the incident open
VERBS = frozenset({*(f"on{one}" for one in range(1, TRIES + 1)), "resume", "back"})
ON_S = 15.0  # for a cord to be seen on
RESUME_S = 900.0  # for nodes to boot and the job to step again


class Return:
    """The way back of one site."""

    def __init__(self, feeds: Feeds, site: Topology, settings: PowerSettings) -> None:
        self._feeds, self._set = feeds, settings
        self._cords = {cord.outlet: cord for cord in list_cords(site)}
        self._sheds: dict[str, list[str]] = {}
        for pdu in site.pdus:
            for node in list_shed_nodes(site, pdu.name):
                self._sheds.setdefault(node, []).append(f"pdu/{pdu.name}")
        subjects = {loop.name: loop.subject for loop in site.loops}
        self._loops = {node.name: subjects.get(node.loop, node.loop) for node in site.nodes}

    def next(self, case: Case, world: World, record: Record, feeds: Sequence[Feed]) -> Sequence[Step]:
        """The next outlets; then the jobs that were stopped; then a sentence."""
        deeds = record.deeds
        if not record.round or any(deed.outcome is None and deed.verb in {"stop", "off", "save"} for deed in deeds):
            return ()  # a stop under way is finished first: no half of it (the power race)
        ready = [feed for feed in feeds if self._is_ready(case, world, feed)]
        off = list_off(deeds)
        if off:
            steps = tuple(self._switch_on(case, record, ready, off))
            if steps or not self._is_enough(off):
                given_up = min(off.values()) >= TRIES
                return steps or (take(case, self._tell(case, record, off)) if given_up else ())
        if not ready:
            return ()
        names = {feed.name for feed in ready}
        waits = any(off[cord.outlet] < TRIES for cord in self._cords.values() if cord.outlet in off and cord.feed in names)
        return take(case, self._resume(record), () if waits else self._tell(case, record, off))

    def _is_ready(self, case: Case, world: World, feed: Feed) -> bool:
        """There for long enough, and not a generator's: where there may be one, the outage has to be over altogether."""
        if feed.mains is not Mains.PRESENT or feed.generator or self._feeds.find_steady(case.seen, feed.name) < self._set.stable_s:
            return False
        return not self._set.generator or not any(one.kind == "power.outage" for one in world.incidents)

    def _is_enough(self, off: Mapping[str, int]) -> bool:
        """Whether every node has a cord that is on again."""
        waiting = {cord.node for outlet in off if (cord := self._cords.get(outlet)) is not None}
        return waiting <= {cord.node for cord in self._cords.values() if cord.outlet not in off}

    def _switch_on(self, case: Case, record: Record, ready: Sequence[Feed], off: Mapping[str, int]) -> Iterator[Step]:
        """One outlet of each PDU at a time."""
        seen, names = case.seen, {feed.name for feed in ready}
        cords = [cord for outlet in off if (cord := self._cords.get(outlet)) is not None and off[outlet] < TRIES]
        if any(find_excess(seen, feed.ups) for feed in ready):
            return
        busy = {pdu for pdu in {cord.pdu for cord in cords} if not self._has_room(seen, pdu, record.deeds)}
        for cord in sorted(cords, key=lambda one: (one.pdu, off[one.outlet], one.node)):  # one that does not come holds up no other
            if cord.feed not in names or cord.pdu in busy or not self._is_cooled(seen, cord.node):
                continue
            busy.add(cord.pdu)
            name = record.name(f"on{off[cord.outlet] + 1}", cord.outlet)
            reason = f"feed {cord.feed} is back and stable, its branch has room, and this incident switched it off"
            if name not in case.done:
                yield Step(name=name, kind="power.on", target=cord.outlet, reason=reason, patience=ON_S, details={"node": cord.node})

    def _is_cooled(self, seen: View, node: str) -> bool:
        """A node comes back once its loop is seen to flow, and no shed keeps its fans off."""
        loop = self._loops.get(node, "")
        flows = not loop or (find_least(seen, FLOW, loop) or 0.0) > 0.0
        return flows and not any(seen.text(EVENT, pdu) == "fired" for pdu in self._sheds.get(node, ()))

    def _has_room(self, seen: View, pdu: str, deeds: Sequence[Deed]) -> bool:
        """Its branch is below its share, and its last outlet was long enough ago; without a meter that is a stable time."""
        mine = [deed for deed in deeds if deed.verb in VERBS and deed.target.startswith(f"{pdu}/")]
        if any(deed.outcome is None for deed in mine):
            return False
        last = max((deed.outcome.at for deed in mine if deed.outcome is not None), default=None)
        since = seen.now - last if last is not None else None
        rated = find_least(seen, RATED, pdu)
        if not is_read(seen, CURRENT, pdu) or not is_read(seen, RATED, pdu):
            return since is None or since >= self._set.stable_s
        currents = [amps for quantity in name_phases(CURRENT) if (amps := find_most(seen, quantity, pdu)) is not None]
        if not rated or not currents:
            return False  # it has a meter, which cannot be read now
        return 100.0 * max(currents) / rated < self._set.branch_percent and (since is None or since >= self._set.stage_s)

    def _resume(self, record: Record) -> Iterator[Step]:
        stopped = dict.fromkeys(deed.target for deed in record.list_of("stop") if deed.sent)
        for job in stopped:
            reason = "the mains are back, and its nodes have power: it goes on from the newest whole step"
            yield Step(name=record.name("resume", job), kind="job.resume", target=job, reason=reason, patience=RESUME_S)

    def _tell(self, case: Case, record: Record, off: Mapping[str, int]) -> Iterator[Step]:
        words = {"on1": "cords switched on", "on2": "at the second try", "on3": "at the third try", "resume": "jobs resumed"}
        told = "; ".join(say_outcomes(record, words)) or "nothing had been switched off"
        more = f" Still off: {', '.join(list(off)[:3])}{f' and {len(off) - 3} more' if len(off) > 3 else ''}." if off else ""
        reason = f"The mains are back. {told[0].upper()}{told[1:]}.{more}"
        yield Step(name=record.name("back", "tell"), kind="notify", target=case.incident.subject, reason=reason)


def list_off(deeds: Sequence[Deed]) -> dict[str, int]:
    """Each outlet that was switched off and is not known to be on again, with the number of tries since: those of all rounds."""
    off: dict[str, int] = {}
    for deed in deeds:
        if deed.verb == "off" and deed.sent:
            off[deed.target] = 0
        elif deed.verb.startswith("on") and deed.target in off and deed.outcome is not None:
            if deed.done:
                del off[deed.target]
            else:
                off[deed.target] += 1
    return off
