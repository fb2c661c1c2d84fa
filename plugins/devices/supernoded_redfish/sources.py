"""One page, or one collection of pages, and the facts that were last found on each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

from supernoded.plugin import WireError
from supernoded_redfish.facts import Fact
from supernoded_redfish.pages import Body, Page, Pages

Parse = Callable[[str, Body], Iterable[Fact]]  # of a path and its page; never raises for what is written there

MOST_FACTS = 1024  # of one source (ours): a confused service may call its members anything


class Source:
    """What it has found once is UNKNOWN, with the reason, as long as its page cannot be had."""

    def __init__(self, path: str, parse: Parse, *, single: bool = False) -> None:
        self.path = path
        self._parse, self._single = parse, single
        self._facts: dict[str, tuple[Fact, ...]] = {}
        self.trouble: WireError | None = None  # of the last read as a whole

    async def read(self, pages: Pages) -> list[Fact]:
        """One look."""
        found = await self._get(pages)
        self.trouble = found if isinstance(found, WireError) else None
        if isinstance(found, WireError):
            for path in self._facts:
                self._lose(path, str(found), pages.now())
        else:
            self._take(found, pages.now())
        return list(self.list_last())

    def list_last(self) -> Iterator[Fact]:
        """What the last look found."""
        for facts in self._facts.values():
            yield from facts

    async def _get(self, pages: Pages) -> Mapping[str, Page | None] | WireError:
        if not self._single:
            return await pages.get_members(self.path, self._is_of_no_use)
        page = await pages.get(self.path)
        return page if isinstance(page, WireError) else {self.path: page}

    def _take(self, found: Mapping[str, Page | None], now: float) -> None:
        """What is no longer shown is dropped, and told as missing by whoever reads sensors."""
        self._facts = {path: facts for path, facts in self._facts.items() if path in found}
        room = MOST_FACTS - sum(map(len, self._facts.values()))
        for path, page in found.items():
            if isinstance(page, WireError):
                self._lose(path, str(page), now)
            elif page is not None:
                before = len(self._facts.get(path, ()))
                facts = islice(self._parse(path, page), before + room)
                self._facts[path] = tuple(fact._replace(at=now) for fact in facts)
                room -= len(self._facts[path]) - before

    def look_again(self) -> None:
        """At pages that said nothing of interest: what is of interest has changed."""
        self._facts = {path: facts for path, facts in self._facts.items() if facts}

    def _lose(self, path: str, why: str, now: float) -> None:
        if path in self._facts:
            self._facts[path] = tuple(fact._replace(value=None, note=why, stamp="", at=now) for fact in self._facts[path])

    def _is_of_no_use(self, path: str) -> bool:
        """A page that said nothing of interest is not asked for again."""
        return path in self._facts and not self._facts[path]
