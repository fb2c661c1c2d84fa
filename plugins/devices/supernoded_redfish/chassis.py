"""Where a BMC has what tells of heat: its chassis, their sensors, fans, leak detectors and controls."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial

from supernoded.plugin import Clock, Http, WireError
from supernoded_redfish.facts import Fact, Key, join_facts
from supernoded_redfish.leaks import name_detectors, parse_detector
from supernoded_redfish.node_words import count_from_none, parse_fan, parse_fan_control, parse_node_sensor, parse_node_thermal
from supernoded_redfish.pages import Body, Pages
from supernoded_redfish.paths import ROOT, list_members, read_link
from supernoded_redfish.sources import Parse, Source

MOST_CHASSIS = 8  # that are looked into (ours); a board of accelerators has some twenty, most of them of one part each
AGAIN_S = 600.0  # between two looks for where things are (ours)
SOON_S = 30.0  # the same where some of the pages could not be had (ours)

# Leaks come first: a service that is too slow for all of a round must not keep them from being seen.
DETECTORS, CONTROLS, SENSORS, METRICS, FANS, THERMAL = KINDS = ("detectors", "controls", "sensors", "metrics", "fans", "thermal")


class Heat:
    """Everything of one node's BMC that has to do with heat."""

    def __init__(self, http: Http, clock: Clock, node: str, cards: Mapping[str, str], slots: int) -> None:
        self._pages, self._clock = Pages(http, clock), clock
        self._node, self._cards, self._slots = node, cards, 0 if cards else slots
        self._places: dict[str, dict[str, Source]] = {}  # by what they are, and by their paths
        self._look_at = 0.0
        self._first: dict[str, dict[str, int]] = {}  # number of the first card, fan ... by kind of page

    async def read(self) -> Mapping[Key, Fact]:
        """One look. Raises WireError when nothing can be had."""
        self._pages.begin()
        if not self._places or self._clock.now() >= self._look_at:
            await self._look()
        told: dict[Key, Fact] = {}
        troubles: list[WireError | None] = []
        for kind in KINDS:
            if kind in self._places and _is_needed(kind, told):
                told = join_facts(told.values(), await self._read_kind(kind, troubles))
        if troubles and None not in troubles:
            raise next(trouble for trouble in troubles if trouble is not None)
        return told

    async def _read_kind(self, kind: str, troubles: list[WireError | None]) -> list[Fact]:
        sources = self._places[kind].values()
        facts = [fact for source in sources for fact in await source.read(self._pages)]
        troubles += [source.trouble for source in sources]
        if kind == DETECTORS:
            return name_detectors(self._node, facts)
        return count_from_none(self._node, self._slots, facts, self._first.setdefault(kind, {}))

    async def _look(self) -> None:
        """Raises WireError when it has never been known where anything is."""
        chassis = await self._pages.get(f"{ROOT}/Chassis")
        if isinstance(chassis, WireError):
            if not self._places:
                raise chassis
            return
        self._look_at = self._clock.now() + AGAIN_S
        for path in list_members(chassis)[:MOST_CHASSIS]:
            await self._look_into(await self._follow(path))
        if not self._places:
            raise WireError(f"{self._node}: no chassis of its BMC has Sensors, ThermalSubsystem or Thermal, or none that can be read now")

    async def _look_into(self, chassis: Body) -> None:
        subsystem = await self._follow(read_link(chassis.get("ThermalSubsystem")))
        leaks = await self._follow(read_link(subsystem.get("LeakDetection")))
        self._put(SENSORS, chassis, "Sensors", partial(parse_node_sensor, self._node, self._cards))
        self._put(METRICS, subsystem, "ThermalMetrics", partial(parse_node_thermal, self._node, self._cards), single=True)
        self._put(FANS, subsystem, "Fans", partial(parse_fan, self._node))
        self._put(THERMAL, chassis, "Thermal", partial(parse_node_thermal, self._node, self._cards), single=True)
        self._put(DETECTORS, leaks, "LeakDetectors", partial(parse_detector, self._node))
        self._put(CONTROLS, chassis, "Controls", partial(parse_fan_control, self._node))

    async def _follow(self, link: str) -> Body:
        """A page, or nothing where there is none; where it cannot be had now, all is looked for again soon."""
        page = await self._pages.get(link) if link else {}
        if isinstance(page, WireError):
            self._look_at = min(self._look_at, self._clock.now() + SOON_S)
            return {}
        return page

    def _put(self, kind: str, body: Body, name: str, parse: Parse, *, single: bool = False) -> None:
        """Keep the one that is there, which remembers."""
        path = read_link(body.get(name))
        if path:
            self._places.setdefault(kind, {}).setdefault(path, Source(path, parse, single=single))


def _is_needed(kind: str, told: Collection[Key]) -> bool:
    """The newer forms and the older one are asked for what the sensors do not tell."""
    fans = any(quantity.startswith("fan.s") for _, quantity in told)
    warm = any("temperature" in quantity for _, quantity in told)
    return {METRICS: not warm, FANS: not fans, THERMAL: not warm or not fans}.get(kind, True)
