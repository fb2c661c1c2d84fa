"""What the kernel says of the cards: Xids, and cards that fell off the bus."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from supernoded.plugin import NODE, Node, Reading, make_reading
from supernoded_nvidia.sensors import Census
from supernoded_nvidia.settings import NvidiaSettings
from supernoded_nvidia.slots import BUS, Slots, read_bus

OFF_BUS = 79  # the Xid of a card that fell off the bus; the driver does not always give it a number
LONGEST_SAID = 160  # characters of a statement that become a note
LONGEST_LINE = 1_000  # characters of a line that are looked at; the kernel's are shorter (LOG_LINE_MAX)
MOST_CARDS = 256  # that are kept apart; a machine has some dozens
MOST_JOINED = 3  # lines that one statement may go on for

_DRIVER = re.compile(r"\bNVRM:\s*(?P<said>.*)")
_XID = re.compile(rf"(?<!\w)Xid\s*\((?P<bus>(?:PCI:)?{BUS})\)\s*:\s*(?P<xid>\d{{1,5}})\b(?P<text>.*)", re.ASCII | re.IGNORECASE)
_FALLEN = re.compile(rf"GPU\s*(?:at\s*)?(?P<bus>(?:PCI:)?{BUS})\b.*fallen off the bus", re.ASCII | re.IGNORECASE)
_BEGUN = re.compile(rf"(?:(?<!\w)Xid\s*\((?:PCI:)?{BUS}\)\s*:\s*$)|(?:The NVIDIA GPU\s+{BUS}\b)", re.ASCII | re.IGNORECASE)


class Fault(NamedTuple):
    """What the driver said of one card."""

    bus: str
    xid: int
    text: str


class Driver:
    """Reads the driver's lines as they come. A statement may take several, with those of others between them."""

    def __init__(self) -> None:
        self._begun, self._left = "", 0

    def read(self, lines: Iterable[str]) -> Iterator[Fault]:
        """Each fault, in order. The kernel prints a line feed within one record as its code in hexadecimal."""
        for record in lines:
            for line in record.replace("\\x0a", "\n").splitlines():
                said = _DRIVER.search(line[:LONGEST_LINE])
                fault = self._take(said["said"].strip()) if said is not None else None
                if fault is not None:
                    yield fault

    def _take(self, said: str) -> Fault | None:
        fault = find_fault(said)
        if fault is None and self._begun:
            self._begun, self._left = f"{self._begun} {said}", self._left - 1
            fault = find_fault(self._begun)
        if fault is not None or self._left <= 0:
            self._begun = ""
        if fault is None and _BEGUN.search(said):
            self._begun, self._left = said, MOST_JOINED
        return fault


def find_fault(said: str) -> Fault | None:
    """A fault in one statement; None when it is about something else."""
    xid, fallen = _XID.search(said), _FALLEN.search(said)
    found = xid or fallen
    bus = read_bus(found["bus"]) if found is not None else ""
    if not bus:
        return None
    return Fault(bus, int(xid["xid"]) if xid is not None else OFF_BUS, said[:LONGEST_SAID])


class _Card:
    """What the kernel said of one card: each flag, and when it was last said."""

    def __init__(self) -> None:
        self.flags: dict[int, float] = {}
        self.text = ""


class KernelSensor:
    """Each card of which the kernel has spoken since the daemon started.

    An Xid stays a flag for a while; a card that fell off the bus stays gone until the tool has an answer from it again.
    """

    name, scope, timeout = "nvidia.kernel", NODE, 9.0  # seconds; the host port gives up after 5, a tree after 3

    def __init__(self, node: Node, settings: NvidiaSettings, slots: Slots, census: Census) -> None:
        self._host, self._clock, self._slots, self._census = node.host, node.clock, slots, census
        self._hold, self.period = settings.xid_hold_s, settings.kernel_period_s
        self._driver = Driver()
        self._cards: dict[str, _Card] = {}

    async def read(self) -> Sequence[Reading]:
        """Take in what the kernel has said since the last read. On a machine without such cards the log is left alone."""
        if not await self._census.take():
            return []
        lines = await self._host.kernel_lines(self.name)
        at = self._clock.now()
        for fault in self._driver.read(lines):
            if fault.bus not in self._cards and len(self._cards) >= MOST_CARDS:
                continue
            card = self._cards.setdefault(fault.bus, _Card())
            card.flags[fault.xid], card.text = at, fault.text
        for bus, card in self._cards.items():
            card.flags = {xid: since for xid, since in card.flags.items() if self._stands(bus, xid, since, at)}
        return [reading for bus, card in self._cards.items() for reading in read_flags(self._slots.subject(bus), card.flags, card.text, at)]

    def _stands(self, bus: str, xid: int, since: float, at: float) -> bool:
        return not self._slots.is_alive_since(bus, since) if xid == OFF_BUS else at - since < self._hold


def read_flags(subject: str, xids: Iterable[int], text: str, at: float) -> Iterator[Reading]:
    """A card's flags; one that fell off the bus is not present, whether the driver gave that a number or not."""
    flags = frozenset(f"XID{xid}" for xid in xids)
    yield make_reading(subject, "card.health", flags, "flags", at, text if flags else "")
    if f"XID{OFF_BUS}" in flags:
        yield make_reading(subject, "card.present", 0.0, "1", at, text)
