"""What a training job needs to come to a safe step. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import View
from supernoded_power.seeing import find_least, find_most
from supernoded_power.settings import PowerSettings

STATE, REQUEST, AGE = "job.state", "job.request", "job.durable_age"
SAVE, STEP = "job.save_time", "job.step_time"
WATCHES: Mapping[str, float] = dict.fromkeys((STATE, REQUEST, AGE, SAVE, STEP), 60.0)
ENDED = frozenset({"absent", "stopped"})
SAVEABLE = frozenset({"starting", "running", "saving", "waiting"})
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
        """Whether a checkpoint can be had from it: the peers of a silent rank hang (safety rule 27)."""
        return self.runs and "silent" not in self.states and bool(self.states & SAVEABLE)

    @property
    def is_asked(self) -> bool:
        """Whether it has been asked for a checkpoint that is still to come."""
        return bool(self.requests & UNDER_WAY)

    @property
    def stopped(self) -> bool:
        """Whether every node that hears of it says that it has stopped."""
        return bool(self.states) and self.states <= ENDED


def list_jobs(seen: View) -> list[Job]:
    """Every job that any node tells of; ranks are no jobs."""
    return [_look(seen, subject) for subject in seen.subjects(STATE) if subject.count("/") == 1]


def _look(seen: View, subject: str) -> Job:
    return Job(
        subject,
        _list_words(seen, STATE, subject),
        _list_words(seen, REQUEST, subject),
        find_most(seen, SAVE, subject),
        find_most(seen, STEP, subject),
        find_least(seen, AGE, subject),
    )


def _list_words(seen: View, quantity: str, subject: str) -> frozenset[str]:
    words = (seen.text(quantity, subject, source) for source in seen.sources(quantity, subject))
    return frozenset(word for word in words if word is not None)


def time_save(job: Job, settings: PowerSettings) -> float:
    """Seconds to end the step under way, and to save, at the capped speed (safety rule 9)."""
    step = settings.step_s if job.step_s is None else job.step_s
    save = settings.save_s if job.save_s is None else job.save_s
    return settings.capped_slowdown * (step + save)


def say_need(jobs: Sequence[Job], settings: PowerSettings) -> tuple[float, str]:
    """The reserve in seconds that saving and stopping take with their margin, and how it is made up."""
    save = max((time_save(job, settings) for job in jobs if job.runs), default=0.0)
    need = save + settings.stop_s + settings.margin_s
    return need, f"{need:.0f} s (save {save:.0f}, stop {settings.stop_s:g}, margin {settings.margin_s:g})"
