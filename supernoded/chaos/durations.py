"""Durations as people write them: `250ms`, `90s`, `5m`, `1h30m`, or a plain number of seconds."""

from __future__ import annotations

import re

FORMS = "write seconds, or numbers with ms, s, m, h or d, such as 250ms, 90s, 5m or 1h30m"

_SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PIECE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ms|s|m|h|d)")
_WHOLE = re.compile(rf"(?:{_PIECE.pattern}\s*)+")


def parse_duration(text: str) -> float | None:
    """Seconds; None when it is no duration."""
    text = text.strip()
    if not _WHOLE.fullmatch(text):
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in _PIECE.findall(text))


def say_seconds(seconds: float) -> str:
    """`0.25 s`, `90 s`, `12.5 s`: what a report writes."""
    return f"{round(seconds, 3):.15g} s"
