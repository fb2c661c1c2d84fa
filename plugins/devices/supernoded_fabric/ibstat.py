"""What `ibstat` and `ibstatus` print, as the paths and texts of the kernel's tree. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_DEVICE = re.compile(r"\s*(?:CA|Infiniband device) '(?P<device>[\w.-]{1,64})'(?:\s+port\s+(?P<port>\d{1,3}))?.*", re.ASCII)
_PORT = re.compile(r"\s*Port (?P<port>\d{1,3}):\s*", re.ASCII)
_ROW = re.compile(r"\s*(?P<name>state|phys(?:ical)? state|rate|base lid):\s*(?P<value>.*)", re.ASCII | re.IGNORECASE)
_FILES = {"state": "state", "phys state": "phys_state", "physical state": "phys_state", "rate": "rate", "base lid": "lid"}


def list_pairs(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """`<device>/ports/<port>/<file>` and its text, for every row below a device and a port."""
    device, port = "", ""
    for line in lines:
        head, its_port, row = _DEVICE.fullmatch(line), _PORT.fullmatch(line), _ROW.fullmatch(line)
        if head is not None:
            device, port = head["device"], head["port"] or ""
        elif its_port is not None:
            port = its_port["port"]
        elif row is not None and device and port:
            name = _FILES[row["name"].lower()]
            yield f"{device}/ports/{port}/{name}", _write(name, row["value"].strip())


def _write(name: str, value: str) -> str:
    """As the kernel writes it: states have a number before them, a rate its unit, a lid is hexadecimal."""
    if name == "lid":
        return f"{int(value):#x}" if value.isascii() and value.isdigit() and len(value) < 6 else value
    if name == "rate":
        return f"{value} Gb/sec" if value.replace(".", "", 1).isdigit() else value
    if ":" in value or not value:
        return value
    return f"0: {value.upper() if name == 'state' else value}"
