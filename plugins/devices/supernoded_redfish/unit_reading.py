"""What a cooling unit tells: its sensors first, then what quotes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from supernoded.plugin import WireError
from supernoded_redfish.facts import Fact, Key, join_facts
from supernoded_redfish.leaks import name_detectors, parse_detector
from supernoded_redfish.monitor import show
from supernoded_redfish.paths import read_text
from supernoded_redfish.sources import Parse, Source
from supernoded_redfish.unit import LEAKS, CoolingUnit
from supernoded_redfish.unit_words import (
    PRIMARY,
    SECONDARY,
    choose_mode,
    parse_connector,
    parse_pump,
    parse_reservoir,
    parse_unit_control,
    parse_unit_sensor,
)

SOON_S = 10.0  # between two looks at where its parts are, while that of some is not known (ours)
AGAIN_S = 60.0  # between two looks at the unit itself, and at pages that only quote its sensors (ours)
SENSORS = "Sensors"
LIVE = (LEAKS, "Controls", "Pumps", SENSORS)  # leaks first: a slow service must not keep them from being seen
QUOTING = ("PrimaryCoolantConnectors", "SecondaryCoolantConnectors", "Reservoirs")
LABELS: Mapping[str, str] = {"Model": "coolant.model", "SerialNumber": "coolant.serial"}


class UnitReading:
    """Asks for few pages each time: a collection of sensors that comes in one page is all that most units need."""

    def __init__(self, unit: CoolingUnit) -> None:
        self._unit = unit
        self._roles: dict[str, Key] = {}  # by the path of a sensor
        self._parses: Mapping[str, Parse] = {
            "PrimaryCoolantConnectors": partial(parse_connector, unit.cdu, PRIMARY),
            "SecondaryCoolantConnectors": partial(parse_connector, unit.cdu, SECONDARY),
            "Reservoirs": partial(parse_reservoir, unit.cdu),
            LEAKS: partial(parse_detector, unit.cdu),
            "Controls": partial(parse_unit_control, unit.cdu),
            "Pumps": partial(parse_pump, unit.cdu),
            SENSORS: partial(parse_unit_sensor, unit.cdu, self._roles),
        }
        self._sources: dict[str, Source] = {}
        self._look_at = 0.0
        self._labels: tuple[Fact, ...] = ()

    async def read(self) -> Mapping[Key, Fact]:
        """Everything. Raises WireError when the unit cannot be found, or nothing of it can be had."""
        self._unit.pages.begin()
        await self._look()
        live = {name: await self._sources[name].read(self._unit.pages) for name in LIVE if name in self._sources}
        if live and all(self._sources[name].trouble is not None for name in live):
            raise next(trouble for name in live if (trouble := self._sources[name].trouble) is not None)
        told = join_facts(self._labels, live.pop(SENSORS, []), name_detectors(self._unit.cdu, live.pop(LEAKS, [])), *live.values())
        told = join_facts(told.values(), *[await source.read(self._unit.pages) for source in self._list_needed(told)])
        choose_mode(self._unit.cdu, told)
        return told

    def _list_needed(self, told: Mapping[Key, Fact]) -> list[Source]:
        """Pages that say what no sensor does."""
        quoting = [source for name, source in self._sources.items() if name in QUOTING]
        return [source for source in quoting if any(fact.key not in told for fact in source.list_last())]

    async def _look(self) -> None:
        """Once a minute; raises WireError when it has never been found."""
        if self._sources and self._unit.clock.now() < self._look_at:
            return
        try:
            self._labels = tuple(self._tell_labels(await self._unit.find()))
        except WireError as error:
            if not self._sources:
                raise
            self._labels = tuple(label._replace(value=None, note=str(error)) for label in self._labels)
            return
        whole = await self._place_sources()
        await self._read_roles()
        self._look_at = self._unit.clock.now() + (AGAIN_S if whole else SOON_S)

    async def _place_sources(self) -> bool:
        """Whether the place of each part could be told."""
        whole = True
        for name, parse in self._parses.items():
            try:
                path = await self._unit.find_detectors() if name == LEAKS else await self._unit.find_part(name)
            except WireError:
                whole = False
                continue
            known = self._sources.get(name)
            if path and (known is None or known.path != path):
                self._sources[name] = Source(path, parse)
        return whole

    async def _read_roles(self) -> None:
        """Which sensor is what, by the pages that quote it."""
        facts = [fact for name in (*QUOTING, "Pumps") if name in self._sources for fact in await self._sources[name].read(self._unit.pages)]
        roles = {fact.link: fact.key for fact in facts if fact.link}
        if roles != self._roles and SENSORS in self._sources:
            self._roles.update(roles)
            self._sources[SENSORS].look_again()

    def _tell_labels(self, body: Mapping[str, object]) -> Iterator[Fact]:
        for key, quantity in LABELS.items():
            text = read_text(body.get(key))
            yield Fact(self._unit.cdu, quantity, text, "text", "" if text else f"{key} is {show(body.get(key))}")
