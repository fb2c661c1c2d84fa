"""The newest durable checkpoint is too old (safety rule 14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from supernoded.plugin import JOB_WATCHES, Job, Level, Severity, Verdict, View, list_jobs, say_why
from supernoded_power.seeing import judge
from supernoded_power.settings import PowerSettings


class CheckpointMemory(msgspec.Struct, frozen=True):
    """Since when each job has been seen running."""

    since: dict[str, float] = {}


class CheckpointRule:
    """Raises a running job of which too much work would be lost."""

    kind = "checkpoint.old"
    watches: Mapping[str, float] = JOB_WATCHES

    def __init__(self, settings: PowerSettings) -> None:
        self.scope, self._most = settings.subject, settings.checkpoint_old_s

    def start(self) -> CheckpointMemory:
        """No job was seen."""
        return CheckpointMemory()

    def judge(self, seen: View, memory: CheckpointMemory) -> tuple[CheckpointMemory, Sequence[Verdict]]:
        """The level of every job."""
        jobs = list_jobs(seen)
        since = {job.subject: memory.since.get(job.subject, seen.now) for job in jobs if job.runs}
        return CheckpointMemory(since), [self._judge(seen, job, since.get(job.subject)) for job in jobs]

    def _judge(self, seen: View, job: Job, since: float | None) -> Verdict:
        if job.durable_age is not None and job.durable_age <= self._most:
            text = f"the newest durable checkpoint of {job.subject} is {job.durable_age:.0f} s old"
            return judge(self.kind, job.subject, seen.now, Level.CLEAR, text)
        if since is None:
            if job.stopped:
                return judge(self.kind, job.subject, seen.now, Level.CLEAR, f"{job.subject} does not run")
            return judge(self.kind, job.subject, seen.now, Level.UNSURE, f"whether {job.subject} runs cannot be seen")
        if job.durable_age is not None:
            text = f"the newest durable checkpoint of {job.subject} is {job.durable_age:.0f} s old, the limit is {self._most:g} s"
            return judge(self.kind, job.subject, seen.now, Level.RAISED, text, Severity.WARNING)
        why, runs = say_why(seen, "job.durable_age", job.subject), seen.now - since
        text = f"{job.subject} is seen running for {runs:.0f} s without a durable checkpoint, the limit is {self._most:g} s"
        return judge(self.kind, job.subject, seen.now, Level.RAISED if runs > self._most else Level.CLEAR, text, unseen=(why,))
