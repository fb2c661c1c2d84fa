"""Which start of the job this is: counted by the processes that come, and by the launcher's word where none does. Pure."""

from __future__ import annotations

import msgspec

MOST_LIVES = 512  # ranks of a node whose process is remembered; the others are not counted by (ours)
MOST_LIFE = 32  # characters of it


class Starts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The number of the present one, and by rank the process that has come in it.

    `awaited` are ranks of which the launcher has said that it started them, and that have neither come nor done a step since.
    """

    incarnation: int = 1
    lives: dict[int, str] = {}
    awaited: tuple[int, ...] = ()


def come(starts: Starts, rank: int, life: str) -> Starts:
    """A rank has come; with another process than it had in this start, it is the next one. An older client (no `life`) counts for none."""
    life = life[:MOST_LIFE]
    if not life or starts.lives.get(rank) == life:
        return starts
    if rank in starts.lives and rank not in starts.awaited:
        return Starts(incarnation=starts.incarnation + 1, lives={rank: life})
    if rank not in starts.lives and len(starts.lives) >= MOST_LIVES:
        return starts
    return msgspec.structs.replace(step(starts, rank), lives={**starts.lives, rank: life})


def step(starts: Starts, rank: int) -> Starts:
    """A rank has done a step: the process that does it is the one of this start."""
    if rank not in starts.awaited:
        return starts
    return msgspec.structs.replace(starts, awaited=tuple(one for one in starts.awaited if one != rank))


def resume(starts: Starts, incarnation: int) -> Starts:
    """The launcher has started anew what stood at `incarnation`, in the same processes or in others; they may have told already."""
    if starts.incarnation != incarnation:
        return starts
    return Starts(incarnation=incarnation + 1, lives=starts.lives, awaited=tuple(starts.lives))
