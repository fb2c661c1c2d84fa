"""The outbox's letters in the node's journal."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.cluster.link.outbox import Letter
from supernoded.journal import entries
from supernoded.journal.writer import Journal


class JournalStore:
    """See `outbox.Store`."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    async def put_message(self, letter: Letter) -> bool:
        """See `Store.put_message`."""
        return await self._journal.commit(entries.put_message(letter))

    async def next_messages(self, count: int) -> Sequence[Letter]:
        """See `Store.next_messages`."""
        return await self._journal.ask(entries.next_messages(count))

    async def delete_messages(self, ids: Sequence[str]) -> None:
        """See `Store.delete_messages`."""
        await self._journal.commit(entries.delete_messages(ids))

    async def count_messages(self) -> int:
        """See `Store.count_messages`."""
        return await self._journal.ask(entries.count_messages())

    async def trim_messages(self, limit: int) -> int:
        """See `Store.trim_messages`."""
        return await self._journal.commit(entries.trim_messages(limit))
