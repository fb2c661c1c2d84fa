"""Which steps may go. Pure.

On the durable tier an old one goes only when newer ones are whole; on shared memory the newest two always stay.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

NEWEST = 2  # whole steps that never leave shared memory: should the newest be damaged, there is another (ours)


def is_superseded(step: int, wholes: Collection[int], keep: int, keep_every: int) -> bool:
    """Whether retention would remove this step, whole or not: `keep` newer ones are whole, and it is none that is kept for good (C16)."""
    if keep_every and step % keep_every == 0 and step in wholes:
        return False
    return sum(1 for whole in wholes if whole > step) >= keep


def list_removable(steps: Collection[int], wholes: Collection[int], keep: int, keep_every: int) -> list[int]:
    """The steps of a job that may leave the durable tier, the oldest first."""
    return sorted(step for step in steps if is_superseded(step, wholes, keep, keep_every))


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """What goes from shared memory, what remains, and why nothing more may be saved (empty = it may)."""

    go: Sequence[tuple[str, int]] = ()
    lost: Sequence[tuple[str, int]] = ()  # of those, what was not durable and is superseded by two newer steps
    used: int = 0
    text: str = ""


class InMemory(msgspec.Struct, frozen=True, kw_only=True):
    """A step in shared memory. `safe` means that it is durable, or that retention has newer ones."""

    job: str
    step: int
    ranks: int  # good parts
    size: int  # bytes
    safe: bool
    idle: bool = False  # its job has not saved for long


def make_room(steps: Sequence[InMemory], limit: int, newest: int = NEWEST) -> Room:
    """What leaves memory: at once what is safe and not among the newest (two) of its job; above the limit also what is superseded.

    Of a job that has not saved for long everything that is safe goes: it has ended, or comes back from the durable tier.

    A step that is not durable goes only when two newer ones of its job have as many parts, and only when the limit is passed: whatever
    happens then, the job comes back to a newer step than this. The newest two never go; when they alone pass the limit, no more is taken.
    """
    jobs: dict[str, list[InMemory]] = {}
    for one in sorted(steps, key=lambda each: -each.step):
        jobs.setdefault(one.job, []).append(one)
    old = sorted((one for each in jobs.values() for one in _list_old(each, newest)), key=lambda one: one.step)
    go = [one for one in old if one.safe]
    used = sum(one.size for one in steps) - sum(one.size for one in go)
    lost: list[InMemory] = []
    for one in old:
        if used > limit and not one.safe and _has_followers(one, jobs):
            lost.append(one)
            used -= one.size
    text = "" if used <= limit else f"shared memory holds {used} bytes of checkpoints that must stay, and the limit is {limit}"
    return Room(go=[(one.job, one.step) for one in (*go, *lost)], lost=[(one.job, one.step) for one in lost], used=used, text=text)


def _list_old(steps: Sequence[InMemory], newest: int) -> Sequence[InMemory]:
    """What is older than the newest (two) steps that have as many parts as any (one in the saving has not); all of an idle job."""
    if all(one.idle for one in steps):
        return steps
    most = max(one.ranks for one in steps)
    full = [index for index, one in enumerate(steps) if one.ranks == most]
    return steps[full[newest - 1] + 1 :] if len(full) >= newest else ()


def _has_followers(one: InMemory, jobs: Mapping[str, Sequence[InMemory]]) -> bool:
    return sum(1 for other in jobs[one.job] if other.step > one.step and other.ranks >= one.ranks) >= NEWEST
