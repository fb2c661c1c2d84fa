"""Which HCAs and interfaces of this machine are read, and what they are called here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from supernoded.plugin import Node, WireError
from supernoded_fabric.naming import Naming, Places
from supernoded_fabric.settings import FabricSettings

MELLANOX = "mlx"  # how the HCAs begin that mlxlink knows
HOP = 3.5  # seconds; a tree gives up after 3
LOOK = 4 * HOP  # seconds of one look at both trees
FORGET_AFTER = 86_400.0  # seconds for which a device that is gone is told of; as the daemon's own history


class Adapters:
    """Looks at both trees of the kernel."""

    def __init__(self, node: Node, settings: FabricSettings) -> None:
        self.infiniband, self.ethernet = node.wires.tree(settings.infiniband), node.wires.tree(settings.ethernet)
        self.naming = Naming(node.name, settings.subjects)
        self.places = Places(self.naming, self.is_left_out)
        self._settings = settings

    def is_left_out(self, name: str) -> bool:
        """Whether the settings exclude an HCA or interface."""
        return _fits(name, self._settings.exclude)

    async def list_hcas(self) -> list[str]:
        """HCAs that are read. Raises WireError."""
        return [name for name in await self.infiniband.names() if not self.is_left_out(name)]

    async def list_interfaces(self) -> list[str]:
        """Interfaces that the settings name, or that have a device behind them. Raises WireError."""
        if self._settings.interfaces:
            names = [name for name in await self.ethernet.names() if _fits(name, self._settings.interfaces)]
        else:
            names = list(_by_name(await self.ethernet.read_all(["*/device/uevent"])))
        return [name for name in names if not self.is_left_out(name)]

    async def name_interfaces(self) -> Mapping[str, str]:
        """Interfaces that are read, and their subjects. Raises WireError."""
        return {name: self.naming.interface(name) for name in await self.list_interfaces()}

    async def name_hcas(self) -> Mapping[str, str]:
        """HCAs that mlxlink can be asked about, and the subjects of their ports. Raises WireError."""
        return {name: self.naming.port(name, "1") for name in await self.list_hcas() if name.startswith(MELLANOX)}

    async def look(self) -> bool:
        """Learn what is where; whether there is anything at all. Raises WireError."""
        interfaces = _by_name(await self.ethernet.read_all(["*/device/uevent"]))
        hcas = _by_name(await self.infiniband.read_all(["*/device/uevent"]))
        self.places.learn(interfaces, hcas)
        return bool(interfaces or hcas or await self.list_interfaces() or await self.list_hcas())


class Roll:
    """Calls the roll: who was here and is not any more, for a day."""

    def __init__(self) -> None:
        self._seen: dict[str, float] = {}

    def find_gone(self, here: Sequence[str], at: float) -> list[str]:
        """Those of an earlier call that are missing in this one."""
        self._seen = {name: since for name, since in self._seen.items() if at - since < FORGET_AFTER} | dict.fromkeys(here, at)
        return sorted(self._seen.keys() - set(here))


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _by_name(files: Mapping[str, str | WireError]) -> dict[str, str | WireError]:
    """By device. Raises the WireError of a folder that cannot be listed, which says nothing of what is in it."""
    trouble = files.get(".")
    if isinstance(trouble, WireError):
        raise trouble
    return {path.partition("/")[0]: text for path, text in files.items()}
