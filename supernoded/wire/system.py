"""The wires of the real machine."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlsplit

import msgspec

from supernoded.errors import WireError
from supernoded.wire.command import ToolCommand
from supernoded.wire.datagrams import SocketDatagrams, parse_datagrams
from supernoded.wire.host import SystemHost
from supernoded.wire.http import JsonHttp, parse_door
from supernoded.wire.line import Dial, SharedLine
from supernoded.wire.line_address import LineAddress, parse_line
from supernoded.wire.names import Lookup
from supernoded.wire.pen import Pen
from supernoded.wire.ports import Command, Datagrams, Http, Line, Stream, Tree
from supernoded.wire.serial import SerialDial
from supernoded.wire.stream import SocketStream, parse_address
from supernoded.wire.tree import FileTree

__all__ = ["Devices", "SystemHost", "SystemWires"]

TREE_PATIENCE = 3.0  # seconds for one hop to the file system
UNHEARD_MS = 10_000  # ms that a request may lie unacknowledged in TCP, after which the connection is given up (ours; Linux has 15 min)

MakeLine = Callable[[LineAddress, Pen], Line]


def make_serial_line(address: LineAddress, pen: Pen) -> Line:
    """A serial device of this machine."""
    return SharedLine(address, SerialDial(address), pen)


def make_tcp_line(address: LineAddress, pen: Pen) -> Line:
    """A gateway, or a device with a TCP port of its own; asyncio sets TCP_NODELAY. One that is gone without a word is found out."""
    lookup = Lookup(address.place, address.port)

    async def dial(protocol: asyncio.Protocol) -> None:
        loop = asyncio.get_running_loop()
        transport, _ = await lookup.reach(lambda host, port: loop.create_connection(lambda: protocol, host, port))
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNHEARD_MS)

    return SharedLine(address, dial, pen)


LINES: Mapping[str, MakeLine] = MappingProxyType({"serial": make_serial_line, "tcp": make_tcp_line})


class Devices:
    """What is open on this machine: trees for all to read, programs, and what has one owner. `kinds` makes lines, by scheme."""

    def __init__(self, kinds: Mapping[str, MakeLine] = LINES) -> None:
        self.kinds = kinds
        self.trees: dict[Path, FileTree] = {}
        self.commands: dict[tuple[str, ...], ToolCommand] = {}
        self.owners: dict[str, str] = {}  # by the device's name
        self.streams: dict[str, SocketStream] = {}
        self.lines: dict[str, tuple[LineAddress, Line]] = {}
        self.datagrams: dict[str, SocketDatagrams] = {}
        self.services: dict[str, JsonHttp] = {}

    async def close(self) -> None:
        """Close all of it; afterwards everything may have another owner."""
        opened: list[Stream | Line | Datagrams | Http] = [*self.streams.values(), *self.datagrams.values(), *self.services.values()]
        for each in (*opened, *(line for _, line in self.lines.values())):
            await each.close()
        for kept in (self.owners, self.streams, self.lines, self.datagrams, self.services):
            kept.clear()


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
        self._claim(address.line, "a line")
        return self._devices.streams.setdefault(address.line, SocketStream(address, self._pen))

    def line(self, url: str, dial: Dial | None = None) -> Line:
        """See `Wires.line`; the same owner gets the same line. `dial` = how it is reached, where not as on this machine."""
        address = parse_line(url)
        if dial is None and address.scheme not in self._devices.kinds:
            raise WireError(f"{url}: no {address.scheme} line can be had here; there are {', '.join(sorted(self._devices.kinds))}")
        self._claim(address.name, "a line")
        if address.name not in self._devices.lines:
            line = self._devices.kinds[address.scheme](address, self._pen) if dial is None else SharedLine(address, dial, self._pen)
            self._devices.lines[address.name] = address, line
        opened, line = self._devices.lines[address.name]
        if opened != msgspec.structs.replace(address, place=opened.place):
            raise WireError(f"{url}: {address.name} is open already with another speed, format, echo or delay; write the same everywhere")
        return line

    def datagrams(self, url: str) -> Datagrams:
        """See `Wires.datagrams`; the same owner gets the same socket."""
        address = parse_datagrams(url)
        self._claim(address.name, "a device")
        return self._devices.datagrams.setdefault(address.name, SocketDatagrams(address, self._pen))

    def http(
        self,
        url: str,
        *,
        user: str = "",
        password_file: str = "",
        ca_file: str = "",
        insecure: bool = False,
        token_file: str = "",
        body_type: str = "application/json",
    ) -> Http:
        """See `Wires.http`; the same owner gets the same service."""
        door = parse_door(url, user, password_file, ca_file, insecure=insecure, token_file=token_file, body_type=body_type)
        self._claim(door.base, "a service")
        service = self._devices.services.setdefault(door.base, JsonHttp(door, self._pen))
        if service.door != door:
            raise WireError(f"{door.base} is open already with another user or other files; name it once")
        return service

    async def close(self) -> None:
        """Close every line of every owner."""
        await self._devices.close()

    def _claim(self, name: str, what: str) -> None:
        owner = self._devices.owners.setdefault(name, self._owner)
        if owner != self._owner:
            raise WireError(f"{name} belongs to {owner}, and {what} has one owner; {self._owner} must do without it")
