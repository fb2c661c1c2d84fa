"""Which ranks of a node were on which of its cards, as a short text: a step's name has room for little. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

MOST = 4096  # ranks of one node that are read (ours)
_RUN = re.compile(r"(\d{1,7}):(\d{1,4})x(\d{1,4})", re.ASCII)


def format_runs(moved: Mapping[int, str]) -> str:
    """`4:0x4` = ranks 4 to 7 on cards 0 to 3; runs that do not go on with both are parted by commas."""
    runs: list[list[int]] = []
    for rank in sorted(moved):
        slot = int(moved[rank].rpartition("/card")[2])
        if runs and rank == runs[-1][0] + runs[-1][2] and slot == runs[-1][1] + runs[-1][2]:
            runs[-1][2] += 1
        else:
            runs.append([rank, slot, 1])
    return ",".join(f"{rank}:{slot}x{count}" for rank, slot, count in runs)


def parse_runs(node: str, text: str) -> dict[int, str]:
    """Rank -> card of that node; what is no such text gives none."""
    found: dict[int, str] = {}
    for word in text.split(",") if text else ():
        match = _RUN.fullmatch(word)
        if match is None or len(found) + int(match[3]) > MOST:
            return {}
        rank, slot, count = map(int, match.groups())
        found |= {rank + place: f"{node}/card{slot + place}" for place in range(count)}
    return found
