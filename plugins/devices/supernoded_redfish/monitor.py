"""What a link monitor answers, to words of our own. Pure; never raises for what a BMC says."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from supernoded_redfish.paths import read_link

RATES: Mapping[str, str] = {"BitErrorRate": "link.ber.post_fec", "PreFecBitErrorRate": "link.ber.pre_fec"}
INTERVAL = 5.0  # seconds between two readings of a monitor that does not tell (L1)
MOST_PORTS = 256  # of one node (ours); one of 32 cards has 65
DEEPEST = 6  # levels of an Oem part that are looked into
TINY = 1e-200  # what is below is no rate but how tools write none at all: 15E-255
_UNFIT = re.compile(r"[^A-Za-z0-9_.:-]+")


class Monitor(NamedTuple):
    """The monitor itself. `enabled` None = it does not tell, `note` says what was there."""

    enabled: bool | None
    note: str
    readings: str  # path of its readings
    interval: float  # seconds


class Rate(NamedTuple):
    """One value of one port; None = not known, `note` says why."""

    port: str  # "Card0/1"
    quantity: str
    value: float | None
    note: str
    stamp: str  # when it was read by the BMC's own clock, as it writes it; empty = it does not tell


def parse_monitor(body: Mapping[str, object], path: str) -> Monitor:
    """Whether it is on, where its readings are, and how often it reads."""
    enabled, status = body.get("Enabled"), body.get("Status")
    if not isinstance(enabled, bool):
        state = status.get("State") if isinstance(status, dict) else None
        enabled = {"Enabled": True, "Disabled": False}.get(state) if isinstance(state, str) else None
    note = "" if enabled is not None else f"the monitor does not tell whether it is on: Enabled {show(body.get('Enabled'))}"
    interval, _ = read_rate(body.get("IntervalSeconds"))
    return Monitor(enabled, note, read_link(body.get("Readings")) or f"{path}/Readings", interval or INTERVAL)


def parse_ports(body: Mapping[str, object]) -> Iterator[Rate]:
    """Every rate of every port that can be told by its name."""
    ports = body.get("Ports")
    for port in ports[:MOST_PORTS] if isinstance(ports, list) else []:
        name = name_port(port.get("Port")) if isinstance(port, dict) else ""
        if name:
            stamp = port.get("ReadingTime")
            for key, quantity in RATES.items():
                if key in port:
                    value, note = read_rate(port[key])
                    yield Rate(name, quantity, value, note and f"{key} {note}", stamp if isinstance(stamp, str) else "")


def name_port(port: object) -> str:
    """`Card0/1` of `/redfish/v1/Chassis/1/NetworkAdapters/Card0/Ports/1`; a plain name is itself."""
    parts = [_UNFIT.sub("_", part) for part in (read_link(port) or (port if isinstance(port, str) else "")).split("/") if part]
    return "/".join([part for part in parts if part != "Ports"][-2:])


def read_rate(value: object) -> tuple[float | None, str]:
    """A finite number that is not negative, also where it is written as a text; else why not."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None, f"is {show(value)}, no number"
    try:
        rate = float(value)
    except (ValueError, OverflowError):
        return None, f"is {show(value)}, no number"
    if not math.isfinite(rate) or rate < 0:
        return None, f"is {show(value)}, no rate"
    return (0.0 if rate < TINY else rate), ""


def find_link(oem: object, depth: int = DEEPEST) -> str:
    """The first link under a name that contains `LinkHealthMonitor`, whoever's part it is in; empty when there is none."""
    if not isinstance(oem, dict) or depth == 0:
        return ""
    named = (read_link(value) for key, value in oem.items() if "linkhealthmonitor" in str(key).lower())
    below = (find_link(value, depth - 1) for value in oem.values())
    return next((path for paths in (named, below) for path in paths if path), "")


def show(value: object) -> str:
    """Something of a BMC's in a note."""
    return "missing" if value is None else repr(value)[:40] if isinstance(value, str | int | float) else type(value).__name__
