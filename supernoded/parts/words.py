"""What parts are asked with and answer with: data alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from pathlib import Path

import msgspec

from supernoded.history import View
from supernoded.model import Cause, Hold, Incident, Mode, Outcome, Reading
from supernoded.topology import Topology

NOTHING_SEEN = View({}, 0.0, {})


class World(msgspec.Struct, frozen=True, kw_only=True):
    """What is known beyond one node's readings when a remedy or check is asked. Ages are in seconds."""

    topology: Topology
    modes: Mapping[str, Mode] = {}  # by policy
    holds: tuple[Hold, ...] = ()
    incidents: tuple[Incident, ...] = ()  # the open ones of all that this daemon works for
    roles: Mapping[str, str] = {}  # role -> node that holds it, as far as is known
    ages: Mapping[str, float] = {}  # "roles", "holds", ... -> how old that knowledge is


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One incident being worked: what came of each step so far, whether the trouble is still there, and what explains it.

    `seen` is what the incident's scope has read of the quantities that the remedy watches, as of now.
    """

    incident: Incident
    done: Mapping[str, Outcome] = {}
    still_raised: bool = True
    causes: tuple[Cause, ...] = ()  # as of now, the best first
    seen: View = NOTHING_SEEN
    running: frozenset[str] = frozenset()  # names of the steps under way; one that is asked for again meanwhile is not doubled


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a preflight check found. `passed` None = could not be looked at."""

    passed: bool | None
    found: str
    wanted: str
    fix: str


class Fidelity(Enum):
    """In which layer a drive makes a fault. What shows in one layer proves nothing of the layers beyond it."""

    MODEL = "model"  # the simulated plant: its physics
    PROTOCOL = "protocol"  # bytes of a device's protocol
    OS = "os"  # the machine: its network, files and processes
    TELEMETRY = "telemetry"  # what a sensor says, not what is
    PHYSICAL = "physical"  # the thing itself
    ABSENT = "absent"  # the drive cannot make it


class Undo(msgspec.Struct, frozen=True, kw_only=True):
    """The way back from an injected fault as data, written before the injection."""

    steps: tuple[Mapping[str, str], ...]


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """One recorded input of `supernodectl replay`: a file's bytes, or a folder as lines of `path TAB value`."""

    name: str
    data: bytes
    at: float  # input time of this file, for formats that carry none
    node: str = "n0"
    path: Path | None = None


Format = Callable[[Source], Iterable[Reading]]  # yields readings in the order of their `at`
