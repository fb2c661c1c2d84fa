"""What can be done to the training job. Subjects: `job/train`, `job/train/rank7`."""

from __future__ import annotations

from sim_hardware.plant.words import Order

# by its own agents, and by hands


class RequestCheckpoint(Order, frozen=True):
    """Save at the end of the step that runs."""

    job: str


class WithdrawCheckpoint(Order, frozen=True):
    """The request is void, unless the save has begun."""

    job: str


class AbortCollective(Order, frozen=True):
    """End the collective in which ranks hang; the job waits for `Resume` or `RemapRanks`."""

    job: str


class RemapRanks(Order, frozen=True):
    """Ranks run on these cards from now on: rank -> card. Those of `drop`, a whole replica, are given up; those behind close up."""

    job: str
    cards: dict[int, str]
    drop: tuple[int, ...] = ()


class ResumeJob(Order, frozen=True):
    """Go on from the newest whole checkpoint; where checkpoints are files, from the one that its ranks have found, if they say which."""

    job: str
    step: int | None = None
    tier: str = ""  # shared or durable


class NoteStored(Order, frozen=True):
    """The newest whole step on each tier is this now, by the files themselves."""

    job: str
    shared: int
    durable: int
    unfinished: int = 0  # steps that were begun on durable storage and are not whole
    drafts: int = 0  # that lie there
    published: str = ""  # the newest snapshot of the memory pool that a manifest vouches for


class StopJob(Order, frozen=True):
    """Stop; what was not saved is lost."""

    job: str


# by faults; each is lifted by its other value


class SilenceRank(Order, frozen=True):
    """A rank's process hangs: its peers wait for it in the next collective."""

    job: str
    rank: int
    silent: bool


class HangSave(Order, frozen=True):
    """A save does not end."""

    job: str
    hung: bool


class ShrinkBuffer(Order, frozen=True):
    """The buffer of the collective library is too small: sends time out and are tried again, with all links up."""

    job: str
    small: bool


class StarveJob(Order, frozen=True):
    """Its cards wait for training data: a step takes so many times as long as at full speed; 1 is none."""

    job: str
    times: float


class FailSave(Order, frozen=True):
    """A save's storage is full: it ends without a checkpoint."""

    job: str
    failed: bool
