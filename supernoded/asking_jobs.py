"""What a training job needs to come to a safe step, and the steps by which a remedy asks it to. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType

import msgspec

from supernoded.history import View
from supernoded.model import Step
from supernoded.seeing import find_least, find_most, list_words

STATE, REQUEST, AGE, SAVE, STEP = "job.state", "job.request", "job.durable_age", "job.save_time", "job.step_time"
JOB_WATCHES: Mapping[str, float] = MappingProxyType(dict.fromkeys((STATE, REQUEST, AGE, SAVE, STEP), 60.0))
ENDED = frozenset({"absent", "stopped"})
SAVEABLE = frozenset({"starting", "running", "saving", "waiting"})
HUNG = frozenset({"silent", "aborted"})  # a rank does not come, or none is left: no checkpoint can be had (safety rule 27)
UNDER_WAY = frozenset({"asked", "agreed", "saving"})
VOID = frozenset({"none", "withdrawn", "failed", "late"})


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
        return self.runs and not self.states & HUNG and bool(self.states & SAVEABLE)

    @property
    def is_asked(self) -> bool:
        """Whether it has been asked for a checkpoint that is still to come."""
        return bool(self.requests & UNDER_WAY)

    @property
    def stopped(self) -> bool:
        """Whether every node that hears of it says that it has stopped."""
        return bool(self.states) and self.states <= ENDED

    @property
    def can_withdraw(self) -> bool:
        """Whether a request stands that no rank has agreed to yet (safety rule 11)."""
        return "asked" in self.requests and self.requests <= {"asked", *VOID}

    def is_saved_since(self, moment: float, now: float) -> bool:
        """Whether its newest durable step was taken after a moment."""
        return self.durable_age is not None and now - self.durable_age > moment

    def time_save(self, step_s: float, save_s: float, slowdown: float) -> float:
        """Seconds to end the step under way and to save, so many times slower than lately; of a job not timed yet, the times given."""
        step = step_s if self.step_s is None else self.step_s
        save = save_s if self.save_s is None else self.save_s
        return slowdown * (step + save)


def list_jobs(seen: View) -> list[Job]:
    """Every job that any node tells of; ranks are no jobs."""
    return [_look(seen, subject) for subject in seen.subjects(STATE) if subject.count("/") == 1]


def _look(seen: View, subject: str) -> Job:
    numbers = find_most(seen, SAVE, subject), find_most(seen, STEP, subject), find_least(seen, AGE, subject)
    return Job(subject, list_words(seen, STATE, subject), list_words(seen, REQUEST, subject), *numbers)


def ask_to_save(
    jobs: Sequence[Job],
    prefix: str,
    reason: str,
    limits: Mapping[str, tuple[float, str]],
    begun: AbstractSet[str] = frozenset(),
) -> Iterator[Step]:
    """A checkpoint of each job that can give one, or has been asked (`begun`); it runs on.

    `prefix` begins the steps' names, `limits` are seconds and why so many, by job; an empty why is not told.
    """
    for job in jobs:
        if job.saveable or job.subject in begun:
            seconds, why = limits[job.subject]
            told = {"deadline": why, "save_time": _tell(job.save_s), "step_time": _tell(job.step_s)} if why else {}
            name, patience = f"{prefix}{job.subject}", max(seconds, 0.5)
            yield Step(name=name, kind="job.checkpoint", target=job.subject, reason=reason, patience=patience, amount=seconds, details=told)


def ask_to_stop(
    jobs: Sequence[Job], prefix: str, reason: str, limits: Mapping[str, tuple[float, float]], begun: AbstractSet[str] = frozenset()
) -> Iterator[Step]:
    """Each running job is saved once more and then stopped.

    `limits` are, by job, the seconds to be saved in, and those after which nobody waits any longer for a rank that writes.
    """
    for job in jobs:
        if job.runs or job.subject in begun:
            seconds, hard = limits[job.subject]
            name, details = f"{prefix}{job.subject}", {"hard_s": f"{hard:.1f}"}
            yield Step(name=name, kind="job.stop", target=job.subject, reason=reason, patience=hard, amount=seconds, details=details)


def say_silent(jobs: Sequence[Job]) -> str:
    """The jobs of which no checkpoint can be had, as a sentence; empty when there is none."""
    silent = [job.subject for job in jobs if job.runs and not job.saveable]
    told = f" No checkpoint can be had of {', '.join(silent)}: a rank is silent, or its state is not known (safety rule 27)."
    return told if silent else ""


def _tell(seconds: float | None) -> str:
    return "not known" if seconds is None else f"{seconds:.1f} s"
