"""A cooling unit that speaks Redfish: where it is in its service, and where its parts are."""

from __future__ import annotations

from collections.abc import Mapping

from supernoded.plugin import Clock, Http, WireError
from supernoded_redfish.pages import Body, Page, Pages
from supernoded_redfish.paths import ROOT, list_members, place, read_link, walk_mappings

COLLECTIONS = tuple(f"{ROOT}/ThermalEquipment/{kind}" for kind in ("CDUs", "RPUs", "HeatExchangers", "ImmersionUnits"))

LEAKS = "LeakDetection"


class CoolingUnit:
    """One unit. Where things are is looked for once, and again after the unit was not there."""

    def __init__(self, cdu: str, http: Http, clock: Clock, path: str = "") -> None:
        self.cdu, self.http, self.clock = cdu, http, clock
        self.pages = Pages(http, clock)
        self.body: Body = {}  # as it was seen last
        self.given, self._path = place(path), ""
        self._chassis: Body = {}

    async def find(self) -> Body:
        """The unit itself, as it is now. Raises WireError."""
        path = self._path or self.given or await self._find_only()
        page = await self.pages.get(path)
        if isinstance(page, WireError):
            self._path, self._chassis = "", {}
            raise page
        self._path, self.body = path, page
        return page

    async def find_part(self, name: str) -> str:
        """The path of a collection of the unit's, or of the chassis that it is in; empty when there is none. Raises WireError."""
        own = read_link(self.body.get(name))
        if own:
            return own
        links = self.body.get("Links")
        chassis = read_link(next(walk_mappings(links.get("Chassis")), None)) if isinstance(links, Mapping) else ""
        if chassis and not self._chassis:
            self._chassis = _must_have(chassis, await self.pages.get(chassis))
        return read_link(self._chassis.get(name))

    async def find_detectors(self) -> str:
        """The path of its leak detectors; empty when it has none. Raises WireError."""
        detection = await self.find_part(LEAKS)
        return read_link(_must_have(detection, await self.pages.get(detection)).get("LeakDetectors")) if detection else ""

    async def list_part(self, name: str) -> Mapping[str, Body]:
        """The members of a part, by their paths. Raises WireError for one that cannot be had."""
        path = await self.find_part(name)
        found = await self.pages.get_members(path, lambda _: False) if path else {}
        if isinstance(found, WireError):
            raise found
        return {member: _must_have(member, page) for member, page in found.items()}

    async def _find_only(self) -> str:
        """The only unit of its service. Raises WireError."""
        asked: dict[str, Page] = {}
        for collection in COLLECTIONS:
            asked[collection] = page = await self.pages.get(collection)
            members = [] if isinstance(page, WireError) else list_members(page)
            if len(members) == 1:
                return members[0]
            if members:
                raise WireError(
                    f"{self.cdu}: {collection} has {', '.join(members)[:200]}; write the path of the one that is meant behind its host"
                )
        first = asked[COLLECTIONS[0]]
        raise (
            first if isinstance(first, WireError) else WireError(f"{self.cdu}: {COLLECTIONS[0]} is empty: the service has no cooling unit")
        )


def _must_have(path: str, page: Page | None) -> Body:
    if isinstance(page, WireError):
        raise page
    if page is None:
        raise WireError(f"{path}: there was no time for it; the pages before it took too long")
    return page
