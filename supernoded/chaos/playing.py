"""A whole daemon with an author's plugin, in virtual time: what a drive's player takes and gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from supernoded.messages import Deed
from supernoded.model import Event, Incident, Reading


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
