"""Every kind of fault by its name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sim_hardware.faults import (
    bmcs,
    cards,
    coolant,
    cooling,
    devices,
    heat,
    job,
    lines,
    links,
    machines,
    memory,
    network,
    pdus,
    power,
    rings,
    schedulers,
    sensors,
    software,
    storage,
    tools,
    ups,
)
from sim_hardware.faults.kind import Kind

_ROOMS = (
    power,
    ups,
    pdus,
    cooling,
    coolant,
    heat,
    links,
    rings,
    cards,
    memory,
    job,
    sensors,
    devices,
    bmcs,
    lines,
    tools,
    software,
    machines,
    network,
    schedulers,
    storage,
)

CATALOGUE: Mapping[str, Kind[Any]] = MappingProxyType({kind.kind: kind for room in _ROOMS for kind in room.KINDS})
