"""A whole daemon with an author's plugin, in virtual time: played by a drive, which is found by its entry point."""

from __future__ import annotations

from pathlib import Path

from supernoded.chaos.drive import find_drive
from supernoded.chaos.playing import PlayDaemon, Trial

__all__ = ["PlayDaemon", "Trial", "find_player"]


def find_player(folder: Path, drive: str = "sim") -> PlayDaemon:
    """A player of daemons whose files are in this folder. Raises PluginError when nobody brings the drive."""
    return find_drive(drive).player(folder)
