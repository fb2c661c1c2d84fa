"""What is asked and answered about training jobs and their checkpoints."""

from __future__ import annotations

from typing import Annotated

import msgspec

from supernoded.messages.answers import Answer
from supernoded.messages.filters import Filter

MOST_DEADLINE = 86_400.0  # s that a checkpoint by hand may be given (ours)


class RankRow(msgspec.Struct, frozen=True, kw_only=True):
    """One rank on this node. Seconds."""

    rank: int
    card: str
    state: str
    step: int | None = None
    step_time: float | None = None
    age: float  # since it was last heard


class RequestRow(msgspec.Struct, frozen=True, kw_only=True):
    """One request. Times on the daemon's scale, as `now`."""

    job: str
    id: str
    kind: str  # checkpoint, or stop: save and then stop
    stage: str  # asked, agreed, saving, saved, durable, withdrawn, late, failed
    wanted: str = "durable"  # the stage at which it is what was asked for: saved, where there is no durable tier
    step: int | None = None  # that all ranks have agreed on
    asked: float
    deadline: float
    hard: float  # when nobody waits any longer
    expected: tuple[int, ...] = ()  # ranks of this node whose parts make it whole
    saved: tuple[int, ...] = ()
    reason: str = ""
    text: str = ""  # a sentence on where it stands


class JobRow(msgspec.Struct, frozen=True, kw_only=True):
    """One job on this node. Seconds; `durable_age` since the newest durable step was taken. None = not known yet."""

    job: str
    state: str
    world: int
    step: int | None = None
    step_time: float | None = None
    save_time: float | None = None
    stall_time: float | None = None
    saved_step: int | None = None
    durable_step: int | None = None
    durable_age: float | None = None
    interval: float | None = None  # at which this daemon asks it for a checkpoint; None = it does not
    interval_text: str = ""  # a sentence on why
    troubles: tuple[str, ...] = ()
    ranks: tuple[RankRow, ...] = ()
    request: RequestRow | None = None


class Jobs(Answer, frozen=True, kw_only=True):
    """All jobs of which ranks have connected to this node, by name."""

    jobs: tuple[JobRow, ...] = ()


class RankPlace(msgspec.Struct, frozen=True, kw_only=True):
    """The card of one rank."""

    rank: int
    card: str


class RankMap(Answer, frozen=True, kw_only=True):
    """Which rank of a job runs on which card, of all nodes as far as this one is told; `faults` are sentences on what is missing."""

    job: str
    world: int
    plan: str = ""  # how the ranks are grouped: tp=8 pp=16 dp=4 ep=1
    ranks: tuple[RankPlace, ...] = ()
    faults: tuple[str, ...] = ()


class CheckpointAsk(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a request for a checkpoint by hand."""

    reason: str = ""
    deadline_s: Annotated[float, msgspec.Meta(gt=0, le=MOST_DEADLINE)] | None = None  # None = as the settings say


class CheckpointFilter(Filter, frozen=True, kw_only=True):
    """Which request of a job; empty = its newest."""

    request: str = ""


class Requested(Answer, frozen=True, kw_only=True):
    """How a request stands; None = the job was never asked."""

    job: str
    request: RequestRow | None = None
