"""Who the saves of `held.py` ask, half-way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Hold:
    """Lets all go on at once but for the ranks in `held`, whose next save stands still; `standing` has those that do."""

    held: set[int] = field(default_factory=set)
    standing: asyncio.Queue[int] = field(default_factory=asyncio.Queue)

    @asynccontextmanager
    async def serve(self, path: Path) -> AsyncIterator[None]:
        server = await asyncio.start_unix_server(self._answer, path)
        try:
            yield
        finally:
            server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        rank = int(await reader.readline())
        if rank in self.held:
            self.held.remove(rank)
            self.standing.put_nowait(rank)
            await reader.read()  # till it dies
        writer.close()
