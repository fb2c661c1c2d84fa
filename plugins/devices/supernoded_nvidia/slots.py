"""Which card is which: PCI bus ids and UUIDs to subjects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from supernoded.plugin import PluginError, Topology

BUS = r"[0-9a-f]{1,8}:[0-9a-f]{1,2}:[0-9a-f]{1,2}(?:\.[0-9a-f])?"  # as every view prints it, case aside

_PARTS = re.compile(r"(?:PCI:)?([0-9a-f]{1,8}):([0-9a-f]{1,2}):([0-9a-f]{1,2})(?:\.([0-9a-f]))?", re.ASCII | re.IGNORECASE)


def read_bus(text: str) -> str:
    """A PCI bus id as the kernel writes it, `0000:a1:00.0`; empty for anything else. An Xid line leaves the function out."""
    found = _PARTS.fullmatch(text.strip())
    if found is None:
        return ""
    domain, bus, device = (int(part, 16) for part in found.group(1, 2, 3))
    return f"{domain:04x}:{bus:02x}:{device:02x}.{int(found[4] or '0', 16):x}"


def sort_buses(buses: Iterable[str]) -> list[str]:
    """In the order of the bus: domains may have more digits than four."""
    return sorted(buses, key=lambda bus: (len(bus), bus))


class Slots:
    """The cards of this node. A card keeps its subject for as long as this lives.

    Its subject is what the settings say of its bus id. Else cards are numbered in the order of the bus, but only when as many are seen
    as the topology declares: with one missing, every number after it would be another card's. Then a card is in the slot for which the
    topology names its serial number. What is left is `<node>/gpu/<bus id>`, and stays unmapped until somebody names it.
    """

    def __init__(self, node: str, topology: Topology, cards: Mapping[str, str]) -> None:
        """Raises PluginError for a bus id that is none."""
        self._node = node
        self._declared: Sequence[str] = next((one.list_cards() for one in topology.nodes if one.name == node), ())
        self._serials = {entry.serial: entry.card for entry in topology.cards if entry.card.startswith(f"{node}/")}
        self._named = {read_bus(bus): subject for bus, subject in cards.items()}
        if "" in self._named:
            bad = next(bus for bus in cards if not read_bus(bus))
            raise PluginError(f"cards: {bad!r} is no PCI bus id; write it as `nvidia-smi -q` prints it, such as 0000:a1:00.0")
        self._given: dict[str, str] = {}  # by bus id
        self._uuids: dict[str, str] = {}  # UUID -> bus id
        self._alive: dict[str, float] = {}
        self.known: set[str] = set(self._named)

    def learn(self, buses: Iterable[str], serials: Mapping[str, str] | None = None, uuids: Mapping[str, str] | None = None) -> None:
        """Take in a list of cards that claims to be whole, and what is known of each by its bus id."""
        self.known.update(bus for bus in buses if bus)
        self._uuids |= {uuid: bus for bus, uuid in (uuids or {}).items()}
        if len(self.known) == len(self._declared) or not self._declared:
            self._number()
        for bus, serial in (serials or {}).items():
            subject = self._serials.get(serial)
            if subject is not None and bus not in self._given and subject not in self._taken():
                self._given[bus] = subject

    def _number(self) -> None:
        for slot, bus in enumerate(sort_buses(self.known)):
            subject = f"{self._node}/card{slot}"
            if bus not in self._given and bus not in self._named and subject not in self._taken():
                self._given[bus] = subject

    def _taken(self) -> set[str]:
        return {*self._given.values(), *self._named.values()}

    def subject(self, bus: str) -> str:
        """Of a card by its bus id."""
        return self._named.get(bus) or self._given.get(bus) or f"{self._node}/gpu/{bus}"

    def is_mapped(self, bus: str) -> bool:
        """Whether it is known in which slot a card is."""
        return bus in self._named or bus in self._given

    def subject_by_uuid(self, number: int, uuid: str) -> str:
        """Of a card by its UUID, or by the number that the tool gives it, where the UUID was never seen."""
        bus = self._uuids.get(uuid)
        if bus is None and number < len(self.known):
            bus = sort_buses(self.known)[number]
        return self.subject(bus) if bus is not None else f"{self._node}/card{number}"

    def mark_alive(self, bus: str, at: float) -> None:
        """A tool that was started at this moment had its answer from the card."""
        self._alive[bus] = at

    def is_alive_since(self, bus: str, at: float) -> bool:
        """Whether a tool that was started after this moment had an answer from the card."""
        return self._alive.get(bus, at) > at
