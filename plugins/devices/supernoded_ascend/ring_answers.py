"""What `hccl_ring_check` and `hccl_ring_latency` print (R4, R5, R8)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from supernoded.plugin import Reading, make_reading, quote
from supernoded_ascend.making import is_number

_MODES = {"sar_ring": "sar_ring", "star": "star", "allreduce": "allreduce", "all_reduce": "allreduce"}
MOST_NUMBERS = 100_000  # members of a ring; ours

_STATUS = re.compile(r"ring status\s*:\s*(?P<word>\w+)", re.IGNORECASE | re.ASCII)
_NODES = re.compile(r"nodes\s*:\s*\[(?P<nodes>[\d,.\s]{0,1000000})\]", re.IGNORECASE | re.ASCII)
_BROKEN = re.compile(r"ring broken at (?:node|card|rank)\s+(?P<place>\d{1,7})", re.IGNORECASE | re.ASCII)
_MODE = re.compile(r"\bmode\s*:\s*(?P<mode>\w+)", re.IGNORECASE | re.ASCII)
_HOP = re.compile(r"hop\s+(?P<one>\d{1,7})\s*->\s*(?P<other>\d{1,7})\s*:\s*(?P<told>.{1,60})", re.IGNORECASE)
_LATENCY = re.compile(r"(?P<us>\d{1,9}(?:\.\d{1,6})?)\s*[uµμ]s\s*", re.IGNORECASE)


class Hop(msgspec.Struct, frozen=True):
    """From one member to the next, by their numbers. Without `latency` (us), `note` says why."""

    one: int
    other: int
    latency: float | None
    note: str = ""


def parse_check(text: str, order: Sequence[str], at: float, subject: str) -> list[Reading]:
    """Closed or not, where it is broken, and its mode when it is told. What is of no known shape is UNKNOWN."""
    closed, place, note = _read_check(text, len(order))
    broken = order[place] if place is not None and place < len(order) else None
    where = "not broken" if closed == 1.0 else f"there is no member {place}" if place is not None else "no place is told"
    readings = [
        make_reading(subject, "ring.closed", closed, "1", at, note),
        make_reading(subject, "ring.broken_at", broken, "text", at, "" if broken else where),
    ]
    told = _MODE.search(text)
    if told is not None:
        mode = _MODES.get(told["mode"].lower())
        readings.append(make_reading(subject, "ring.mode", mode, "text", at, "" if mode else f"no mode: {quote(told['mode'])}"))
    return readings


def _read_check(text: str, members: int) -> tuple[float | None, int | None, str]:
    """Closed, the number of the place where it is broken, a note."""
    broken, status = _BROKEN.search(text), _STATUS.search(text)
    if broken is not None:
        return 0.0, int(broken["place"]), f"broken at {broken['place']}"
    if status is None:
        return None, None, f"not understood: {quote(' '.join(text.split()))}" if text.strip() else "the tool printed nothing"
    if status["word"].lower() != "ok":
        return None, None, f"the tool says {quote(status['word'].lower())}"
    return _compare(text, members)


def _compare(text: str, members: int) -> tuple[float | None, int | None, str]:
    """A ring that is closed without one of its members is not closed."""
    listed = _NODES.search(text)
    if listed is None:
        return 1.0, None, ""
    numbers = list_numbers(listed["nodes"])
    if numbers is None:
        return None, None, f"not understood: {quote(listed[0])}"
    lost = sorted(set(range(members)) - set(numbers))
    if lost:
        return 0.0, lost[0], f"closed over {len(set(numbers))} of {members} members, without {lost[0]}"
    if numbers != list(range(members)):
        return 1.0, None, f"closed in another order: {quote(listed['nodes'])}"
    return 1.0, None, ""


def list_numbers(text: str) -> list[int] | None:
    """`0,1,2` and `0,1,...,7`; None for anything else, and for more than a ring can have."""
    numbers: list[int] = []
    parts = [part.strip() for part in text.split(",")]
    for place, part in enumerate(parts):
        if part == "..." and numbers and place + 1 < len(parts) and is_number(parts[place + 1]):
            numbers += range(numbers[-1] + 1, min(int(parts[place + 1]), MOST_NUMBERS))
            if len(numbers) > MOST_NUMBERS:
                return None
        elif is_number(part):
            numbers.append(int(part))
        else:
            return None
    return numbers if len(numbers) <= MOST_NUMBERS else None


def parse_hops(text: str) -> list[Hop]:
    """One line a hop; none when nothing has that shape."""
    found = (_HOP.fullmatch(line.strip()) for line in text.splitlines()[:MOST_NUMBERS])
    return [_make_hop(match["one"], match["other"], match["told"]) for match in found if match]


def _make_hop(one: str, other: str, told: str) -> Hop:
    number = _LATENCY.fullmatch(told)
    return Hop(int(one), int(other), float(number["us"]) if number else None, "" if number else f"no latency: {quote(told)}")
