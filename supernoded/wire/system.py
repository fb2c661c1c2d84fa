"""The wires of the real machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from supernoded.errors import WireError
from supernoded.wire.command import ToolCommand
from supernoded.wire.host import SystemHost
from supernoded.wire.http import JsonHttp, parse_door
from supernoded.wire.pen import Pen
from supernoded.wire.ports import Command, Http, Stream, Tree
from supernoded.wire.stream import SocketStream, parse_address
from supernoded.wire.tree import FileTree

__all__ = ["Devices", "SystemHost", "SystemWires"]

TREE_PATIENCE = 3.0  # seconds for one hop to the file system


class Devices:
    """What is open on this machine: trees for all to read, programs, and lines with the one owner of each."""

    def __init__(self) -> None:
        self.trees: dict[Path, FileTree] = {}
        self.commands: dict[tuple[str, ...], ToolCommand] = {}
        self.lines: dict[str, tuple[str, SocketStream]] = {}
        self.services: dict[str, tuple[str, JsonHttp]] = {}


class SystemWires:
    """A `Wires` over the real machine, in the name of one owner. All owners of one daemon share its `devices`."""

    def __init__(self, pen: Pen, owner: str = "daemon", devices: Devices | None = None) -> None:
        self._pen, self._owner = pen, owner
        self._devices = devices if devices is not None else Devices()

    def owned_by(self, owner: str) -> SystemWires:
        """The same machine in the name of somebody else, such as a plugin."""
        return SystemWires(self._pen, owner, self._devices)

    def tree(self, root: str) -> Tree:
        """See `Wires.tree`; the same folder is the same tree, so that one that hangs holds one thread."""
        parts = urlsplit(root)
        if parts.scheme not in {"", "tree"} or parts.netloc or not parts.path.startswith("/"):
            raise WireError(f"{root}: no file tree; write an absolute path or tree:///path")
        place = Path(os.path.normpath(parts.path if parts.scheme else root))  # resolving would touch a file system that may hang
        return self._devices.trees.setdefault(place, FileTree(place, self._pen, TREE_PATIENCE))

    def command(self, argv: Sequence[str]) -> Command:
        """See `Wires.command`; the same program and arguments are the same command, so that it never runs twice at a time."""
        return self._devices.commands.setdefault(tuple(argv), ToolCommand(argv, self._pen))

    def stream(self, url: str) -> Stream:
        """See `Wires.stream`; the same owner gets the same stream."""
        address = parse_address(url)
        owner, stream = self._devices.lines.setdefault(address.line, (self._owner, SocketStream(address, self._pen)))
        if owner != self._owner:
            raise WireError(f"{url}: {address.line} belongs to {owner}, and a line has one owner; {self._owner} must do without it")
        return stream

    def http(self, url: str, *, user: str = "", password_file: str = "", ca_file: str = "", insecure: bool = False) -> Http:
        """See `Wires.http`; the same owner gets the same service."""
        door = parse_door(url, user, password_file, ca_file, insecure=insecure)
        owner, service = self._devices.services.setdefault(door.base, (self._owner, JsonHttp(door, self._pen)))
        if owner != self._owner:
            raise WireError(f"{door.base} belongs to {owner}, and a service has one owner; {self._owner} must do without it")
        if service.door != door:
            raise WireError(f"{door.base} is open already with another user or other files; name it once")
        return service

    async def close(self) -> None:
        """Close every line of every owner."""
        for _, stream in self._devices.lines.values():
            await stream.close()
        for _, service in self._devices.services.values():
            await service.close()
        self._devices.lines.clear()
        self._devices.services.clear()
