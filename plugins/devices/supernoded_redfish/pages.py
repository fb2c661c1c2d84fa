"""The pages of one service, read in rounds: every wait is bounded, so is a round, and a page that is slow costs only itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from supernoded.plugin import Clock, Http, WireError
from supernoded_redfish.paths import list_members, place, read_link, walk_mappings

Body = Mapping[str, object]
Page = Body | WireError

WITHIN = 2.0  # seconds for one answer (ours)
ROUND = 6.0  # seconds for all pages of a round; what is not asked for by then is asked for in the next one (ours)
REST = 10.0  # seconds for which a page that did not come in time is left alone (ours)
PLAIN = 600.0  # seconds for which it is believed that a collection cannot be had with its members in it (ours)
MOST_ASKED = 4096  # members whose turn is remembered (ours)
MOST_PARTS = 8  # of one collection that comes in parts (ours)
EXPAND = "?$expand=."  # members and all (DSP0266, query parameters)
NEXT = "Members@odata.nextLink"


class Pages:
    """Asks one service. What cannot be had is a WireError in its place."""

    def __init__(self, http: Http, clock: Clock) -> None:
        self._http, self._clock = http, clock
        self._due = math.inf
        self._resting: dict[str, tuple[float, WireError]] = {}
        self._plain: dict[str, float] = {}
        self._asked: dict[str, float] = {}  # when each member was asked for last

    def begin(self) -> None:
        """A new round."""
        now = self._clock.now()
        self._due = now + ROUND
        self._resting = {path: rest for path, rest in self._resting.items() if now < rest[0]}

    def now(self) -> float:
        """On our clock."""
        return self._clock.now()

    async def get(self, path: str) -> Page:
        """One page."""
        now = self._clock.now()
        until, error = self._resting.get(path, (0.0, None))
        if error is not None and now < until:
            return error
        left = self._due - now
        if left <= 0.0:
            return WireError(f"{path[:100]}: not asked for in this round: the pages before it took {ROUND:g} s")
        try:
            return await self._http.get(place(path), min(WITHIN, left))
        except WireError as failure:
            if self._clock.now() - now >= WITHIN / 2.0:
                self._resting[path] = self._clock.now() + REST, failure
            return failure

    async def get_members(self, path: str, skip: Callable[[str], bool]) -> Mapping[str, Page | None] | WireError:
        """The members of a collection by their paths: in one page where the service can, else one by one.

        None = left out in this round: it was to be skipped, or there was no time for it, and then it comes first in the next one.
        """
        if self._clock.now() < self._plain.get(path, 0.0):
            return await self._get_singly(await self._get_parts(path), skip)
        page = await self._get_parts(f"{path}{EXPAND}")
        if not isinstance(page, WireError):
            members = _list_bodies(page)
            if members or not list_members(page):
                return members
        bare = await self._get_parts(path) if isinstance(page, WireError) else page
        if not isinstance(bare, WireError):
            self._plain[path] = self._clock.now() + PLAIN
        return await self._get_singly(bare, skip)

    async def _get_singly(self, collection: Page, skip: Callable[[str], bool]) -> Mapping[str, Page | None] | WireError:
        if isinstance(collection, WireError):
            return collection
        members = list_members(collection)
        found: dict[str, Page | None] = dict.fromkeys(members)
        for path in sorted(members, key=lambda path: self._asked.get(path, 0.0)):
            if self._clock.now() + WITHIN <= self._due and not skip(path):
                self._asked[path] = self._clock.now()
                found[path] = await self.get(path)
        self._asked = dict(sorted(self._asked.items(), key=lambda item: item[1])[-MOST_ASKED:])
        return found

    async def _get_parts(self, path: str) -> Page:
        """A collection, whole; one that comes in parts is joined (DSP0266, Members@odata.nextLink)."""
        members: list[object] = []
        for _ in range(MOST_PARTS):
            page = await self.get(path)
            if isinstance(page, WireError):
                return page
            found, following = page.get("Members"), page.get(NEXT)
            members += found if isinstance(found, list) else []
            if not isinstance(following, str) or not following:
                break
            path = following
        return {"Members": members}


def _list_bodies(collection: Body) -> dict[str, Page | None]:
    """Members that are more than a link."""
    return {path: body for body in walk_mappings(collection.get("Members")) if len(body) > 1 and (path := read_link(body))}
