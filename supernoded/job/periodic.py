"""Checkpoints that nobody else asks for: at the interval at which they are worth their time (C7), by what saves and failures have shown."""

from __future__ import annotations

import logging

from supernoded.clock import Clock
from supernoded.errors import WireError
from supernoded.job.checkpoints import UNDER_WAY, Checkpoint
from supernoded.job.server import Server
from supernoded.job.training import Training
from supernoded.job.vault.interval import Advice, find_interval
from supernoded.settings.vault import Interval

CHANGED = 0.25  # an interval that has changed by more is told (ours)
LEADER = 0  # the rank whose node asks: the others learn of it through their collective


class Periodic:
    """Asks each job whose rank 0 is on this node. `advices` = the interval of each, where it is asked at one."""

    def __init__(self, server: Server, clock: Clock, log: logging.Logger, terms: Interval, within: tuple[float, float]) -> None:
        self._server, self._clock, self._log, self._terms, self._within = server, clock, log, terms, within
        self.advices: dict[str, Advice] = {}
        self._told: dict[str, float] = {}

    def look(self) -> None:
        """Ask those that are due."""
        now, wall = self._clock.now(), self._clock.wall()
        for name, job in self._server.jobs.items():
            if LEADER not in job.ranks or not job.ranks[LEADER].here:
                self.advices.pop(name, None)
                continue
            advice = self._advise(name, job, now)
            if is_due(job, advice.seconds, self._terms.least_s, now, wall):
                self._ask(name, advice, now)
        for gone in self._told.keys() - self._server.jobs.keys():
            del self._told[gone]
            self.advices.pop(gone, None)

    def _advise(self, name: str, job: Training, now: float) -> Advice:
        """The interval now; told when it is not what was told last."""
        stall, failures = max(job.kept.stalls, default=0.0), job.failures
        advice = self.advices[name] = find_interval(stall, failures.count, failures.find_watched(now), self._terms)
        told = self._told.get(name)
        if told is None or abs(advice.seconds - told) > CHANGED * told:
            self._told[name] = advice.seconds
            self._log.info("job %s: %s", name, advice.text)
        return advice

    def _ask(self, name: str, advice: Advice, now: float) -> None:
        try:
            self._server.ask(name, f"interval/{now:.3f}", "checkpoint", f"every {advice.seconds:.0f} s", self._within)
        except WireError as error:  # its last rank has gone in this very moment
            self._log.debug("job %s: %s", name, error)


def is_due(job: Training, seconds: float, least_s: float, now: float, wall: float) -> bool:
    """Whether the interval has passed since all that could have begun it, and nothing is under way; `least_s` counts from durable on."""
    if any(_is_open(one, now) for one in job.kept.requests) or any(rank.saving is not None for rank in job.here):
        return False
    began = [now - rank.came for rank in job.here]
    began += [now - one.asked for one in job.kept.requests[-1:]]
    began += [max(0.0, wall - job.kept.taken)] if job.kept.durable_step >= 0 else []
    return min(began, default=0.0) >= seconds and (job.durable_at is None or now - job.durable_at >= least_s)


def _is_open(one: Checkpoint, now: float) -> bool:
    """What is saved is waited for until its hard limit: storage in trouble does not end all saving."""
    return one.stage in UNDER_WAY or (one.stage == "saved" and now < one.hard)
