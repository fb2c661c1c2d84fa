"""How long a job is given to save and to stop when it gets hot, and how it is asked to. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import Job, Record, Step, ask_to_save, ask_to_stop
from supernoded_thermal.settings import ThermalSettings

STOP_S = 15.0  # beside step and save, till nobody waits for a rank that writes (ours)


def time_save(job: Job, settings: ThermalSettings) -> float:
    """Seconds to end the step under way, and to save, while cards are capped."""
    return job.time_save(settings.step_s, settings.save_s, settings.capped_slowdown)


def save_jobs(record: Record, verb: str, jobs: Sequence[Job], reason: str, limits: Mapping[str, float]) -> Iterator[Step]:
    """A checkpoint of each job that can give one, within so many seconds; the job runs on."""
    begun = {deed.target for deed in record.list_of(verb)}
    return ask_to_save(jobs, record.name(verb, ""), reason, {job: (seconds, "") for job, seconds in limits.items()}, begun)


def stop_jobs(record: Record, jobs: Sequence[Job], reason: str, settings: ThermalSettings) -> Iterator[Step]:
    """Each running job is stopped at a saved step; nobody is killed in mid-write before the time for that is over."""
    limits = {job.subject: (seconds, seconds + STOP_S) for job in jobs for seconds in (time_save(job, settings),)}
    return ask_to_stop(jobs, record.name("stop", ""), reason, limits, {deed.target for deed in record.list_of("stop")})
