"""What `supernodectl jobs` and `checkpoint request|status` are answered from."""

from __future__ import annotations

from collections.abc import Mapping

from supernoded.clock import Clock
from supernoded.job import ranks
from supernoded.job.checkpoints import Checkpoint
from supernoded.job.parts import HARD
from supernoded.job.server import Server
from supernoded.job.training import Training
from supernoded.job.vault.interval import Advice
from supernoded.messages import JobRow, RankRow, RequestRow

FULFILLED = {True: "durable", False: "saved"}  # by whether there is a durable tier


class JobDesk:
    """Jobs for people. `wanted` is the stage at which a checkpoint is what it was asked for."""

    def __init__(self, server: Server, clock: Clock, deadline_s: float, wanted: str, advices: Mapping[str, Advice]) -> None:
        self._server, self._clock, self._deadline_s, self._wanted, self._advices = server, clock, deadline_s, wanted, advices

    def list_jobs(self) -> list[JobRow]:
        """All, by name."""
        return [self._show(job) for _, job in sorted(self._server.jobs.items())]

    def ask(self, job: str, reason: str, *, deadline_s: float | None = None, stop: bool = False) -> RequestRow:
        """Ask a job for a checkpoint by hand. Raises WireError."""
        seconds, now = deadline_s or self._deadline_s, self._clock.now()
        kind = "stop" if stop else "checkpoint"
        one = self._server.ask(
            job, f"hand/{now:.3f}", "stop" if stop else "checkpoint", reason or f"{kind} by hand", (seconds, HARD * seconds)
        )
        return show_request(job, one, self._wanted)

    def find_request(self, job: str, request: str = "") -> RequestRow | None:
        """How a request stands, the newest where none is named. Raises WireError for a job that is not known."""
        training = self._server.find(job)
        one = training.find(request) if request else training.request
        return show_request(job, one, self._wanted) if one is not None else None

    def _show(self, job: Training) -> JobRow:
        now, kept = self._clock.now(), job.kept
        states = job.judge_ranks(now, self._server.terms.silent_s)
        advice = self._advices.get(job.name)
        return JobRow(
            job=job.name,
            state=job.judge(now, self._server.terms.silent_s) or "unknown",
            world=kept.world,
            step=ranks.find_step(job.here),
            step_time=job.step_time,
            save_time=job.save_time,
            stall_time=job.worst_stall,
            saved_step=_step(kept.saved_step),
            durable_step=_step(kept.durable_step),
            durable_age=max(0.0, self._clock.wall() - kept.taken) if kept.durable_step >= 0 else None,
            interval=advice.seconds if advice is not None else None,
            interval_text=advice.text if advice is not None else "",
            troubles=tuple(job.list_troubles()),
            ranks=tuple(
                RankRow(
                    rank=number,
                    card=rank.card,
                    state=states[number],
                    step=_step(rank.step),
                    step_time=ranks.find_p95(rank.times),
                    age=now - rank.heard,
                )
                for number, rank in sorted(job.ranks.items())
            ),
            request=show_request(job.name, job.request, self._wanted) if job.request is not None else None,
        )


def show_request(job: str, one: Checkpoint, wanted: str) -> RequestRow:
    """A request for people."""
    return RequestRow(
        job=job,
        id=one.id,
        kind=one.kind,
        stage=one.stage,
        wanted=wanted,
        step=_step(one.step),
        asked=one.asked,
        deadline=one.deadline,
        hard=one.hard,
        expected=one.expected,
        saved=one.saved,
        reason=one.reason,
        text=one.describe(),
    )


def _step(step: int) -> int | None:
    return step if step >= 0 else None
