"""Policies in a few lines each, that stand in for the daemon's on the panel of a rack.

`careful` shows that a silent card can be replaced, for which there is no policy yet. The others are wrong, each in a way that is seen
in the field, and each must lose a named scenario (safety rule 33): a scenario that they win is worth nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Protocol

from sim_hardware.devices.panel import Panel
from sim_hardware.stand_ins.cards import BlameTheCardAlways, IsolateAtOnce, ShrinkByOne
from sim_hardware.stand_ins.careful import Careful
from sim_hardware.stand_ins.vaults import CopyInPlace, CopyOnce, NoVault, SnapshotBlindly
from sim_hardware.stand_ins.wrong import (
    AlwaysShed,
    AlwaysStop,
    ArmsOnly,
    BelieveEveryFlag,
    DoNothing,
    FullCooling,
    NeverArms,
    NeverCaps,
    RestoreAllAtOnce,
)

PERIOD = 0.1  # s between two looks


class StandIn(Protocol):
    """One policy, with what it remembers."""

    def act(self, panel: Panel) -> None:
        """Look at the rack, and do what has to be done now."""
        ...


STAND_INS: Mapping[str, Callable[[], StandIn]] = MappingProxyType(
    {
        "careful": Careful,
        "do-nothing": DoNothing,
        "arms-only": ArmsOnly,
        "never-arms": NeverArms,
        "never-caps": NeverCaps,
        "always-shed": AlwaysShed,
        "always-stop": AlwaysStop,
        "full-cooling": FullCooling,
        "restore-all-at-once": RestoreAllAtOnce,
        "believe-every-flag": BelieveEveryFlag,
        "isolate-at-once": IsolateAtOnce,
        "shrink-by-one": ShrinkByOne,
        "blame-the-card-always": BlameTheCardAlways,
        "no-vault": NoVault,
        "snapshot-blindly": SnapshotBlindly,
        "copy-in-place": CopyInPlace,
        "copy-once": CopyOnce,
    }
)
