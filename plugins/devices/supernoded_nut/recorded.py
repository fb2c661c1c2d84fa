"""The replay format `nut`: what `upsc` prints, or a `.dev` file of `dummy-ups`: lines `name: value`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from supernoded.plugin import Reading, Source
from supernoded_nut.pdu import is_pdu, read_pdu
from supernoded_nut.told import to_readings
from supernoded_nut.ups import read_ups

_LINE = re.compile(r"\s*(?P<name>[a-z][\w.-]*)\s*:(?:\s+(?P<value>.*))?", re.IGNORECASE | re.ASCII)
_COMMENT = re.compile(r"(?:^|\s+)#.*")
_QUOTED = re.compile(r'"([^"]*)"')  # as `dummy-ups` takes a value, an empty one too
_UNFIT = re.compile(r"[^A-Za-z0-9_.:-]+")


def read_nut(source: Source) -> Iterator[Reading]:
    """Its readings, all at `source.at`: of `ups/<name of the file>`, or `pdu/<...>` when it calls itself one. Garbage is ignored."""
    variables = parse_variables(source.data.decode(errors="replace"))
    if variables:
        name = _UNFIT.sub("_", PurePath(source.name).stem) or "unnamed"
        family, told = ("pdu", read_pdu(variables)) if is_pdu(variables) else ("ups", read_ups(variables))
        yield from to_readings(told, f"{family}/{name}", source.at)


def parse_variables(text: str) -> dict[str, str]:
    """The variables of a recording; the last of a name counts."""
    found = (_LINE.fullmatch(_COMMENT.sub("", line)) for line in text.splitlines())
    return {line["name"]: _unquote((line["value"] or "").strip()) for line in found if line is not None}


def _unquote(value: str) -> str:
    quoted = _QUOTED.fullmatch(value)
    return value if quoted is None else quoted[1]
