"""The replay format `sysfs-infiniband`: lines `path TAB value`, bare counters of one port, or what `ibstat` and `ibstatus` print."""

from __future__ import annotations

import re
from collections.abc import Iterator

from supernoded.plugin import Reading, Source, WireError
from supernoded_fabric import ibstat
from supernoded_fabric.counters import COUNTERS
from supernoded_fabric.infiniband import FACTS, Text, parse_tree
from supernoded_fabric.naming import Naming

UNREADABLE = "unreadable: "  # what a recorded tree has in the place of a value that could not be read
UNNAMED = "unnamed/ports/1"  # a bare counter does not say whose it is

_BARE = re.compile(r"(?P<name>\w{1,60})\s*[:\s]\s*(?P<value>[^*]*)", re.ASCII)
_FAILED = re.compile(r'failed to read file "(?P<path>[^"]+)":\s*(?P<reason>.+)')


def read_sysfs_infiniband(source: Source) -> Iterator[Reading]:
    """The readings of one recorded tree or counter file, all at `source.at`. What is not of a port is ignored, garbage included."""
    yield from parse_tree(_list_pairs(source.data.decode(errors="replace")), source.at, Naming(source.node, {}).port)


def _list_pairs(text: str) -> Iterator[tuple[str, Text]]:
    lines = text.splitlines()
    named = list(ibstat.list_pairs(lines))
    if named:
        yield from named
        return
    for line in lines:
        pair = _read_line(line.strip("\r"))
        if pair is not None:
            yield pair


def _read_line(line: str) -> tuple[str, Text] | None:
    path, tab, value = line.partition("\t")
    if tab and "/" in path:
        text = value.strip()
        return path.strip(), WireError(text) if text.startswith(UNREADABLE) else text
    if line.lstrip().startswith("#"):
        return None
    failed = _FAILED.search(line)
    if failed is not None:
        return failed["path"], WireError(f"{failed['path'].rpartition('/')[2]}: {failed['reason'].strip()}")
    bare = _BARE.match(line.strip())
    if bare is None:
        return None
    name, value = bare["name"], bare["value"].partition("#")[0].strip()
    if name in COUNTERS:
        return f"{UNNAMED}/counters/{name}", value
    return (f"{UNNAMED}/{name}", value) if name in FACTS else None
