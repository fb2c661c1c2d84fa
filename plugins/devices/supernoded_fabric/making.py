"""Lines and numbers as tools print them, and why there is none."""

from __future__ import annotations

import math
import re

from supernoded.plugin import quote

LONGEST_LINE = 2_000  # characters of a line that are looked at; no tool prints longer ones
MOST_LINES = 20_000  # of one answer; ours
NO_ERRORS = 1e-100  # a rate below is how tools write `none seen`: 15E-255, and 15E-238 of an aggregate

_NUMBER = re.compile(r"[-+]?(?:\d{1,20}(?:\.\d{1,12})?|\.\d{1,12})(?:[eE][-+]?\d{1,3})?", re.ASCII)


def list_lines(text: str) -> list[str]:
    """As many lines of an answer as are looked at, and as much of each."""
    return [line[:LONGEST_LINE] for line in text.splitlines()[:MOST_LINES]]


def read_number(text: str) -> float | None:
    """The number that a text is, None when it is none."""
    text = text.strip()
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    return value if math.isfinite(value) else None


def read_rate(text: str) -> float | None:
    """A bit error rate; what stands for none is 0."""
    rate = read_number(text)
    return 0.0 if rate is not None and 0.0 <= rate < NO_ERRORS else rate


def read_list(text: str) -> tuple[float | None, ...]:
    """The numbers of `1,2,N/A,4`."""
    return tuple(read_number(part) for part in text.split(","))


def to_milliwatts(dbm: float) -> float:
    """Power on the linear scale; the weakest that modules tell, -40 dBm, is 0.0001 mW."""
    return float(10.0 ** (min(dbm, 60.0) / 10.0))


def explain(text: str | None, wanted: str) -> str:
    """Why there is no value."""
    return f"no {wanted}: {quote(text.strip())}" if text is not None and text.strip() else f"no {wanted} is told"
