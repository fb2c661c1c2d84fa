"""Lines of `hccl.log`, as the collective library writes them: `[ERROR] HCCL(pid,name):date [file:line][tid] words`."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

import msgspec

from supernoded_ascend.making import LONGEST_LINE

LONGEST_ERROR = 300  # characters of `comm.last_error`

_LEVEL = re.compile(r"\s*\[(?P<level>[A-Z]{3,10})\]", re.ASCII)
_BAD = frozenset({"ERROR", "CRITICAL", "FATAL"})
# EI0002: a rank waited for a notify in vain; EI0006: no socket to a peer in time (the library's own error codes).
_TIMEOUT = re.compile(r"wait for remote notify|time[ds]?[ -]?out|\bEI000[26]\b", re.IGNORECASE | re.ASCII)
_CODE = re.compile(r"\bEI\d{4}\b", re.ASCII)
_FALLBACK = re.compile(
    r"(?:runs as|f[ae]ll(?:s|en|ing)?[ -]?back to|degraded? to|switch(?:es|ed)? to|algorithm changed to)\s+(?:the\s+)?"
    r"(?P<mode>sar[_-]?ring|star|all[_-]?reduce)\b",
    re.IGNORECASE | re.ASCII,
)
_MODES = {"sarring": "sar_ring", "star": "star", "allreduce": "allreduce"}
_RING = re.compile(r"\bring/(?P<name>[A-Za-z0-9][A-Za-z0-9_.-]*)", re.ASCII)


class Told(msgspec.Struct, frozen=True):
    """What the lines so far have told. `modes` are by ring, the last word of each; the ring "" is one that was not named."""

    timeouts: int = 0
    last_error: str = ""
    modes: tuple[tuple[str, str], ...] = ()


def is_error(line: str) -> bool:
    """Whether a line is an error: by its level, or where it has none by one of the library's error codes."""
    level = _LEVEL.match(line)
    return level["level"] in _BAD if level else _CODE.search(line) is not None


def is_timeout(line: str) -> bool:
    """Whether it is an error that tells of a wait in vain. A setting that is called time-out is none."""
    return is_error(line) and _TIMEOUT.search(line) is not None


def find_mode(line: str) -> tuple[str, str] | None:
    """Ring (or nothing) and mode of a line that tells of a change."""
    found = _FALLBACK.search(line)
    if found is None:
        return None
    ring = _RING.search(line)
    return ring["name"].rstrip(".") if ring else "", _MODES[found["mode"].lower().replace("_", "").replace("-", "")]


def take_in(told: Told, lines: Iterable[str]) -> Told:
    """With further lines."""
    timeouts, last, modes = told.timeouts, told.last_error, dict(told.modes)
    for line in (line[:LONGEST_LINE] for line in lines):
        timeouts += is_timeout(line)
        last = line.strip()[:LONGEST_ERROR] if is_error(line) else last
        changed = find_mode(line)
        if changed is not None:
            modes[changed[0]] = changed[1]
    return Told(timeouts, last, tuple(modes.items()))


def name_rings(told: Told, rings: Container[str], own: str) -> list[tuple[str, str]]:
    """Mode by ring, for those that are known; a ring that was not named is `own`, where there is one."""
    named = [(ring or own, mode) for ring, mode in told.modes]
    return [(ring, mode) for ring, mode in dict(named).items() if ring in rings]
