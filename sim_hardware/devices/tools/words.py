"""What a tool is and what it leaves."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import NamedTuple, TypeAlias

from sim_hardware.devices.panel import Panel
from sim_hardware.devices.tools.slurm import Slurm

EPOCH = 1_767_225_600.0  # the wall clock at 0 s of the plant's time: 2026-01-01 00:00 UTC


class Run(NamedTuple):
    """One run of a tool. One that hangs takes `inf` seconds, and its output is never seen."""

    rc: int
    out: str = ""
    err: str = ""
    seconds: float = 0.05


@dataclass
class ToolImpairment:
    """How a tool fails at present, whatever it is asked; the defaults are not at all. Faults set it."""

    hang: bool = False  # never ends
    rc: int | None = None  # ends with this code and prints nothing
    garbage: bool = False  # prints what nobody can read
    slow_s: float = 0.0  # takes so much longer


@dataclass
class ToolState:
    """What tools keep: their impairments by name, the wall clock, and the scheduler's book, which all nodes of a site share."""

    impairments: dict[str, ToolImpairment] = field(default_factory=dict)
    epoch: float = EPOCH
    slurm: Slurm = field(default_factory=Slurm)

    def impair(self, tool: str) -> ToolImpairment:
        """The impairment of a tool, to read or to set."""
        return self.impairments.setdefault(tool, ToolImpairment())

    def tell_time(self, now: float) -> datetime:
        """The wall clock at a time of the plant."""
        return datetime.fromtimestamp(self.epoch + now, tz=UTC)


Tool: TypeAlias = Callable[[Sequence[str], Panel, str, ToolState], Run]  # arguments, plant, node


class StuckError(Exception):
    """The driver does not return: the tool hangs."""


STUCK = Run(rc=-9, seconds=math.inf)
