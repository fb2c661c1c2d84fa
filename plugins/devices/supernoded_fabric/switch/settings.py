"""The table `[plugins.fabric.switches.<name>]`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

import msgspec

# A quantity, and how it is written: the founding documents' syntax (N4, N5). Which commands a real switch has is for its settings to say.
DEFAULT_PATTERNS: Mapping[str, str] = MappingProxyType(
    {
        "switch.pfc_threshold": r"^\s*pfc\s+priority\s+4\s+buffer-size\s+(\d+)\s*$",
        "switch.ecn_threshold": r"^\s*ecn\s+threshold\s+(\d+)\s*$",
        "switch.ecn": r"^\s*((?:undo\s+)?ecn\s+enable)\s*$",
        "switch.drops": r"^\s*drops\s*:?\s+(\S+)\s*$",
        "switch.marks": r"^\s*marks\s*:?\s+(\S+)\s*$",
        "switch.pauses": r"^\s*pauses\s*:?\s+(\S+)\s*$",
    }
)

Words = tuple[str, ...]


class SwitchSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How one switch is asked, and how its answers are read. The numbers are ours."""

    argv: Annotated[Words, msgspec.Meta(min_length=1)]  # program and leading arguments, such as ["ssh", "admin@s1"]
    settings: Words = ("display", "congestion")  # words that show its thresholds; empty = they are not asked for
    counters: Words = ("display", "counters")  # words that show its counters; empty = they are not asked for
    patterns: Mapping[str, str] = {}  # quantity -> regular expression with one group, for one line; what is not named here is as above
    period_s: Annotated[float, msgspec.Meta(ge=1, le=3600)] = 30.0
    timeout_s: Annotated[float, msgspec.Meta(ge=0.5, le=60)] = 8.0  # of one run
