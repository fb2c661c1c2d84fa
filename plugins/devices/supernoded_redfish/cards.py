"""The cards of a node as its BMC knows them: where the metrics of each are, and their limits."""

from __future__ import annotations

from collections.abc import Mapping

from supernoded.plugin import Http, WireError
from supernoded_redfish.limits import Limit, read_limit
from supernoded_redfish.paths import ROOT, find_number, list_members, name_last, place, read_link, read_text

WITHIN = 2.0  # seconds for one answer (ours): eight cards have to be read within the daemon's 3 s for one look
CARDS = frozenset({"Accelerator", "GPU", "TPU", "DSP"})  # ProcessorType (DSP0268); a CPU is never capped
MOST_SYSTEMS = 4
CHANGED = ": 412 "  # Precondition Failed


class Cards:
    """Asks one BMC. Where things are, is looked for once, and again after something was not there."""

    def __init__(self, http: Http, node: str, names: Mapping[str, str]) -> None:
        self.node, self._http, self._names = node, http, names
        self._known: dict[str, tuple[str, str]] = {}  # processor -> kind, path of its metrics: what a look that was cut short found
        self._metrics: dict[str, str] = {}

    async def find(self) -> Mapping[str, str]:
        """Path of its metrics by card. Raises WireError."""
        if not self._metrics:
            processors = [one for system in await self._list("Systems") for one in await self._list_processors(system)]
            for path in processors:
                if path not in self._known:
                    self._known[path] = _read_processor(await self._http.get(place(path), WITHIN))
            self._metrics = self._name([path for path in processors if self._known[path][0] in CARDS and self._known[path][1]])
            if not self._metrics:
                asked = ", ".join(f"{name_last(path)} ({self._known[path][0] or 'no type'})" for path in processors) or "none"
                raise WireError(f"{self.node}: its BMC shows no accelerator with EnvironmentMetrics; its processors are {asked}")
        return self._metrics

    async def read(self) -> Mapping[str, Limit]:
        """The limit of every card that has one. Raises WireError."""
        found: dict[str, Limit] = {}
        for card, path in (await self.find()).items():
            try:
                limit = read_limit(await self._http.get(place(path), WITHIN))
            except WireError:
                self.forget()
                raise
            if limit is not None:
                found[card] = limit
        return found

    async def write(self, scope: str, card: str, limit: Limit, body: Mapping[str, object]) -> None:
        """Write a limit, if it is still the one that was read. Raises WireError.

        Some services make the tag of readings too, which never stand still: then the limit is read again, and written when it is the same.
        """
        path = place(self._metrics[card])
        try:
            await self._http.order(scope, "PATCH", path, body, WITHIN, limit.tag)
        except WireError as error:
            if not limit.tag or CHANGED not in str(error):
                raise
            again = read_limit(await self._http.get(path, WITHIN))
            if again is None or (again.watts, again.mode) != (limit.watts, limit.mode):
                raise
            await self._http.order(scope, "PATCH", path, body, WITHIN, "*")

    def forget(self) -> None:
        """Look for everything anew."""
        self._known, self._metrics = {}, {}

    async def _list(self, collection: str) -> list[str]:
        return list_members(await self._http.get(f"{ROOT}/{collection}", WITHIN))[:MOST_SYSTEMS]

    async def _list_processors(self, system: str) -> list[str]:
        link = read_link((await self._http.get(place(system), WITHIN)).get("Processors"))
        return list_members(await self._http.get(place(link), WITHIN)) if link else []

    def _name(self, paths: list[str]) -> dict[str, str]:
        """Cards by the settings' word, else in the order of the numbers that their Ids end in."""
        if self._names:
            return {self._names[name_last(path)]: self._known[path][1] for path in paths if name_last(path) in self._names}
        ordered = sorted(paths, key=lambda path: (find_number(name_last(path)) or 0, path))
        return {f"{self.node}/card{slot}": self._known[path][1] for slot, path in enumerate(ordered)}


def _read_processor(body: Mapping[str, object]) -> tuple[str, str]:
    return read_text(body.get("ProcessorType")) or "", read_link(body.get("EnvironmentMetrics"))
