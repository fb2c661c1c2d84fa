"""The reserve is low: save, stop, and switch off what has stopped, in that order; and back again in stages when the mains are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import Case, Node, Step, World
from supernoded_power import jobs as job_views
from supernoded_power.jobs import Job, list_jobs, time_save
from supernoded_power.mains import WATCHES, Feeds, Mains
from supernoded_power.remedies import returning
from supernoded_power.remedies.record import Deed, find_round, has_more_running, list_deeds, name_step, say_outcomes, take
from supernoded_power.remedies.returning import Return
from supernoded_power.remedies.saving import ask_to_save, is_saved_since
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
        **job_views.WATCHES,
        **returning.WATCHES,
        OUTLET: 60.0,
    }

    def __init__(self, feeds: Feeds, node: Node, settings: PowerSettings) -> None:
        self._feeds, self._site, self._own, self._set = feeds, node.topology, node.name, settings
        self._return = Return(feeds, node.topology, settings)

    def next(self, case: Case, world: World, now: float) -> Sequence[Step]:
        """The next steps of stopping, or of coming back."""
        del now
        deeds, feeds = list_deeds(case), self._feeds.look(case.seen)
        if any(feed.is_there for feed in feeds) or not case.still_raised:
            return self._return.next(case, world, deeds, feeds)
        if any(feed.mains is Mains.CONFLICT for feed in feeds):
            return ()  # that stops nothing
        number = find_round(deeds, returning.VERBS, away=True)
        return self._stop(case, world, number, [deed for deed in deeds if deed.round == number])

    def _stop(self, case: Case, world: World, number: int, deeds: Sequence[Deed]) -> Sequence[Step]:
        jobs = list_jobs(case.seen)
        if not deeds and any(job.is_asked and case.seen.now - case.incident.opened < time_save(job, self._set) for job in jobs):
            return ()  # the save that another incident has asked for is waited for, as long as one takes
        told = "; ".join(say_outcomes(deeds, number, WORDS)) or "there was nothing to stop"
        reason = f"{case.incident.text.rstrip('.')}; {told}. {self._own} stays on, and so does what cools, switches and stores."
        tell = Step(name=name_step(number, "away", "tell"), kind="notify", target=case.incident.subject, reason=reason)
        saves, stops = list(self._save(case, number, deeds, jobs)), list(self._stop_jobs(number, deeds, jobs))
        if self._feeds.find_span(case.seen) < HEARD_S or has_more_running(deeds, ("save", "stop"), (*saves, *stops)):
            return take(case, saves, stops)  # just started: a job that is not heard yet may run, and nobody's power is cut
        return take(case, saves, stops, self._cut(case, world, number, deeds), [tell])

    def _save(self, case: Case, number: int, deeds: Sequence[Deed], jobs: Sequence[Job]) -> Iterator[Step]:
        begun = {deed.target for deed in deeds if deed.verb == "save"}
        stops = any(deed.verb == "stop" for deed in deeds)  # which saves once more by itself
        new = [job for job in jobs if not (stops or job.is_asked or is_saved_since(job, case.seen.now - FRESH_S, case.seen))]
        due = [job for job in jobs if job.subject in begun or job in new]
        limits = {job.subject: (time_save(job, self._set), "the reserve is low: as soon as can be") for job in due}
        return ask_to_save(due, f"{number}-save-", "the reserve is low: save before the stop", limits)

    def _stop_jobs(self, number: int, deeds: Sequence[Deed], jobs: Sequence[Job]) -> Iterator[Step]:
        """Saved once more and then stopped; nobody is killed in mid-write before the time for that is over."""
        begun = {deed.target for deed in deeds if deed.verb == "stop"}
        for job in jobs:
            if job.runs or job.subject in begun:
                yield self._stop_job(number, job)

    def _stop_job(self, number: int, job: Job) -> Step:
        seconds = time_save(job, self._set)
        hard = seconds + self._set.stop_s / 2.0  # till then nobody cuts the power of a rank that writes
        return Step(
            name=name_step(number, "stop", job.subject),
            kind="job.stop",
            target=job.subject,
            reason="the reserve is down to what saving and stopping take: stop at a saved step",
            patience=hard,
            amount=seconds,
            details={"hard_s": f"{hard:.1f}"},
        )

    def _cut(self, case: Case, world: World, number: int, deeds: Sequence[Deed]) -> Iterator[Step]:
        begun = {deed.target for deed in deeds if deed.verb == "off"}
        reason = "its node was stopped in order, and the reserve is low"
        for cord in self._list_cuttable(world):
            if cord.outlet in begun or case.seen.text(OUTLET, cord.outlet) != "off":
                name = name_step(number, "off", cord.outlet)
                yield Step(name=name, kind="power.off", target=cord.outlet, reason=reason, patience=OFF_S, details={"node": cord.node})

    def _list_cuttable(self, world: World) -> tuple[Cord, ...]:
        keepers = {node for role, node in world.roles.items() if role.startswith(KEEPERS)}
        return list_cuttable(self._site, {self._own, *keepers}, self._set.never_off)
