"""Troubles that ask for a checkpoint and a word to people, and those that ask for a word alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import (
    JOB_WATCHES,
    Case,
    Job,
    Record,
    Severity,
    Step,
    World,
    ask_to_save,
    list_jobs,
    read_record,
    say_outcomes,
    say_silent,
    take,
)
from supernoded_power.jobs import time_save
from supernoded_power.settings import PowerSettings

NOTIFY = "notify"
OFTEN_SAVES, SELDOM = (
    96,
    4.0,
)  # of one incident at the interval that is set, by default a day; then at four times that, as each costs two rows (ours)
ADVICE: Mapping[str, str] = {
    "power.feed_lost": "Nothing is shed: one feed carries the load. Bring the other one back.",
    "power.conflict": "Nothing is shed on this. Look which of the two is right.",
    "power.silent": "Nothing is stopped before a second source says that the power is gone. Look at its line and its server.",
    "power.no_ride_through": "Nobody counts on it: work is saved more often till it is well.",
    "power.reserve_short": "A break of the mains would cost the newest work: save faster, lower the load, or look at the battery.",
    "power.redundancy": "No other UPS could take the load over: bring the one that is missing back, or lower the load.",
    "power.arming": "Fans are not shed at a sag till it is armed again.",
    "power.shed_late": "Look at the line from the UPS to this PDU; `supernoded --check` has the arithmetic.",
    "power.cords": "Plug one cord into each feed, with the node out of service.",
    "ups.battery": "Replace the battery.",
    "ups.overload": "Lower its load.",
    "ups.alarm": "Nothing is done about it: look at its panel and its log.",
    "psu.lost": "Nothing is capped, stopped or switched off: the node runs on. Look at the cord, the PDU and the feed of that supply.",
    "checkpoint.old": "Look why the job does not save.",
}
SAVING = frozenset({"power.feed_lost", "power.conflict", "power.silent", "power.no_ride_through", "psu.lost", "checkpoint.old"})


class TellRemedy:
    """Answers a trouble that nothing but people can repair; work is saved first where it is in danger."""

    watches: Mapping[str, float] = JOB_WATCHES

    def __init__(self, answers: str, settings: PowerSettings) -> None:
        self.answers, self._set = answers, settings

    def next(self, case: Case, world: World, now: float) -> Sequence[Step]:
        """A checkpoint where there is reason to; the notice, once; then checkpoints for as long as no battery would carry the load."""
        del world
        if not case.still_raised:
            return ()
        record = Record(read_record(case, frozenset()).deeds, 1)
        saves = list(self._save(case, record))
        told = list(say_outcomes(record, {"save": "jobs saved"}))
        reason = f"{'; '.join((case.incident.text.rstrip('.'), *told))}. {ADVICE[self.answers]}"
        reason += say_silent(list_jobs(case.seen)) if saves or told else ""
        tell = Step(name=record.name("tell", "people"), kind=NOTIFY, target=case.incident.subject, reason=reason)
        return take(case, saves, [tell], self._save_again(case, record, now))

    def _save(self, case: Case, record: Record) -> Iterator[Step]:
        incident = case.incident
        if self.answers not in SAVING or (self.answers == "power.silent" and incident.severity is not Severity.CRITICAL):
            return iter(())
        subjects = incident.members or (incident.subject,)
        jobs = [job for job in list_jobs(case.seen) if self.answers != "checkpoint.old" or job.subject in subjects]
        begun = {deed.target for deed in record.list_of("save")}
        since = incident.opened if record.round == 1 else case.seen.now - self._find_interval(record.round)
        new = [job for job in jobs if not (job.is_asked or job.is_saved_since(since, case.seen.now))]
        due = [job for job in jobs if job.subject in begun or job in new]
        return ask_to_save(due, record.name("save", ""), incident.text, {job.subject: self._limit(job) for job in due})

    def _save_again(self, case: Case, record: Record, now: float) -> Iterator[Step]:
        """Oftener than the job would by itself, for as long as a UPS would not ride through (safety rule 13)."""
        saves = [deed for deed in record.deeds if deed.verb == "save"]
        last = max((deed.round for deed in saves), default=0)
        if self.answers != "power.no_ride_through":
            return
        ended = max((deed.outcome.at for deed in saves if deed.outcome is not None), default=case.incident.opened)
        if any(deed.outcome is None for deed in saves):
            yield from self._save(case, Record(record.deeds, last))
        elif now - ended >= self._find_interval(last + 1):
            yield from self._save(case, Record(record.deeds, last + 1))

    def _find_interval(self, number: int) -> float:
        """Seconds from one save to the next, which is the so manieth."""
        return self._set.oftener_s * (1.0 if number <= OFTEN_SAVES else SELDOM)

    def _limit(self, job: Job) -> tuple[float, str]:
        return 2.0 * time_save(job, self._set), "the load has power: there is time for a step and a save, twice"
