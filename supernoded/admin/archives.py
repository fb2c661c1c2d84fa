"""The journals that know what was done here: the node's own, and the database of the roles. One that does not answer is said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from supernoded.errors import JournalError
from supernoded.house import House
from supernoded.journal.queries import Found
from supernoded.journal.rows import Question
from supernoded.journal.writer import Journal

T = TypeVar("T")


class Archives:
    """For one request; `unread` says at its end what could not be asked, empty when all could."""

    def __init__(self, house: House) -> None:
        self.own = house.journal
        self._journals = [journal for journal in (house.journal, house.database) if journal is not None]
        self._failures: dict[str, str] = {}

    @property
    def unread(self) -> str:
        """A sentence."""
        return "; ".join(f"{place} could not be read: {why}" for place, why in self._failures.items())

    async def ask(self, question: Question[T]) -> list[T]:
        """The answer of each that gives one, the node's own first. Raises JournalError when none does."""
        found = []
        for journal in self._journals:
            try:
                found.append(await self._ask(journal, question))
            except JournalError as error:
                self._failures[journal.place] = str(error)
        if not found:
            raise JournalError(self.unread)
        return found

    async def _ask(self, journal: Journal, question: Question[T]) -> T:
        """A database that is known to be lost is not waited for: its time-outs are longer than a person's patience."""
        if journal is not self.own and journal.health:
            raise JournalError(journal.health)
        return await journal.ask(question)

    async def find_first(self, question: Question[T | None]) -> T | None:
        """Of the first that knows it."""
        return next((answer for answer in await self.ask(question) if answer is not None), None)

    async def find_rows(self, question: Question[Found[T]], newest: Callable[[T], float], limit: int) -> Found[T]:
        """The newest of all."""
        found = await self.ask(question)
        rows = sorted((row for one in found for row in one.rows), key=lambda row: -newest(row))
        return Found(rows=tuple(rows[:limit]), left_off=sum(one.left_off for one in found) + max(len(rows) - limit, 0))

    async def list_all(self, question: Question[list[T]]) -> Sequence[T]:
        """Everything of everybody."""
        return [row for rows in await self.ask(question) for row in rows]
