"""The chips below `/sys/class/hwmon`, found by name and device: their numbers change with every boot and every hot-plug."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from posixpath import basename

from supernoded.plugin import Clock, Tree, WireError, Wires

FOLDER = re.compile(r"hwmon\d{1,5}", re.ASCII)
LOOK_AGAIN = 60.0  # seconds after which names, addresses and what hardly changes are read again, though the folders are the same (ours)
REST = 10.0  # seconds for which a chip that hangs is left alone, so that the others keep their period (ours)
STEADY = ("temp*_label", "temp*_max", "temp*_crit", "temp*_emergency")


@dataclass
class Chip:
    """One chip. `label` is what it is called here: its name, or its device where there are several of that name."""

    folder: str
    name: str
    address: str
    tree: Tree
    label: str = ""
    steady: Mapping[str, str | WireError] = field(default_factory=dict)  # what `STEADY` names
    known: tuple[str, ...] = ()  # paths of the last look
    rests_until: float = 0.0
    trouble: WireError | None = None  # why it rests


Files = Mapping[str, str | WireError]


class Chips:
    """All chips of a tree. What one does not answer costs only itself."""

    def __init__(self, wires: Wires, root: str, clock: Clock) -> None:
        self._wires, self._root, self._clock = wires, root.rstrip("/"), clock
        self._top = wires.tree(self._root)
        self._chips: tuple[Chip, ...] = ()
        self._folders: tuple[str, ...] = ()
        self._due = 0.0
        self._several: set[str] = set()  # names of which there was more than one: their chips keep the longer label
        self._free = asyncio.Lock()

    async def look(self, patterns: Sequence[str]) -> Sequence[tuple[Chip, Files]]:
        """What every chip shows of these files. Raises WireError when the folder cannot be listed."""
        chips = await self._find()
        looks = await asyncio.gather(*(self._look_at(chip, patterns) for chip in chips))
        if all(_is_still(chip, files) for chip, files in looks):
            return looks
        self._due = 0.0  # another chip has this number now
        return await asyncio.gather(*(self._look_at(chip, patterns) for chip in await self._find()))

    async def _look_at(self, chip: Chip, patterns: Sequence[str]) -> tuple[Chip, Files]:
        if chip.trouble is not None and self._clock.now() < chip.rests_until:
            return chip, dict.fromkeys(chip.known, chip.trouble)
        try:
            files = await chip.tree.read_all(("name", *patterns))
        except WireError as error:
            chip.trouble, chip.rests_until = error, self._clock.now() + REST
            return chip, dict.fromkeys(chip.known, error)
        chip.trouble = None
        chip.known = tuple(dict.fromkeys((*chip.known, *files))) if set(files) - set(chip.known) else chip.known
        return chip, files

    async def _find(self) -> tuple[Chip, ...]:
        async with self._free:
            folders = tuple(name for name in await self._top.names() if FOLDER.fullmatch(name))
            now = self._clock.now()
            if folders != self._folders or now >= self._due:
                known = {chip.folder: chip for chip in self._chips}
                found = await asyncio.gather(*(self._identify(folder, known.get(folder)) for folder in folders))
                self._chips = self._label([chip for chip in found if chip is not None])
                self._folders, self._due = folders, now + LOOK_AGAIN
            return self._chips

    async def _identify(self, folder: str, known: Chip | None) -> Chip | None:
        """The chip of a folder, the same object while it is the same chip; None for one that does not even say its name."""
        if known is not None and known.trouble is not None and self._clock.now() < known.rests_until:
            return known
        tree = known.tree if known is not None else self._wires.tree(f"{self._root}/{folder}")
        try:
            name, address = await tree.read("name"), basename(await self._top.link(f"{folder}/device"))
            steady = await tree.read_all(STEADY)
        except WireError:
            return known
        if known is None or (known.name, known.address) != (name, address):
            return Chip(folder, name, address, tree, steady=steady)
        known.steady = steady
        return known

    def _label(self, chips: Sequence[Chip]) -> tuple[Chip, ...]:
        """Sorted by name and device, so that their order is that of the last boot too."""
        ordered = sorted(chips, key=lambda chip: (chip.name, chip.address, len(chip.folder), chip.folder))
        devices = {(chip.name, chip.address or chip.folder) for chip in ordered}
        self._several |= {name for name, count in Counter(name for name, _ in devices).items() if count > 1}
        taken: Counter[str] = Counter()
        for chip in ordered:
            label = clean(chip.address or chip.name if chip.name in self._several else chip.name)
            taken[label] += 1
            chip.label = label if taken[label] == 1 else f"{label}-{taken[label]}"
        return tuple(ordered)


def _is_still(chip: Chip, files: Files) -> bool:
    name = files.get("name")
    return name == chip.name or isinstance(name, WireError)


def clean(text: str) -> str:
    """A driver's word as one part of a subject."""
    return re.sub(r"[\s/]+", "-", text.strip()) or "unnamed"
