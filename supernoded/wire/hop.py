"""A bounded hop into a thread, for what may hang: one source never holds more than one thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from supernoded.errors import WireError

T = TypeVar("T")


class Hop:
    """Blocking work of one source, one piece at a time. While a piece hangs, the next ones are refused after their own time."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore()

    async def run(self, what: str, work: Callable[[], T], within: float) -> T:
        """Do `work` in a thread. Raises WireError after `within` seconds; work that has not begun by then never does."""
        given_up = False

        def begin() -> T:
            if given_up:
                raise WireError(f"{what}: nobody waits for it any more")
            return work()

        try:
            async with asyncio.timeout(within):
                await self._free.acquire()
                return await asyncio.shield(self._submit(begin))
        except TimeoutError as error:
            raise WireError(f"{what}: no answer within {within:g} s; the file system or device hangs, other sources go on") from error
        finally:
            given_up = True

    def _submit(self, begin: Callable[[], T]) -> asyncio.Future[T]:
        try:
            future = asyncio.ensure_future(asyncio.get_running_loop().run_in_executor(None, begin))
        except RuntimeError:  # the executor is shut down
            self._free.release()
            raise
        future.add_done_callback(self._settle)
        return future

    def _settle(self, future: asyncio.Future[T]) -> None:
        self._free.release()
        if not future.cancelled():
            future.exception()  # whoever gave up does not fetch it, and asyncio would complain
