"""Evidence, and when it is enough to blame a card. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import permutations

import msgspec

RANKS, TOOL, BUS, MEMORY, NETWORK, PEERS, PACE, HISTORY = "ranks", "tool", "bus", "memory", "network", "peers", "pace", "history"
JOB_VIEWS = frozenset({RANKS, PEERS, PACE})  # what the job and its own library say: a process that hangs looks the same to them
DRIVER_VIEWS = frozenset({TOOL, BUS, MEMORY})  # what the card's driver says of it: as a code, a word or a count
ONE_EVENT_S = 60.0  # s within which what a driver says in several ways is one event: a poll or two of the slowest default (ours)
MOST_SAID = 6  # pieces that a sentence names
LONGEST = 240  # characters of each: some quote a tool


class Evidence(msgspec.Struct, frozen=True):
    """One thing that one view shows of a card. `looks` = at how many looks in a row; `grave` = by itself it takes a card out, once sure."""

    view: str
    at: float
    text: str
    grave: bool = False
    looks: int = 1
    hang: bool = False  # it is what is *not* seen: the tool says nothing of this card, or does not see it
    passing: bool = False  # it is seen in a moment, as a counter grows, and remembered for a while
    began: float | None = None  # since when it is seen so, where that is followed; of what is passing the last time


class Bounds(msgspec.Struct, frozen=True):
    """At how many looks in a row a thing counts."""

    hang: int = 2
    grave: int = 3


def find_blame(evidence: Sequence[Evidence], bounds: Bounds) -> tuple[Evidence, ...]:
    """What blames the card; empty = it is not to blame.

    Two views that do not depend on each other, at least one of them not the job's; or one thing that is grave, seen again at a second look.
    """
    settled = [one for one in evidence if one.looks >= bounds.hang or not one.hang]
    if any(one.view not in JOB_VIEWS and are_apart(one, other) for one, other in permutations(settled, 2)):
        return tuple(settled)
    sure = [one for one in settled if one.grave and one.looks >= bounds.grave]
    return tuple(settled) if sure else ()


def are_apart(one: Evidence, other: Evidence) -> bool:
    """Whether these are two views, and do not depend on each other: a code and the count of the error that it is about are one event."""
    if one.view == other.view:
        return False
    if one.hang or other.hang or not {one.view, other.view} <= DRIVER_VIEWS:
        return True
    return one.began is not None and other.began is not None and abs(one.began - other.began) > ONE_EVENT_S


def say(evidence: Iterable[Evidence]) -> str:
    """As a part of a sentence, one piece for each view and text."""
    texts = list(dict.fromkeys(f"{clip(one.text)} ({one.view})" for one in evidence))
    more = f"; and {len(texts) - MOST_SAID} more" if len(texts) > MOST_SAID else ""
    return "; ".join(texts[:MOST_SAID]) + more


def clip(text: str, longest: int = LONGEST) -> str:
    """No longer than that."""
    return text if len(text) <= longest else f"{text[: longest - 4]} ..."
