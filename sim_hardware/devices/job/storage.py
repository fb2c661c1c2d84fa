"""What the ranks ask of the storage of their checkpoints, where it is files that a vault looks after."""

from __future__ import annotations

from typing import Protocol


class Storage(Protocol):
    """The tiers of all nodes."""

    def choose(self) -> tuple[int, str]:
        """The newest step that all ranks can read from where they are, and the farthest tier that it takes; 0 = from the start."""
        ...
