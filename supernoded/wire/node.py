"""What a plugin is given of its node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from supernoded.clock import Clock
from supernoded.limits import Limits
from supernoded.topology import Topology
from supernoded.wire.ports import Command, Host, Stream, Tree


class Wires(Protocol):
    """Opens devices by URL. A device has one owner: a second opener of a line is refused by name."""

    def tree(self, root: str) -> Tree:
        """A file tree: a path or `tree:///path`."""
        ...

    def command(self, argv: Sequence[str]) -> Command:
        """A program with its leading arguments."""
        ...

    def stream(self, url: str) -> Stream:
        """`tcp://host:port` or `unix:///path`. Raises WireError for another scheme or a line somebody else owns."""
        ...


@dataclass(frozen=True, slots=True)
class Node:
    """The node a plugin works on."""

    name: str
    topology: Topology
    limits: Limits
    wires: Wires
    clock: Clock
    host: Host
    state: Path  # a folder of the daemon's own for things that must survive it
