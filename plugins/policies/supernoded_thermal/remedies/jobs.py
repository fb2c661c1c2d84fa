"""What a training job needs to come to a safe step, and how it is asked to. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from supernoded.plugin import Step, View
from supernoded_thermal.coolant.seeing import find_least, find_most
from supernoded_thermal.remedies.record import Record
from supernoded_thermal.settings import ThermalSettings

STATE, REQUEST, AGE, SAVE, STEP = "job.state", "job.request", "job.durable_age", "job.save_time", "job.step_time"
WATCHES: Mapping[str, float] = dict.fromkeys((STATE, REQUEST, AGE, SAVE, STEP), 60.0)
ENDED = frozenset({"absent", "stopped"})
SAVEABLE = frozenset({"starting", "running", "saving", "waiting"})
UNDER_WAY = frozenset({"asked", "agreed", "saving"})
VOID = frozenset({"none", "withdrawn", "failed", "late"})
STOP_S = 15.0  # beside step and save, till nobody waits for a rank that writes (ours)


class Job(msgspec.Struct, frozen=True):
    """One job now; None = not known. Times in seconds."""

    subject: str
    states: frozenset[str]  # as each node that hears of it says
    requests: frozenset[str]
    save_s: float | None
    step_s: float | None
    durable_age: float | None  # since the newest whole step on durable storage was taken

    @property
    def runs(self) -> bool:
        """Whether any node says that it is there and not stopped."""
        return bool(self.states - ENDED)

    @property
    def saveable(self) -> bool:
        """Whether a checkpoint can be had of it: the peers of a silent rank hang (safety rule 27)."""
        return self.runs and "silent" not in self.states and bool(self.states & SAVEABLE)

    @property
    def can_withdraw(self) -> bool:
        """Whether a request stands that no rank has agreed to yet (safety rule 11)."""
        return "asked" in self.requests and self.requests <= {"asked", *VOID}

    def is_saved_since(self, moment: float, now: float) -> bool:
        """Whether its newest durable step was taken after a moment."""
        return self.durable_age is not None and now - self.durable_age > moment

    def time_save(self, settings: ThermalSettings) -> float:
        """Seconds to end the step under way, and to save, while cards are capped."""
        step = settings.step_s if self.step_s is None else self.step_s
        save = settings.save_s if self.save_s is None else self.save_s
        return settings.capped_slowdown * (step + save)


def list_jobs(seen: View) -> list[Job]:
    """Every job that any node tells of; ranks are no jobs."""
    return [_look(seen, subject) for subject in seen.subjects(STATE) if subject.count("/") == 1]


def _look(seen: View, subject: str) -> Job:
    numbers = find_most(seen, SAVE, subject), find_most(seen, STEP, subject), find_least(seen, AGE, subject)
    return Job(subject, _list_words(seen, STATE, subject), _list_words(seen, REQUEST, subject), *numbers)


def _list_words(seen: View, quantity: str, subject: str) -> frozenset[str]:
    words = (seen.text(quantity, subject, source) for source in seen.sources(quantity, subject))
    return frozenset(word for word in words if word is not None)


def ask_to_save(record: Record, verb: str, jobs: Sequence[Job], reason: str, limits: Mapping[str, float]) -> Iterator[Step]:
    """A checkpoint of each job that can give one, within so many seconds; the job runs on."""
    begun = {deed.target for deed in record.list_of(verb)}
    for job in jobs:
        if job.saveable or job.subject in begun:
            seconds = limits[job.subject]
            name = record.name(verb, job.subject)
            yield Step(name=name, kind="job.checkpoint", target=job.subject, reason=reason, patience=max(seconds, 0.5), amount=seconds)


def ask_to_stop(record: Record, jobs: Sequence[Job], reason: str, settings: ThermalSettings) -> Iterator[Step]:
    """Each running job is stopped at a saved step; nobody is killed in mid-write before the time for that is over."""
    begun = {deed.target for deed in record.list_of("stop")}
    for job in jobs:
        if job.runs or job.subject in begun:
            seconds = job.time_save(settings)
            hard = seconds + STOP_S
            details = {"hard_s": f"{hard:.1f}"}
            name = record.name("stop", job.subject)
            yield Step(name=name, kind="job.stop", target=job.subject, reason=reason, patience=hard, amount=seconds, details=details)


def say_silent(jobs: Sequence[Job]) -> str:
    """The jobs of which no checkpoint can be had, as a sentence; empty when there is none."""
    silent = [job.subject for job in jobs if job.runs and not job.saveable]
    told = f" No checkpoint can be had of {', '.join(silent)}: a rank is silent, or its state is not known (safety rule 27)."
    return told if silent else ""
