"""The fleet's holder: gives leave to take something out, by the breakers, while it sees more than half of the site."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import msgspec

from supernoded.clock import Clock
from supernoded.cluster.fleet import breakers
from supernoded.cluster.fleet.breakers import Granted, Taken, Want
from supernoded.cluster.fleet.grants import Answer
from supernoded.errors import AdminError, JournalError
from supernoded.journal import entries
from supernoded.journal.writer import Journal
from supernoded.model import Hold, Latch
from supernoded.settings import Breakers

FLEET = "fleet"
BOOK = "grants"  # under which name the grants given are kept beside the role's lease
PREFIX = "breaker/"  # of the latches of breakers


class Grantor:
    """Answers one want at a time. What it has given is durable beside the role's lease before it is answered.

    `seat` gives journal and epoch of the role `fleet` while this node has it; `find_doubt` says why it may not be sure of the site.
    """

    def __init__(
        self,
        settings: Breakers,
        clock: Clock,
        holds: Callable[[], Sequence[Hold]],
        find_doubt: Callable[[], str],
        seat: Callable[[], tuple[Journal, int] | None],
    ) -> None:
        self._settings, self._clock, self._holds, self._find_doubt, self._seat = settings, clock, holds, find_doubt, seat
        self._turn = asyncio.Lock()
        self.tripped: tuple[Latch, ...] = ()  # as last seen

    async def grant(self, want: Want) -> Answer:
        """Decide, write down, answer. A refusal is an answer too."""
        async with self._turn:
            seat, doubt = self._seat(), self._find_doubt()
            if seat is None:
                return _refuse("this node no longer has the role fleet")
            if doubt:
                return _refuse(doubt)
            try:
                return await self._decide(want, *seat)
            except (JournalError, msgspec.MsgspecError) as error:  # FencedError is one of them
                return _refuse(f"the grant cannot be recorded: {error}")

    async def _decide(self, want: Want, journal: Journal, epoch: int) -> Answer:
        now = self._clock.now()
        await self.look(journal)
        given = breakers.prune(await self._recall(journal), self._settings, now)
        tripped = {latch.name.removeprefix(PREFIX): latch.text for latch in self.tripped}
        said = breakers.decide(want, self._holds(), given, tripped, self._settings, now)
        if isinstance(said, Granted):
            book = msgspec.json.encode(breakers.add(given, said.taken))
            await journal.commit(entries.keep_memory(FLEET, epoch, BOOK, book, now))
            text = f"granted for {said.taken.until - now:.0f} s"
            return Answer(granted=True, text=text, seconds=max(said.taken.until - self._clock.now(), 0.0))
        if said.trips:
            latch = Latch(name=PREFIX + said.trips, text=said.text, since=now)
            await journal.commit(entries.set_latch(latch, FLEET, epoch, now))
            await self.look(journal)
        return _refuse(said.text)

    async def _recall(self, journal: Journal) -> list[Taken]:
        book = (await journal.ask(entries.memories(FLEET))).get(BOOK, b"[]")
        return msgspec.json.decode(book, type=list[Taken])

    async def look(self, journal: Journal) -> None:
        """See which breakers have tripped. Raises JournalError."""
        self.tripped = tuple(latch for latch in await journal.ask(entries.latches()) if latch.name.startswith(PREFIX))

    async def list_given(self) -> list[Taken]:
        """The grants that still count; empty where this node does not have the role. Raises JournalError."""
        seat = self._seat()
        if seat is None:
            return []
        await self.look(seat[0])
        return breakers.prune(await self._recall(seat[0]), self._settings, self._clock.now())

    async def reset(self, name: str) -> Latch:
        """Take a person's word that it is well again. Raises AdminError, JournalError."""
        async with self._turn:
            seat = self._seat()
            if seat is None:
                raise AdminError("the breakers are kept by the holder of the role fleet, which this node is not")
            journal, epoch = seat
            await self.look(journal)
            latch = next((one for one in self.tripped if one.name == PREFIX + name), None)
            if latch is None:
                known = ", ".join(one.name.removeprefix(PREFIX) for one in self.tripped) or "none"
                raise AdminError(f"breaker {name!r} has not tripped; tripped: {known}")
            await journal.commit(entries.reset_latch(latch.name, FLEET, epoch, self._clock.now()))
            await self.look(journal)
            return latch


def _refuse(text: str) -> Answer:
    return Answer(granted=False, text=text)
