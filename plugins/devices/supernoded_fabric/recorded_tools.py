"""The replay formats `ethtool`, `mlxlink` and `lldp`: what a tool printed, of one device or of several, all at `source.at`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from supernoded.plugin import Reading, Source, Topology, name_neighbour
from supernoded_fabric.documents import list_members
from supernoded_fabric.ethtool_counters import parse_statistics
from supernoded_fabric.ethtool_fec import parse_fec
from supernoded_fabric.ethtool_module import parse_module
from supernoded_fabric.lldp import list_neighbours, parse_neighbours
from supernoded_fabric.making import list_lines
from supernoded_fabric.mlxlink import read_port
from supernoded_fabric.mlxlink_rows import list_devices
from supernoded_fabric.naming import Naming

UNNAMED = "unnamed"

_NAME = r"(?P<{}>[A-Za-z][\w.@-]{{0,14}})"
_HEADER = re.compile(
    rf"=+\s*{_NAME.format('marked')}\s*=+|FEC parameters for {_NAME.format('fec')}:"
    rf"|[^:]*\bethtool\b(?:\s+-{{1,2}}[\w-]+)+\s+{_NAME.format('asked')}\s*",
    re.ASCII,
)
_INTERFACE = re.compile(r"(?:eth\d|en[opsxP]\w*\d|ib[ps]?\d|roce\w*\d|bond\d)[\w.-]{0,12}", re.ASCII)
_HCA = re.compile(r"mlx\d_[\w-]+", re.ASCII)


def read_ethtool(source: Source) -> Iterator[Reading]:
    """`-S`, `--show-fec` and `-m`, in any order, as text or JSON. An interface that no line names is that of the file's name."""
    text, naming = source.data.decode(errors="replace"), Naming(source.node, {})
    for name, part in _split(text, _find_stem(source, _INTERFACE)):
        subject = naming.interface(name)
        for parse in (parse_statistics, parse_fec, parse_module):
            yield from parse(part, source.at, subject)


def _split(text: str, stem: str) -> Iterator[tuple[str, str]]:
    """Each interface and what is said of it. A line that both names an interface and says something is kept."""
    members = list_members(text)
    if members:
        named = next((value for name, value in members if name == "ifname" and isinstance(value, str)), stem)
        yield named, text
        return
    parts: dict[str, list[str]] = {}
    name = stem
    for line in list_lines(text):
        found = _HEADER.fullmatch(line.strip())
        if found is not None:
            name = found["marked"] or found["fec"] or found["asked"]
        parts.setdefault(name, []).append(line)
    yield from ((name, "\n".join(lines)) for name, lines in parts.items())


def read_mlxlink(source: Source) -> Iterator[Reading]:
    """Text or JSON; a port that no line names is that of the file's name."""
    naming, stem = Naming(source.node, {}), _find_stem(source, _HCA)
    for name, rows in list_devices(source.data.decode(errors="replace")):
        yield from read_port(rows, source.at, naming.port(name or stem, "1"))


def read_lldp(source: Source) -> Iterator[Reading]:
    """What `lldpcli -f json show neighbors` printed."""
    found = parse_neighbours(source.data.decode(errors="replace"))
    yield from list_neighbours(found, name_neighbour(Topology(), {}), Naming(source.node, {}).interface, source.at)


def _find_stem(source: Source, pattern: re.Pattern[str]) -> str:
    """The file's name without its ending, when it is the name of a device: snapshots of one device are numbered."""
    stem = PurePath(source.name).stem
    return stem if pattern.fullmatch(stem) else UNNAMED
