"""Whose turn it is on a line: one at a time, orders before polls, else as they came."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """A lock with two classes of people waiting."""

    def __init__(self) -> None:
        self._taken = False
        self._came = 0
        self._waiting: list[tuple[bool, int, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def take(self, *, urgent: bool) -> AsyncIterator[None]:
        """Wait for one's turn; it lasts as long as the block."""
        await self._wait(urgent)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, urgent: bool) -> None:
        if not self._taken:
            self._taken = True
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._came += 1
        heapq.heappush(self._waiting, (not urgent, self._came, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._pass_on()  # the turn had come in the same moment
            raise

    def _pass_on(self) -> None:
        while self._waiting:
            _, _, turn = heapq.heappop(self._waiting)
            if not turn.done():
                turn.set_result(None)
                return
        self._taken = False
