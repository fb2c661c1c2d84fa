"""A whole daemon with an author's plugin, in virtual time: played by a drive, which is found by its entry point."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol

from supernoded.errors import PluginError
from supernoded.messages import Deed
from supernoded.model import Event, Incident, Reading

DRIVES = "supernoded.drives"


@dataclass(frozen=True)
class Trial:
    """What the daemon made of it, oldest first; `log` is what it would have written, a line each."""

    readings: Sequence[Reading]
    events: Sequence[Event]
    incidents: Sequence[Incident]
    actions: Sequence[Deed]  # rehearsals too
    log: Sequence[str]


class PlayDaemon(Protocol):
    """Plays one daemon from its start for so many virtual seconds."""

    def __call__(
        self,
        plugins: Mapping[str, object],
        settings: str = "",
        *,
        seconds: float = 60.0,
        script: Mapping[float, Callable[[], object]] | None = None,
    ) -> Trial:
        """`plugins` run beside the built-in ones, by the names of their tables; `settings` is TOML, appended to what a test needs.

        `script` calls something at virtual seconds. Raises AssertionError for a failure that nobody heard in the daemon.
        """
        ...


class Drive(Protocol):
    """What the entry point `sim` of the group `supernoded.drives` gives."""

    def __call__(self, folder: Path) -> PlayDaemon:
        """A player whose files are in this folder."""
        ...


def find_drive(name: str = "sim") -> Drive:
    """The drive of this name. Raises PluginError when nobody brings it."""
    found = entry_points(group=DRIVES, name=name)
    if not found:
        raise PluginError(f"there is no drive {name!r} in the group {DRIVES}; install the distribution supernoded with its simulator")
    drive: Drive = next(iter(found)).load()
    return drive
