"""The rows of `mlxlink`, from text or JSON, under their names in small letters. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from supernoded_fabric.documents import list_members
from supernoded_fabric.making import LONGEST_LINE, list_lines

Rows = Mapping[str, str]

LONGEST_HEADER = 200  # characters of a line that names a device

_HEADER = re.compile(
    r"(?:=+\s*(?P<marked>[A-Za-z][\w.:/-]{0,40})\b[^=]*=*\s*|[^:]*\bmlxlink\b.*?\s(?:-d|--device)\s+(?P<asked>\S{1,60}).*)", re.ASCII
)
_SECTIONS = re.compile(r"(?:result_output_)?(?:physical counters and ber info|[\w ]{1,40} info(?:rmation)?)_", re.ASCII)


def list_devices(text: str) -> Iterator[tuple[str, Rows]]:
    """Each device in a record, by the name that a line above it gives (`== mlx5_0 ==`, `mlxlink -d mlx5_0`), else an empty one."""
    members = list_members(text)
    if members:
        yield "", _read_members(members)
        return
    device, lines = "", list[str]()
    for line in list_lines(text):
        header = _HEADER.fullmatch(line.strip()) if len(line) <= LONGEST_HEADER else None
        if header is None:
            lines.append(line)
            continue
        yield device, read_rows(lines)
        device, lines = (header["marked"] or header["asked"]).rpartition("/")[2], []
    yield device, read_rows(lines)


def read_rows(lines: Sequence[str]) -> Rows:
    """`Name : value` by name; the first of a name counts. Complaints of the tool (`-E- ...`) are no rows."""
    rows: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon and not line.lstrip().startswith(("-E-", "-W-", "#")):
            rows.setdefault(" ".join(name.lower().split()), value.strip())
    return rows


def _read_members(members: Sequence[tuple[str, object]]) -> Rows:
    """JSON has the same names below their section; lists of lanes, some of them as `{"values": [...]}`."""
    rows: dict[str, str] = {}
    for path, value in members:
        name = _SECTIONS.sub("", path.lower(), count=1).removesuffix("_values")
        text = ",".join(map(str, value)) if isinstance(value, list) else f"{value}"
        rows.setdefault(" ".join(name.split()), text[:LONGEST_LINE])
    return rows
