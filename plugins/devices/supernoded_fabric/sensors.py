"""The live trees of this machine."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from supernoded.plugin import NODE, Node, Reading, Tree, WireError
from supernoded_fabric import ethernet, infiniband
from supernoded_fabric.naming import Naming
from supernoded_fabric.settings import FabricSettings

TIMEOUT = 7.0  # seconds; two looks at a tree that gives up after 3
REST = 600.0  # seconds; a restricted function refuses a counter for good, and each try fills the kernel log


class Rest(NamedTuple):
    """A counter that is not asked again for a while, and what it answered last."""

    until: float
    error: WireError


class InfinibandSensor:
    """Every port of every HCA. No such tree = no HCA: nothing is read, and nothing is wrong."""

    name, scope, timeout = "fabric.infiniband", NODE, TIMEOUT

    def __init__(self, tree: Tree, node: Node, settings: FabricSettings) -> None:
        self._tree, self._clock, self._exclude = tree, node.clock, settings.exclude
        self._naming = Naming(node.name, settings.subjects)
        self._resting: dict[str, Rest] = {}
        self.period = settings.period_s or node.limits.link.poll_s

    async def read(self) -> Sequence[Reading]:
        """First the state of every port, then the counters, but for those that rest."""
        devices = [name for name in await self._tree.names() if not _fits(name, self._exclude)]
        facts = await self._tree.read_all([f"{device}/ports/*/{fact}" for device in devices for fact in infiniband.FACTS])
        ports = sorted({path.rpartition("/")[0] for path in facts})
        at = self._clock.now()
        self._resting = {path: rest for path, rest in self._resting.items() if rest.until > at}
        wanted = [path for port in ports for file in infiniband.FILES if (path := f"{port}/{file}") not in self._resting]
        counters = await self._tree.read_all(wanted)
        self._resting |= {path: Rest(at + REST, text) for path, text in counters.items() if isinstance(text, WireError) and _is_final(text)}
        resting = {path: rest.error for path, rest in self._resting.items()}
        return infiniband.parse_tree({**facts, **resting, **counters}.items(), at, self._naming.port)


class EthernetSensor:
    """Network interfaces: those with a device behind them, or those the settings name."""

    name, scope, timeout = "fabric.ethernet", NODE, TIMEOUT

    def __init__(self, tree: Tree, node: Node, settings: FabricSettings) -> None:
        self._tree, self._clock, self._settings = tree, node.clock, settings
        self._naming = Naming(node.name, settings.subjects)
        self.period = settings.period_s or node.limits.link.poll_s

    async def read(self) -> Sequence[Reading]:
        """Choose the interfaces, then read all their files in one hop."""
        names = await self._choose()
        wanted = (*ethernet.FACTS, *ethernet.COUNTERS)
        files = await self._tree.read_all([f"{name}/{file}" for name in names for file in wanted]) if names else {}
        at, found = self._clock.now(), list[Reading]()
        for name, its_files in _group(files).items():
            found += ethernet.parse_interface(its_files, at, self._naming.interface(name))
        return found

    async def _choose(self) -> list[str]:
        if self._settings.interfaces:
            names = [name for name in await self._tree.names() if _fits(name, self._settings.interfaces)]
        else:
            names = [path.partition("/")[0] for path in await self._tree.read_all(["*/device/uevent"])]
        return [name for name in names if not _fits(name, self._settings.exclude)]


def _is_final(error: WireError) -> bool:
    return isinstance(error.__cause__, OSError) and error.__cause__.errno == errno.EINVAL


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _group(files: Mapping[str, str | WireError]) -> Mapping[str, Mapping[str, str | WireError]]:
    groups: dict[str, dict[str, str | WireError]] = {}
    pairs: Iterable[tuple[str, str | WireError]] = files.items()
    for path, text in pairs:
        interface, _, file = path.partition("/")
        groups.setdefault(interface, {})[file] = text
    return groups
