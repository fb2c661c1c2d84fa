"""What `nvidia-smi` shows of the cards of this machine, and of their links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from supernoded.plugin import NODE, Node, Reading, Tree, make_reading
from supernoded_nvidia.cards import read_loss, read_sheet
from supernoded_nvidia.document import Document, parse_xml
from supernoded_nvidia.nvlink import LINKS_UP, Card, parse_errors, parse_status
from supernoded_nvidia.settings import NvidiaSettings
from supernoded_nvidia.slots import Slots, read_bus, sort_buses
from supernoded_nvidia.smi import Smi, Told, ask, measure_longest

SLACK = 5.0  # seconds; a tree gives up after 3
END_OF_DOCUMENT = "</nvidia_smi_log>"
UNMAPPED = "in which slot it is cannot be told: fewer or more cards are seen than are declared; name it under [plugins.nvidia] cards"


class Census:
    """Whether this machine has such cards at all, by the driver's own list and the settings."""

    def __init__(self, driver: Tree, slots: Slots) -> None:
        self._driver, self._slots = driver, slots

    async def take(self) -> list[str]:
        """The bus ids of all cards that are known, in order; none on a machine without one. Raises WireError."""
        listed = [bus for name in await self._driver.names() if (bus := read_bus(name))]
        if listed:
            self._slots.learn(listed)
        return sort_buses(self._slots.known)


class CardSensor:
    """Every card. A machine without one is not asked, and nothing is wrong with it."""

    name, scope = "nvidia.smi", NODE

    def __init__(self, node: Node, settings: NvidiaSettings, smi: Smi, slots: Slots, census: Census) -> None:
        self._clock, self._smi, self._slots, self._census = node.clock, smi, slots, census
        self.period = settings.period_s
        self.timeout = measure_longest(settings.within_s) + SLACK

    async def read(self) -> Sequence[Reading]:
        """The whole document; where it cannot be had, each card by itself."""
        known = await self._census.take()
        if not known:
            return []
        async with self._smi.reserved():
            began = self._clock.now()
            told = await ask(self._smi, known, (), ("-q", "-x"), END_OF_DOCUMENT)
        documents = {bus: parse_xml(one.printed) if not one.trouble else Document(()) for bus, one in told.items()}
        if "" in documents:
            self._learn(documents[""])
        return [reading for bus in self._list(told, documents) for reading in self._read(bus, told, documents, began)]

    def _learn(self, document: Document) -> None:
        serials = {sheet.bus: sheet.facts.get("serial", "") for sheet in document.sheets}
        uuids = {sheet.bus: sheet.facts.get("uuid", "") for sheet in document.sheets}
        self._slots.learn(serials, serials, uuids)

    def _list(self, told: Mapping[str, Told], documents: Mapping[str, Document]) -> list[str]:
        shown = {sheet.bus for document in documents.values() for sheet in document.sheets}
        return sort_buses({*self._slots.known, *shown, *(bus for bus in told if bus)})

    def _read(self, bus: str, told: Mapping[str, Told], documents: Mapping[str, Document], began: float) -> Iterator[Reading]:
        subject, at = self._slots.subject(bus), self._clock.now()
        one = told.get(bus) or told.get("") or Told(trouble="it was not asked for")
        document = documents.get(bus) or documents.get("") or Document(())
        sheet = next((sheet for sheet in document.sheets if sheet.bus == bus), None)
        if bus in one.lost:
            yield from read_loss(subject, one.lost[bus], at)
        elif sheet is None:
            why = one.trouble or document.trouble or f"not among the {len(document.sheets)} cards that the tool shows"
            yield make_reading(subject, "card.present", None, "1", at, why)
        else:
            presence, *others = read_sheet(sheet, subject, at)
            if presence.value == 1.0:
                self._slots.mark_alive(bus, began)
                if not self._slots.is_mapped(bus):
                    presence = make_reading(subject, presence.quantity, presence.value, presence.unit, at, UNMAPPED)
            yield from (presence, *others)


class NvlinkSensor:
    """Every link of every card. A card without links has none here."""

    name, scope = "nvidia.nvlink", NODE

    def __init__(self, node: Node, settings: NvidiaSettings, smi: Smi, slots: Slots, census: Census) -> None:
        self._clock, self._smi, self._slots, self._census = node.clock, smi, slots, census
        self.period = settings.nvlink_period_s
        self.timeout = 2 * measure_longest(settings.within_s) + SLACK

    async def read(self) -> Sequence[Reading]:
        """States, then counters."""
        known = await self._census.take()
        if not known:
            return []
        found: list[Reading] = []
        for flag, parse in (("-s", parse_status), ("-e", parse_errors)):
            async with self._smi.reserved():
                told = await ask(self._smi, known, ("nvlink",), (flag,))
            at = self._clock.now()
            for bus, one in told.items():
                why = one.trouble or one.lost.get(bus, "")
                if not why:
                    found += parse(one.printed, self._name(bus), at)
                elif bus and parse is parse_status:
                    found.append(make_reading(self._slots.subject(bus), LINKS_UP, None, "1", at, why))
        return found

    def _name(self, bus: str) -> Card:
        """How a run's cards are called: a run for one card speaks of that one, whatever number it gives it."""
        return (lambda _number, _uuid: self._slots.subject(bus)) if bus else self._slots.subject_by_uuid
