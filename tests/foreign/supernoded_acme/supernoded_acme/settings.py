"""The table `[plugins.acme]`."""

from __future__ import annotations

import msgspec


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One chiller."""

    wire: str = ""  # tcp://host:port or unix:///path; empty = no chiller here
    name: str = "chiller0"
    serial: str = ""  # empty = any
    period: float = 1.0  # seconds
    timeout: float = 0.5  # seconds for one answer; the chiller promises 0.1
    raise_after: float = 3.0  # seconds of failing health
    patience: float = 10.0  # seconds for each step; a save takes 2
    steer: bool = True  # whether its pump is turned by the loop below
    supply_c: float = 22.0  # the supply temperature to hold
