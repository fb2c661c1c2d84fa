"""The reserve is low: save, stop, and switch off what has stopped, in that order; and back again in stages when the mains are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import (
    JOB_WATCHES,
    Case,
    Job,
    Node,
    Record,
    Step,
    World,
    ask_to_save,
    ask_to_stop,
    has_more_running,
    list_jobs,
    read_record,
    say_outcomes,
    take,
)
from supernoded_power.jobs import time_save
from supernoded_power.mains import WATCHES, Feeds, Mains
from supernoded_power.remedies import returning
from supernoded_power.remedies.returning import Return
from supernoded_power.reserve import OUTLET
from supernoded_power.settings import PowerSettings
from supernoded_power.site import Cord, list_cuttable

KEEPERS = (
    "cdu/",
    "feed/",
    "power/",
    "fleet",
)  # roles whose holders stay on: control of coolant, PDUs and of this very work (safety rule 6)
WORDS = {"save": "jobs saved", "stop": "jobs stopped", "off": "cords of nodes switched off"}
FRESH_S = 60.0  # a durable step that is younger is not saved once more before the stop, which saves too
HEARD_S = 10.0  # of readings before a job that is not heard of counts as none: two digests of other nodes
OFF_S = 10.0  # for a cord to be seen off: a PDU takes up to 2.5 s to show it


class ReserveRemedy:
    """Answers `power.reserve`. While any feed is there nothing is stopped or cut, and what was is brought back (safety rules 6, 8, 10)."""

    answers = "power.reserve"
    watches: Mapping[str, float] = {
        **dict.fromkeys(WATCHES, 120.0),  # long enough to see that a feed has been there for a stable time
        **JOB_WATCHES,
        **returning.WATCHES,
        OUTLET: 60.0,
    }

    def __init__(self, feeds: Feeds, node: Node, settings: PowerSettings) -> None:
        self._feeds, self._site, self._own, self._set = feeds, node.topology, node.name, settings
        self._relied_on = frozenset(node.relied_on)  # as broker, database or storage
        self._return = Return(feeds, node.topology, settings)

    def next(self, case: Case, world: World, now: float) -> Sequence[Step]:
        """The next steps of stopping, or of coming back."""
        del now
        feeds = self._feeds.look(case.seen)
        if any(feed.is_there for feed in feeds) or not case.still_raised:
            return self._return.next(case, world, read_record(case, returning.VERBS, again=False), feeds)
        if any(feed.mains is Mains.CONFLICT for feed in feeds):
            return ()  # that stops nothing
        return self._stop(case, world, read_record(case, returning.VERBS, again=True))

    def _stop(self, case: Case, world: World, record: Record) -> Sequence[Step]:
        jobs, deeds = list_jobs(case.seen), record.list_round()
        if not deeds and any(job.is_asked and case.seen.now - case.incident.opened < time_save(job, self._set) for job in jobs):
            return ()  # the save that another incident has asked for is waited for, as long as one takes
        told = "; ".join(say_outcomes(record, WORDS)) or "there was nothing to stop"
        reason = f"{case.incident.text.rstrip('.')}; {told}. {self._own} stays on, and so does what cools, switches and stores."
        tell = Step(name=record.name("away", "tell"), kind="notify", target=case.incident.subject, reason=reason)
        saves, stops = list(self._save(case, record, jobs)), list(self._stop_jobs(record, jobs))
        if self._feeds.find_span(case.seen) < HEARD_S or has_more_running(deeds, ("save", "stop"), (*saves, *stops)):
            return take(case, saves, stops)  # just started: a job that is not heard yet may run, and nobody's power is cut
        return take(case, saves, stops, self._cut(case, world, record), [tell])

    def _save(self, case: Case, record: Record, jobs: Sequence[Job]) -> Iterator[Step]:
        begun, now = {deed.target for deed in record.list_of("save")}, case.seen.now
        stops = record.has_begun("stop")  # which saves once more by itself
        new = [job for job in jobs if not (stops or job.is_asked or job.is_saved_since(now - FRESH_S, now))]
        due = [job for job in jobs if job.subject in begun or job in new]
        limits = {job.subject: (time_save(job, self._set), "the reserve is low: as soon as can be") for job in due}
        return ask_to_save(due, record.name("save", ""), "the reserve is low: save before the stop", limits)

    def _stop_jobs(self, record: Record, jobs: Sequence[Job]) -> Iterator[Step]:
        """Saved once more and then stopped; till half of the stopping time nobody cuts the power of a rank that writes."""
        limits = {job.subject: (seconds, seconds + self._set.stop_s / 2.0) for job in jobs for seconds in (time_save(job, self._set),)}
        reason = "the reserve is down to what saving and stopping take: stop at a saved step"
        return ask_to_stop(jobs, record.name("stop", ""), reason, limits, {deed.target for deed in record.list_of("stop")})

    def _cut(self, case: Case, world: World, record: Record) -> Iterator[Step]:
        begun = {deed.target for deed in record.list_of("off")}
        reason = "its node was stopped in order, and the reserve is low"
        for cord in self._list_cuttable(world):
            if cord.outlet in begun or case.seen.text(OUTLET, cord.outlet) != "off":
                name = record.name("off", cord.outlet)
                yield Step(name=name, kind="power.off", target=cord.outlet, reason=reason, patience=OFF_S, details={"node": cord.node})

    def _list_cuttable(self, world: World) -> tuple[Cord, ...]:
        keepers = {node for role, node in world.roles.items() if role.startswith(KEEPERS)}
        return list_cuttable(self._site, {self._own, *keepers, *self._relied_on}, self._set.never_off)
