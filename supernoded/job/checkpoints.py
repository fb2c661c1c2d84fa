"""The life of one request for a checkpoint: asked, agreed, saving, saved, durable; or withdrawn, late, failed. Pure.

    asked -> agreed -> saving -> saved -> durable
    asked | agreed | saving -> late (past its deadline; goes on) -> saved
    asked | late without a step -> withdrawn -> agreed (the ranks were faster than the word)
    asked | agreed | saving | late -> failed (a rank lost or refused its part, two steps were named, or the hard limit has passed)

Only an agreement ends a withdrawal, and nothing ends `durable` and `failed`.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Stage = Literal["asked", "agreed", "saving", "saved", "durable", "withdrawn", "late", "failed"]
Kind = Literal["checkpoint", "stop"]

UNDER_WAY = frozenset({"asked", "agreed", "saving", "late"})
OPEN = UNDER_WAY | {"saved"}


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """One request. `step` is -1 until the ranks have agreed; times are on the scale of `Clock.now`."""

    id: str
    number: int
    kind: Kind
    asked: float
    deadline: float
    hard: float
    reason: str = ""
    expected: tuple[int, ...] = ()  # ranks of this node whose parts make it whole
    stage: Stage = "asked"
    step: int = -1
    saved: tuple[int, ...] = ()
    text: str = ""  # why it failed or is late

    @property
    def agreed(self) -> bool:
        """Whether the ranks have named a step: it cannot be withdrawn any more."""
        return self.step >= 0

    def describe(self) -> str:
        """A sentence on where it stands."""
        where = f" at step {self.step}" if self.agreed else ""
        parts = f", {len(self.saved)} of {len(self.expected)} ranks saved" if self.stage in {"agreed", "saving", "late"} else ""
        return f"{self.kind} {self.id} is {self.stage}{where}{parts}" + (f": {self.text}" if self.text else "")


def agree(one: Checkpoint, rank: int, step: int) -> Checkpoint:
    """A rank says the step that all have agreed on."""
    if one.stage in {"durable", "failed", "saved"} or step < 0:
        return one
    if one.agreed and one.step != step:
        return fail(one, f"rank {rank} saves step {step} and the others {one.step}: call agree() on all ranks at the same steps")
    return _replace(one, step=step, stage="agreed" if one.stage in {"asked", "withdrawn"} else one.stage)


def expect(one: Checkpoint, rank: int) -> Checkpoint:
    """A rank has come that will save too, where there is time for it to hear."""
    return _replace(one, expected=tuple(sorted({*one.expected, rank}))) if one.stage in UNDER_WAY else one


def excuse(one: Checkpoint, rank: int) -> Checkpoint:
    """A rank has ended in order: its part is not waited for, where no step is agreed on."""
    return one if one.agreed else _replace(one, expected=tuple(number for number in one.expected if number != rank))


def begin_save(one: Checkpoint, step: int) -> Checkpoint:
    """A rank stands still to save."""
    return _replace(one, stage="saving") if one.stage == "agreed" and step == one.step else one


def save(one: Checkpoint, rank: int, step: int) -> Checkpoint:
    """A rank's part is whole in shared memory."""
    if one.stage not in UNDER_WAY or not one.agreed or step != one.step:
        return one
    saved = tuple(sorted({*one.saved, rank}))
    whole = set(one.expected) <= set(saved)
    return _replace(one, saved=saved, stage="saved" if whole else "late" if one.stage == "late" else "saving")


def fail(one: Checkpoint, why: str) -> Checkpoint:
    """It will not come to a whole step."""
    return _replace(one, stage="failed", text=why) if one.stage in UNDER_WAY else one


def lose(one: Checkpoint, rank: int) -> Checkpoint:
    """A rank has died: without its part no step is whole, and its peers hang (safety rule 27)."""
    return fail(one, f"rank {rank} was lost before its part was saved") if rank in one.expected and rank not in one.saved else one


def make_durable(one: Checkpoint, step: int) -> Checkpoint:
    """The vault has a whole step on a durable tier."""
    return _replace(one, stage="durable", text="") if one.stage in OPEN and one.agreed and step >= one.step else one


def withdraw(one: Checkpoint) -> Checkpoint:
    """Void, unless the ranks have agreed (safety rule 11)."""
    return _replace(one, stage="withdrawn") if one.stage in {"asked", "late"} and not one.agreed else one


def pass_time(one: Checkpoint, now: float) -> Checkpoint:
    """Its deadline and its hard limit."""
    if one.stage in UNDER_WAY and now >= one.hard:
        return fail(one, f"not saved within {one.hard - one.asked:.1f} s, its hard limit")
    if one.stage in UNDER_WAY and one.stage != "late" and now >= one.deadline:
        return _replace(one, stage="late", text=f"not saved within {one.deadline - one.asked:.1f} s")
    return one


def _replace(one: Checkpoint, **fields: object) -> Checkpoint:
    return msgspec.structs.replace(one, **fields)
