"""Evidence, and when it is enough to blame a card. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

RANKS, TOOL, BUS, MEMORY, NETWORK, PEERS, PACE, HISTORY = "ranks", "tool", "bus", "memory", "network", "peers", "pace", "history"
JOB_VIEWS = frozenset({RANKS, PEERS, PACE})  # what the job and its own library say: a process that hangs looks the same to them
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


class Bounds(msgspec.Struct, frozen=True):
    """At how many looks in a row a thing counts."""

    hang: int = 2
    grave: int = 3


def find_blame(evidence: Sequence[Evidence], bounds: Bounds) -> tuple[Evidence, ...]:
    """What blames the card; empty = it is not to blame.

    Two views that do not depend on each other, at least one of them not the job's; or one thing that is grave, seen again at a second look.
    """
    settled = [one for one in evidence if one.looks >= bounds.hang or not one.hang]
    views = {one.view for one in settled}
    if len(views) > 1 and views - JOB_VIEWS:
        return tuple(settled)
    sure = [one for one in settled if one.grave and one.looks >= bounds.grave]
    return tuple(settled) if sure else ()


def say(evidence: Iterable[Evidence]) -> str:
    """As a part of a sentence, one piece for each view and text."""
    texts = list(dict.fromkeys(f"{clip(one.text)} ({one.view})" for one in evidence))
    more = f"; and {len(texts) - MOST_SAID} more" if len(texts) > MOST_SAID else ""
    return "; ".join(texts[:MOST_SAID]) + more


def clip(text: str, longest: int = LONGEST) -> str:
    """No longer than that."""
    return text if len(text) <= longest else f"{text[: longest - 4]} ..."
