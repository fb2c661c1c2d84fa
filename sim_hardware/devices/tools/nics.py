"""Network ports by the names that a node's own tools know them under."""

from __future__ import annotations

import json
import re

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.sysfs.infiniband import FIRST_BUS, list_hcas
from sim_hardware.devices.tools.gauges import read_number

_NAME = re.compile(r"(?:mlx5_|eth)(\d{1,3})|(?:[0-9a-f]{4}:)?([0-9a-f]{2}):00\.0", re.ASCII)


def find_port(panel: Panel, node: str, name: str) -> str:
    """The port of `mlx5_3`, `eth3` or its PCI address; empty when there is none of this name."""
    found = _NAME.fullmatch(name)
    if found is None:
        return ""
    number = int(found[1]) if found[1] else int(found[2], 16) - FIRST_BUS
    return list_hcas(panel.rack, node).get(f"mlx5_{number}", "")


def read_lane(panel: Panel, port: str, quantity: str, lane: int) -> float | None:
    """A lane's own value; where there is one for the module alone, that."""
    value = read_number(panel, port, f"{quantity}.lane{lane}")
    return read_number(panel, port, quantity) if value is None else value


def read_count(panel: Panel, port: str, quantity: str) -> int | None:
    """A total, which is never below zero."""
    value = read_number(panel, port, quantity)
    return None if value is None else max(0, int(value))


def dump(page: object) -> str:
    """A page of JSON as these tools print it."""
    return json.dumps(page, indent=4) + "\n"
