"""The replay format `ipmi-sensors`: its comma-separated lines, and lines of `ipmitool sel list` in the same file."""

from __future__ import annotations

from collections.abc import Iterator

from supernoded.plugin import Reading, Source
from supernoded_ipmi.log import parse_line, read_log
from supernoded_ipmi.rows import parse_rows
from supernoded_ipmi.supplies import read_supplies


def read_ipmi(source: Source) -> Iterator[Reading]:
    """Its readings, all at `source.at`; of a file without a line of a log nothing is said of the log."""
    text = source.data.decode(errors="replace")
    yield from read_supplies(list(parse_rows(text)), source.node, source.at)
    log = "\n".join(line for line in text.splitlines() if parse_line(line) is not None)
    if log:
        yield read_log(log, source.node, source.at)
