"""What this daemon has taken and not yet given back, in its own folder: it outlives a crash."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from supernoded.plugin import StateFile, Tree

FILE = "hwmon/fans.json"


class Held(msgspec.Struct, frozen=True):
    """The number that each output's switch showed when it was taken, by `chip/pwm1`; None = it could not be read."""

    found: Mapping[str, int | None] = {}


def open_record(state: Tree) -> StateFile[Held]:
    """The file."""
    return StateFile(state, FILE, Held, "fans", "set every pwm*_enable to automatic, and remove it")
