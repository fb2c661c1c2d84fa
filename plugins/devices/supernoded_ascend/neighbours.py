"""`hccn_tool -lldp`: which port is at the other end."""

from __future__ import annotations

from collections.abc import Iterable

from supernoded.plugin import NameNeighbour, Reading, make_reading, quote
from supernoded_ascend.making import NOTHING, list_lines

LONGEST_NAME = 200  # characters of a port or system; LLDP allows 255 octets
PORT, SYSTEM = "port id", "system name"


def parse_lldp(name: NameNeighbour, text: str, at: float, subject: str) -> list[Reading]:
    """Port and system out of their TLVs."""
    told = _read_tlvs(list_lines(text))
    port = told.get(PORT, "")
    value = name(told.get(SYSTEM, ""), [port]) if port else None
    return [make_reading(subject, "link.neighbour", value, "text", at, "" if value else _explain(text))]


def _read_tlvs(lines: Iterable[str]) -> dict[str, str]:
    """The first line under each title `... TLV`, without what it says of its kind; a lone `Ifname: ...` is a port."""
    told: dict[str, str] = {}
    title = ""
    for line in (line.strip() for line in lines):
        head, colon, tail = line.partition(":")
        if line.lower().endswith(" tlv"):
            title = line.lower().removesuffix(" tlv").strip()
        elif line and (title or head.lower() == "ifname"):
            told.setdefault(title or PORT, (tail if colon and head.lower() in _KINDS else line).strip()[:LONGEST_NAME])
            title = ""
    return told


_KINDS = frozenset({"ifname", "ifalias", "mac", "local", "port id", "system name", "name", "interface name", "locally assigned"})


def _explain(text: str) -> str:
    words = " ".join(text.split())
    return f"no port is told: {quote(words)}" if words else NOTHING
