"""The table `[plugins.slurm]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec


class SlurmSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How Slurm is asked. Nothing is, as delivered."""

    scontrol: tuple[str, ...] = ()  # the program with its leading arguments; empty = Slurm is let be
    nodes: Mapping[str, str] = {}  # our name of a node = Slurm's, where they differ
    within_s: Annotated[float, msgspec.Meta(ge=0.2, le=2.9)] = 2.5  # time for each run (ours); the daemon gives an order 3 s
