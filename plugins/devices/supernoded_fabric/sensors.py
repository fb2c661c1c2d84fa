"""The live trees of this machine."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from supernoded.plugin import NODE, Node, Reading, WireError, make_reading
from supernoded_fabric import ethernet, infiniband
from supernoded_fabric.adapters import HOP, Adapters, Roll
from supernoded_fabric.counters import OWN
from supernoded_fabric.settings import FabricSettings

TIMEOUT = 3 * HOP  # seconds; three looks at a tree at most
REST = 600.0  # seconds; a restricted function refuses a counter for good, and each try fills the kernel log
FACT_DEPTH = 3  # slashes in `<device>/ports/<port>/<fact>`; what has fewer is a folder that cannot be listed
GONE = "the kernel no longer lists {}: it left the bus, or its driver was unloaded"


class Rest(NamedTuple):
    """A counter that is not asked again for a while, and what it answered last."""

    until: float
    error: WireError


class InfinibandSensor:
    """Every port of every HCA. No such tree = no HCA: nothing is read, and nothing is wrong.

    The driver's `own` counters, which have no name in the vocabulary and are most of them, are another sensor's, which has more time.
    """

    scope, timeout = NODE, TIMEOUT

    def __init__(self, adapters: Adapters, node: Node, settings: FabricSettings, *, own: bool = False) -> None:
        self.name, self._own = "fabric.infiniband_own" if own else "fabric.infiniband", own
        self._files = infiniband.OWN_FILES if own else infiniband.FILES
        self._adapters, self._clock = adapters, node.clock
        self._resting: dict[str, Rest] = {}
        self._roll = Roll()
        self.period = settings.own_s if own else settings.period_s or node.limits.link.poll_s

    async def read(self) -> Sequence[Reading]:
        """First the state of every port, then the counters, but for those that rest."""
        tree, port_of = self._adapters.infiniband, self._adapters.naming.port
        devices = await self._adapters.list_hcas()
        facts = await tree.read_all([f"{device}/ports/*/{fact}" for device in devices for fact in infiniband.FACTS])
        ports = sorted({path.rpartition("/")[0] for path in facts if path.count("/") == FACT_DEPTH})
        at = self._clock.now()
        self._resting = {path: rest for path, rest in self._resting.items() if rest.until > at}
        wanted = [path for port in ports for file in self._files if (path := f"{port}/{file}") not in self._resting]
        counters = await tree.read_all(wanted)
        self._resting |= {path: Rest(at + REST, text) for path, text in counters.items() if isinstance(text, WireError) and _is_final(text)}
        resting = {path: rest.error for path, rest in self._resting.items()}
        found = infiniband.parse_tree({**facts, **resting, **counters}.items(), at, port_of)
        if self._own:
            return [one for one in found if one.quantity.startswith(OWN)]
        unlisted = {path.partition("/")[0]: f"{text}" for path, text in facts.items() if path.count("/") < FACT_DEPTH}
        for device, _, port in (path.split("/") for path in self._roll.find_gone(ports, at)):
            why = unlisted.get(device) or GONE.format(f"port {port} of {device}")
            found.append(make_reading(port_of(device, port), "link.state", None, "1", at, why))
        return found


class EthernetSensor:
    """Network interfaces: those with a device behind them, or those the settings name."""

    name, scope, timeout = "fabric.ethernet", NODE, TIMEOUT

    def __init__(self, adapters: Adapters, node: Node, settings: FabricSettings) -> None:
        self._adapters, self._clock = adapters, node.clock
        self._roll = Roll()
        self.period = settings.period_s or node.limits.link.poll_s

    async def read(self) -> Sequence[Reading]:
        """Choose the interfaces, then read all their files in one hop."""
        subjects = await self._adapters.name_interfaces()
        wanted = (*ethernet.FACTS, *ethernet.COUNTERS)
        files = await self._adapters.ethernet.read_all([f"{name}/{file}" for name in subjects for file in wanted]) if subjects else {}
        at, found = self._clock.now(), list[Reading]()
        for name, its_files in _group(files).items():
            found += ethernet.parse_interface(its_files, at, subjects[name])
        for name in self._roll.find_gone(list(subjects), at):
            found.append(make_reading(self._adapters.naming.interface(name), "link.state", None, "1", at, GONE.format(name)))
        return found


def _is_final(error: WireError) -> bool:
    return isinstance(error.__cause__, OSError) and error.__cause__.errno == errno.EINVAL


def _group(files: Mapping[str, str | WireError]) -> Mapping[str, Mapping[str, str | WireError]]:
    groups: dict[str, dict[str, str | WireError]] = {}
    pairs: Iterable[tuple[str, str | WireError]] = files.items()
    for path, text in pairs:
        interface, _, file = path.partition("/")
        groups.setdefault(interface, {})[file] = text
    return groups
