"""What saving and stopping take of the reserve. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import Job
from supernoded_power.settings import PowerSettings


def time_save(job: Job, settings: PowerSettings) -> float:
    """Seconds to end the step under way, and to save, at the capped speed (safety rule 9)."""
    return job.time_save(settings.step_s, settings.save_s, settings.capped_slowdown)


def say_need(jobs: Sequence[Job], settings: PowerSettings) -> tuple[float, str]:
    """The reserve in seconds that saving and stopping take with their margin, and how it is made up."""
    save = max((time_save(job, settings) for job in jobs if job.runs), default=0.0)
    need = save + settings.stop_s + settings.margin_s
    return need, f"{need:.0f} s (save {save:.0f}, stop {settings.stop_s:g}, margin {settings.margin_s:g})"
