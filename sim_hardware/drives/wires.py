"""The wires of a simulated node: its `/sys/class`, its logs and its tools are played in process, all else is as on a real machine."""

from __future__ import annotations

import asyncio
import errno
import math
import os
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from posixpath import basename, normpath
from urllib.parse import urlsplit

from sim_hardware.devices.sysfs import SysfsTree
from sim_hardware.devices.tools import TOOLS, run_tool
from sim_hardware.drives.log_tree import FOLDER, LogTree
from sim_hardware.rig import Rig
from supernoded.errors import WireError
from supernoded.wire import Command, Datagrams, Http, Line, Pen, Stream, Tree
from supernoded.wire.line_address import parse_line
from supernoded.wire.ports import Answer
from supernoded.wire.system import SystemWires

SYSFS = "/sys/class"
_WILD = frozenset("*?[")  # of a pattern


class RigWires:
    """See `supernoded.wire.Wires`."""

    def __init__(self, rig: Rig, node: str, pen: Pen, system: SystemWires) -> None:
        self._rig, self._node, self._pen, self._system = rig, node, pen, system
        self._commands: dict[tuple[str, ...], SimCommand] = {}

    def owned_by(self, owner: str) -> RigWires:
        """The same node in the name of somebody else."""
        return RigWires(self._rig, self._node, self._pen, self._system.owned_by(owner))

    def tree(self, root: str) -> Tree:
        """See `Wires.tree`."""
        place = normpath(urlsplit(root).path)
        if place == SYSFS or place.startswith(f"{SYSFS}/"):
            return SimTree(self._rig.trees[self._node], place.removeprefix(SYSFS).strip("/"), self._pen)
        return LogTree(self._rig.logs, self._node, self._pen) if place == FOLDER else self._system.tree(root)

    def command(self, argv: Sequence[str]) -> Command:
        """See `Wires.command`."""
        if not argv or basename(argv[0]) not in TOOLS:
            return self._system.command(argv)
        return self._commands.setdefault(tuple(argv), SimCommand(self._rig, self._node, tuple(argv), self._pen))

    def stream(self, url: str) -> Stream:
        """See `Wires.stream`."""
        return self._system.stream(url)

    def line(self, url: str) -> Line:
        """See `Wires.line`; the serial devices are the rig's lines, each node with an adapter of its own on them."""
        address = parse_line(url)
        return self._system.line(url, partial(self._connect, address.place) if address.scheme == "serial" else None)

    def datagrams(self, url: str) -> Datagrams:
        """See `Wires.datagrams`."""
        return self._system.datagrams(url)

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
        """See `Wires.http`."""
        return self._system.http(
            url,
            user=user,
            password_file=password_file,
            ca_file=ca_file,
            insecure=insecure,
            token_file=token_file,
            body_type=body_type,
        )

    async def close(self) -> None:
        """Close every line of every owner."""
        await self._system.close()

    async def _connect(self, path: str, protocol: asyncio.Protocol) -> None:
        if path not in self._rig.lines:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
        self._rig.lines[path].connect(protocol)


class SimTree:
    """See `supernoded.wire.Tree`: a folder of a node's `/sys/class`."""

    def __init__(self, tree: SysfsTree, folder: str, pen: Pen) -> None:
        self._tree, self._folder, self._pen = tree, folder, pen
        self._found: dict[tuple[str, ...], list[tuple[str, str]]] = {}  # by patterns: paths and their places, which never change

    async def read(self, path: str) -> str:
        """See `Tree.read`."""
        text = self._read(self._place(path))
        if isinstance(text, WireError):
            raise text
        return text

    async def read_all(self, patterns: Sequence[str]) -> Mapping[str, str | WireError]:
        """See `Tree.read_all`."""
        found = [(path, self._read(place)) for path, place in self._match(tuple(patterns))]
        return {path: text for path, text in found if isinstance(text, str) or not _is_gone(text)}

    async def names(self, path: str = "") -> Sequence[str]:
        """See `Tree.names`."""
        return self._tree.names(self._place(path))

    async def link(self, path: str) -> str:
        """See `Tree.link`: a tree in memory has none."""
        del path
        return ""

    async def order(self, scope: str, path: str, text: str) -> None:
        """See `Tree.order`."""
        self._pen.ask(scope)
        try:
            self._tree.write(self._place(path), text)
        except OSError as error:
            raise WireError(f"{SYSFS}/{self._place(path)}: {error.strerror}") from error

    async def trim(self, scope: str, path: str, most: int) -> None:
        """See `Tree.trim`: the kernel's attributes cannot be removed."""
        self._pen.ask(scope)
        raise WireError(f"{SYSFS}/{self._place(path)}: attributes of the kernel cannot be removed, not even to keep {most}")

    def _place(self, path: str) -> str:
        return f"{self._folder}/{path}".strip("/")

    def _read(self, place: str) -> str | WireError:
        try:
            return self._tree.read(place).strip()
        except OSError as error:
            found = WireError(f"{SYSFS}/{place}: {error.strerror}")
            found.__cause__ = error
            return found

    def _match(self, patterns: tuple[str, ...]) -> list[tuple[str, str]]:
        found = self._found.get(patterns)
        if found is None:
            paths = {path for pattern in patterns for path in self._walk("", pattern.split("/"))}
            found = [(path, self._place(path)) for path in sorted(paths)]
            if not self._tree.impairment.refusing:  # which shows no names
                self._found[patterns] = found
        return found

    def _walk(self, base: str, parts: Sequence[str]) -> list[str]:
        first, *rest = parts
        found = self._tree.names(self._place(base))
        names = [name for name in found if fnmatchcase(name, first)] if _WILD.intersection(first) else [first] * (first in found)
        paths = [f"{base}/{name}".lstrip("/") for name in names]
        return [path for folder in paths for path in self._walk(folder, rest)] if rest else paths


def _is_gone(error: WireError) -> bool:
    return isinstance(error.__cause__, FileNotFoundError | IsADirectoryError)


class SimCommand:
    """See `supernoded.wire.Command`: a tool that is a function over the plant."""

    def __init__(self, rig: Rig, node: str, argv: tuple[str, ...], pen: Pen) -> None:
        self._rig, self._node, self._argv, self._pen = rig, node, argv, pen
        self._free = asyncio.Lock()

    async def run(self, *arguments: str, within: float = 10.0) -> Answer:
        """See `Command.run`."""
        name = " ".join((*self._argv, *arguments))
        try:
            async with asyncio.timeout(within), self._free:
                tool, *leading = self._argv
                run = run_tool(basename(tool), (*leading, *arguments), self._rig.world, self._node, self._rig.tools[self._node])
                await asyncio.sleep(within if run.seconds == math.inf else run.seconds)
        except TimeoutError as error:
            raise WireError(f"{name}: did not end and was killed within {within:g} s") from error
        if run.seconds == math.inf:
            raise WireError(f"{name}: did not end and was killed within {within:g} s")
        return Answer(code=run.rc, out=run.out, err=run.err, truncated=False)

    async def order(self, scope: str, *arguments: str, within: float = 10.0) -> Answer:
        """See `Command.order`."""
        self._pen.ask(scope)
        return await self.run(*arguments, within=within)
