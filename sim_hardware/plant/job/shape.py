"""What is known of the training job.

At any moment a job that goes on has one piece of *work*: a step, a save, or a restore. It ends at `ends_at`, when all ranks meet.
A rank that is *stalled* (silent, or on a card that computes nothing) does not come: its peers then wait, and the job hangs.
"""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from sim_hardware.plant.words import Happening

COMPLAIN_S = 3.0  # between two sends that time out, for a buffer that is too small or a card that throttles, ours
TIMEOUT_S = 1836.0  # of a collective, after which the library ends the job (Q20)

Phase = Literal["running", "saving", "restoring", "hung", "aborted", "lost", "stopped", "done"]
Work = Literal["step", "save", "restore"]

GOING: frozenset[Phase] = frozenset({"running", "saving", "restoring", "hung"})  # its processes live
PHASES: dict[Work, Phase] = {"step": "running", "save": "saving", "restore": "restoring"}


class Inputs(msgspec.Struct, frozen=True):
    """What holds from the state's time until the time of the update. Cards are numbered in rack order."""

    speed: tuple[float, ...]  # by card, share of full; 0 computes nothing
    alive: tuple[bool, ...]  # by card: a process can live on it
    ring_factor: float = 1.0  # how much longer the collective takes than as SAR-Ring
    throttled: frozenset[int] = frozenset()  # cards that heat has slowed down: their clock comes and goes, and peers wait in vain (T9)


class Plan(msgspec.Struct, frozen=True):
    """What never changes, but for a replica that is given up."""

    name: str
    cards: tuple[str, ...]  # of the rack
    numbers: dict[str, int]
    step_s: float  # at full speed
    save_s: float  # at full speed
    every_s: float  # between checkpoints
    tensor: int
    pipeline: int
    replicas: int  # data-parallel
    noise: tuple[float, ...]  # by rank, -1..1: no two ranks are loaded alike
    ranks: int = 0  # at the beginning
    restore_s: float = 60.0  # from durable storage

    @property
    def subject(self) -> str:
        """`job/train`."""
        return f"job/{self.name}"

    def find_replica(self, rank: int) -> range:
        """The ranks of the data-parallel replica that a rank belongs to: they are numbered replica by replica."""
        size = len(self.noise) // self.replicas
        return range(rank // size * size, (rank // size + 1) * size)


class Pace(msgspec.Struct, frozen=True):
    """What follows from the speeds of its cards; kept until they change."""

    compute_s: tuple[float, ...]  # by rank, of one step; inf for one that computes nothing
    slowest_s: float  # of those that compute
    exchange_s: float  # the collective itself
    loads: tuple[float, ...]  # by card, 0..1
    traffic: tuple[float, ...]  # by card, share of line rate
    starved_s: float = 0.0  # that ranks wait for training data

    @property
    def step_s(self) -> float:
        """Of the step that all ranks share."""
        return self.slowest_s + self.exchange_s + self.starved_s


class Stored(msgspec.Struct, frozen=True):
    """The newest whole step on each tier, by the files; 0 = what the job begins with, which is nowhere lost."""

    known: bool = False  # somebody has looked; else what was saved counts as durable
    shared: int = 0
    durable: int = 0
    unfinished: int = 0  # steps that were begun on durable storage and are not whole
    drafts: int = 0  # that lie there
    published: str = ""  # the newest snapshot of the memory pool that has a manifest

    @property
    def newest(self) -> int:
        """What can still be had."""
        return max(self.shared, self.durable)


class State(msgspec.Struct, frozen=True):
    """The job at `at` seconds."""

    plan: Plan
    at: float
    next_time: float
    happened: tuple[Happening, ...]
    inputs: Inputs
    pace: Pace
    placed: tuple[int, ...]  # by rank: the number of its card
    phase: Phase = "running"
    work: Work = "step"
    ends_at: float = math.inf  # of the work; inf while it waits for somebody
    takes_s: float = math.inf  # the whole work, at the present pace
    step: int = 0  # whole steps
    committed_step: int = 0  # of the newest whole checkpoint
    committed_at: float = 0.0
    due_at: float = math.inf  # of the next periodic checkpoint
    requested: bool = False
    silent: frozenset[int] = frozenset()  # ranks, by fault
    stalled: dict[int, float] = {}  # ranks that do not come, and when they were last heard
    left: float = 0.0  # share of the work that was left when the first of them stalled
    hung_at: float = math.inf
    save_hangs: bool = False
    save_fails: bool = False
    buffer_small: bool = False
    starved: float = 1.0  # times that a step takes for want of training data
    complain_at: float = math.inf  # when a send next times out, for it or for a throttled card
    lost_steps: int = 0  # at the last loss, abort or stop
    stored: Stored | None = None  # where checkpoints may be files
    restored_from: str = ""  # the tier of the last restore, where they are files
    ended_at: float = 0.0  # when its processes ended

    @property
    def subject(self) -> str:
        """`job/train`."""
        return self.plan.subject
