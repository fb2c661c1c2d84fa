"""What `nvidia-smi` prints instead of a table when a card does not answer, and other reasons for none. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from supernoded_nvidia.slots import BUS, read_bus
from supernoded_nvidia.values import LONGEST_NOTE

# With and without a space, with and without the card's number: `GPU0000:A1:00.0: Unknown Error`, `GPU 0000:02:00.0: GPU is lost. ...`
_LINE = re.compile(rf"GPU\s*(?:\d{{1,3}}\s*:\s+)?(?P<bus>{BUS})\s*:\s*(?P<why>\S.*)", re.ASCII | re.IGNORECASE)
_SIGNS = re.compile(r"unable to de(?:termine|tect) the device handle|\bis lost\b|fallen off the bus", re.IGNORECASE)


def find_losses(text: str) -> Mapping[str, str]:
    """The cards that a tool names as lost, by bus id, and its reason."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        told = _LINE.search(line) if _SIGNS.search(line) else None
        bus = read_bus(told["bus"]) if told is not None else ""
        if told is not None and bus:
            found.setdefault(bus, f"the tool says: {told['why'].strip()[:LONGEST_NOTE]}")
    return found


def find_reason(code: int, out: str, err: str) -> str:
    """Why a run gave nothing, in its own words."""
    lines = [line.strip() for line in (*err.splitlines(), *out.splitlines()) if line.strip()]
    said = f": {lines[0][:LONGEST_NOTE]!r}" if lines else " and prints nothing"
    return f"nvidia-smi ends with code {code}{said}"
