"""What is new at the end of a text that grows, is cut at its head, rotates, or is begun anew. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

MOST_CHARACTERS = 65_536  # of the end that is looked at; ours


class Known(msgspec.Struct, frozen=True):
    """The lines that were there. The last one is held apart: it may not be written to its end yet."""

    whole: tuple[str, ...] = ()
    last: str | None = None


def split_end(text: str) -> list[str]:
    """The lines of its end, the first of which is whole."""
    end = text[-MOST_CHARACTERS:]
    lines = end.splitlines()
    return lines[1:] if len(end) < len(text) else lines


def follow(known: Known, lines: Sequence[str]) -> tuple[Known, list[str]]:
    """What is known now, and the lines that are whole since: also the last one of a text that was then taken away."""
    begun = measure_overlap(known.whole, lines)
    news = list(lines[begun:-1])
    if known.last is not None and not (begun < len(lines) and lines[begun].startswith(known.last)):
        news.insert(0, known.last)
    return Known(tuple(lines[:-1]), lines[-1] if lines else None), news


def measure_overlap(before: Sequence[str], lines: Sequence[str]) -> int:
    """How many of the first `lines` are the end of `before`: the most there can be (prefix function of Knuth, Morris and Pratt)."""
    joined: list[str | None] = [*lines, None, *before]  # None is no line
    borders = [0] * len(joined)
    for place in range(1, len(joined)):
        border = borders[place - 1]
        while border and joined[place] != joined[border]:
            border = borders[border - 1]
        borders[place] = border + (joined[place] == joined[border])
    return borders[-1] if before else 0
