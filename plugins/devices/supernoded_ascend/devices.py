"""Which cards there are, and what they are called: to `hccn_tool`, to `npu-smi`, and here."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from supernoded.plugin import Command, Node, WireError
from supernoded_ascend.asking import ask
from supernoded_ascend.npu_table import Mapped, parse_mapping
from supernoded_ascend.settings import AscendSettings


class Place(msgspec.Struct, frozen=True):
    """A chip by the numbers of `npu-smi`, and its subject."""

    npu: int
    chip: int
    subject: str


class Naming:
    """Subjects of cards. `described` are the cards that the topology or the settings tell of; none = nobody tells."""

    def __init__(self, node: str, described: Sequence[int], chips_per_npu: int) -> None:
        self.node, self.described = node, tuple(described)
        self._chips = chips_per_npu

    def card(self, number: int) -> str:
        """Card so and so many of the node."""
        return f"{self.node}/card{number}"

    def chip(self, npu: int, chip: int, physical: int | None) -> str:
        """The card that a chip is; one that is no card of ours is called by its own numbers, which says that it is not mapped."""
        number = npu * self._chips + chip
        if self._chips > 1 and physical is not None:
            number = physical
        ours = chip < self._chips and (not self.described or number in self.described)
        return self.card(number) if ours else f"{self.node}/npu{npu}/chip{chip}"


def read_described(node: Node, settings: AscendSettings) -> tuple[int, ...]:
    """The numbers of the cards: of the settings, else of the topology."""
    cards = next((one.cards for one in node.topology.nodes if one.name == node.name), 0)
    return settings.devices or tuple(range(cards))


class Devices:
    """Finds what to ask. What only `npu-smi info -m` can tell is asked once it must be, and once it was answered not again."""

    def __init__(self, naming: Naming, npu_smi: Command, settings: AscendSettings) -> None:
        self.naming = naming
        self._npu_smi, self._settings = npu_smi, settings
        self._mapped: tuple[Mapped, ...] = ()

    async def list_devices(self) -> Sequence[int]:
        """The numbers that `hccn_tool -i` takes, which are those of the cards. Raises WireError when nobody can tell."""
        return self.naming.described or [chip.device for chip in await self._map()]

    async def list_places(self) -> Sequence[Place]:
        """The chips that `npu-smi -i -c` takes. Raises WireError when nobody can tell."""
        if self._settings.chips_per_npu == 1 and self.naming.described:
            return [Place(number, 0, self.naming.card(number)) for number in self.naming.described]
        return [Place(one.npu, one.chip, self.naming.chip(one.npu, one.chip, one.device)) for one in await self._map()]

    async def _map(self) -> Sequence[Mapped]:
        if not self._mapped:
            text = await ask(self._npu_smi, "info", "-m", within=self._settings.timeout_s)
            self._mapped = parse_mapping(text)
        if not self._mapped:
            raise WireError("npu-smi info -m lists no chip: name the cards under `devices`, or in the topology")
        return self._mapped
