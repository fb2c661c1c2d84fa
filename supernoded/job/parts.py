"""The jobs of this node as parts of the daemon: a sensor that reads them, an actuator that asks them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

from supernoded.clock import Clock
from supernoded.errors import WireError
from supernoded.job.checkpoints import UNDER_WAY, Checkpoint
from supernoded.job.ordering import LAUNCHES, make_order, see_answer, see_steps
from supernoded.job.reading import read_job, read_ranks
from supernoded.job.server import Server
from supernoded.job.training import Training
from supernoded.model import NODE, Action, Effect, Reading, Sight

HARD = 2.0  # times the deadline at which nobody waits any longer, where the order says nothing (ours)
SAVES = frozenset({"job.checkpoint", "job.stop"})


class JobSensor:
    """Reads what the server knows."""

    scope, period, timeout = NODE, 1.0, 1.0

    def __init__(self, server: Server, clock: Clock) -> None:
        self.name = f"job@{server.terms.node}"
        self._server, self._clock = server, clock

    async def read(self) -> Sequence[Reading]:
        """All jobs and ranks."""
        now, wall, silent_s = self._clock.now(), self._clock.wall(), self._server.terms.silent_s
        return [
            reading
            for _, job in sorted(self._server.jobs.items())
            for reading in (*read_job(job, now, wall, silent_s), *read_ranks(job, now, silent_s))
        ]


class JobActuator:
    """Asks ranks and launcher. `durable` = whether steps go on to a durable tier, which a checkpoint is then waited for."""

    kinds = SAVES | LAUNCHES.keys() | {"job.withdraw"}
    targets: Sequence[str] = ("job/*",)

    def __init__(self, server: Server, clock: Clock, deadline_s: float, *, durable: bool) -> None:
        self._server, self._clock, self._deadline_s, self._durable = server, clock, deadline_s, durable

    async def apply(self, action: Action) -> None:
        """Ask. Raises WireError when there is nobody to ask, or the order cannot be understood."""
        step, name = action.step, _read_name(action)
        if step.kind in SAVES:
            within = read_times(action, self._clock.now(), self._deadline_s)
            self._server.ask(name, action.id, "stop" if step.kind == "job.stop" else "checkpoint", step.reason, within)
        elif step.kind == "job.withdraw":
            one = _find_request(self._server.find(name), action)
            if one is not None:
                self._server.withdraw(name, one.id)
        elif not self._server.launching(name).stamp(action.id).ok:
            self._server.order(name, make_order(action, self._server.find(name).kept.plan))

    async def observe(self, action: Action) -> Sight:
        """What the job shows of it."""
        job = self._server.jobs.get(_read_name(action))
        if job is None:
            return Sight(effect=Effect.ABSENT, text=f"no rank of {action.step.target} has connected to this node's job.sock")
        launching = self._server.launching(job.name)
        looks: dict[str, Callable[[Action], Sight]] = {
            "job.checkpoint": partial(self._see_checkpoint, job),
            "job.stop": partial(self._see_stop, job),
            "job.withdraw": partial(_see_withdrawal, job),
            "job.resume": partial(see_steps, job, launching),
        }
        return looks.get(action.step.kind, partial(see_answer, job, launching))(action)

    def _see_checkpoint(self, job: Training, action: Action) -> Sight:
        one = job.find(action.id)
        if one is None or one.stage == "failed":
            return Sight(effect=Effect.ABSENT, text=one.describe() if one is not None else "not asked for yet")
        if one.stage == "durable" or (one.stage == "saved" and not self._durable):
            return Sight(effect=Effect.PRESENT, text=f"step {one.step} is {'durable' if self._durable else 'saved in shared memory'}")
        troubles = "".join(f"; {trouble}" for trouble in job.list_troubles())
        saved = "; it is whole in shared memory" if one.stage == "saved" else ""
        return Sight(effect=Effect.UNKNOWN, text=one.describe() + saved + _reckon(job, one) + troubles)

    def _see_stop(self, job: Training, action: Action) -> Sight:
        """Who has stopped may lose its power, and with that its memory: till the hard limit the step is waited for."""
        one = job.find(action.id)
        if job.kept.stopped:
            stopped = "all ranks on this node have stopped in order"
            if not self._durable or one is None or one.stage != "saved":
                return Sight(effect=Effect.PRESENT, text=stopped)
            waits = self._clock.now() < one.hard
            text = "; ".join((f"{stopped}; step {one.step} is in shared memory alone", *job.list_tier_troubles()))
            return Sight(effect=Effect.UNKNOWN if waits else Effect.PRESENT, text=text)
        if one is None or one.stage == "failed":
            return Sight(effect=Effect.ABSENT, text=one.describe() if one is not None else "not asked for yet")
        left = sorted(rank.number for rank in job.here)
        return Sight(effect=Effect.UNKNOWN, text=f"{one.describe()}; ranks still here: {', '.join(map(str, left[:8])) or 'none'}")


def _see_withdrawal(job: Training, action: Action) -> Sight:
    one = _find_request(job, action)
    if one is None or not one.agreed:
        done = one is None or one.stage not in UNDER_WAY
        return Sight(effect=Effect.PRESENT if done else Effect.ABSENT, text=one.describe() if one is not None else "nothing is asked for")
    return Sight(effect=Effect.UNKNOWN, text=f"too late, the ranks have agreed: {one.describe()}")


def _find_request(job: Training, action: Action) -> Checkpoint | None:
    """The one that the order names, else the newest."""
    named = action.step.details.get("request", "")
    return job.find(named) if named else job.request


def _reckon(job: Training, one: Checkpoint) -> str:
    """Whether there is time, by what steps and saves have taken lately."""
    needed, given = (job.step_time or 0.0) + (job.save_time or 0.0), one.deadline - one.asked
    return f"; it has {given:.1f} s and needs about {needed:.1f}" if needed > given else ""


def _read_name(action: Action) -> str:
    return action.step.target.removeprefix("job/").partition("/")[0]


def read_times(action: Action, now: float, default: float) -> tuple[float, float]:
    """Seconds to the deadline (`amount`, or `deadline_s` of the details) and to the hard limit (`hard_s`). Raises WireError."""
    details = action.step.details
    deadline = action.step.amount if action.step.amount is not None else _read_seconds(details.get("deadline_s"), default)
    if not 0 < deadline < math.inf:
        raise WireError(f"{action.id}: {deadline} s to save in; give a positive number of seconds")
    hard = _read_seconds(details.get("hard_s"), HARD * deadline)
    late = max(0.0, now - action.issued)  # the order is that old already
    return max(0.1, deadline - late), max(0.1, hard - late)


def _read_seconds(text: str | None, default: float) -> float:
    try:
        seconds = default if text is None else float(text)
    except ValueError as error:
        raise WireError(f"{text!r} is no number of seconds") from error
    if not 0 < seconds < math.inf:
        raise WireError(f"{text!r} s is no time to save in; give a positive number of seconds")
    return seconds
