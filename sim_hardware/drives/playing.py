"""What the drives over a rig have in common: what they can play, and with which plugins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from sim_hardware.drives.known import CONDITIONS, SCENARIOS, list_stand_ins, view_rack
from sim_hardware.drives.offering import FAULTS
from sim_hardware.drives.player import Player
from sim_hardware.rack import SHIPPED
from supernoded.chaos.catalogue import FaultKind, RackView
from supernoded.chaos.condition import Condition
from supernoded.chaos.drive import Setup, list_plugins

CLUSTER = "c0"  # the daemons' default


class Repertoire:
    """All of `supernoded.chaos.drive.Drive` but its name and how it plays."""

    def faults(self) -> Mapping[str, FaultKind]:
        """See `Drive.faults`."""
        return FAULTS

    def conditions(self) -> Mapping[str, Sequence[Condition]]:
        """See `Drive.conditions`."""
        return CONDITIONS

    def stand_ins(self) -> Mapping[str, str]:
        """See `Drive.stand_ins`."""
        return list_stand_ins()

    def racks(self) -> Sequence[str]:
        """See `Drive.racks`."""
        return SHIPPED

    def view(self, rack: str) -> RackView:
        """See `Drive.view`."""
        return view_rack(rack)

    def scenarios(self) -> Sequence[Path]:
        """See `Drive.scenarios`."""
        return (SCENARIOS,)

    def player(self, folder: Path) -> Player:
        """See `Drive.player`; single daemons are always played in virtual time."""
        return Player(folder)


def list_off(setup: Setup) -> tuple[str, ...]:
    """The installed plugins that the daemons do not load."""
    return tuple(name for name in list_plugins() if setup.plugins is not None and name not in setup.plugins)
