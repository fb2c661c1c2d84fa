"""Where the journal's blocking work is done: one thing at a time, and nobody waits for ever for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from logging import Logger
from typing import Protocol, TypeVar

from supernoded.clock import Clock
from supernoded.errors import JournalError

T = TypeVar("T")

PATIENCE = 5.0  # seconds; more than a statement's own time-out, less than an operator's


class Runner(Protocol):
    """Runs a function that blocks. Replay runs it inline."""

    def __call__(self, work: Callable[[], T], /) -> Awaitable[T]:
        """Run it and give its result."""
        ...


class Thread:
    """Runs work by `run`, else in one thread of the loop's executor port. A disk or server that hangs is given up on, and told once."""

    def __init__(self, run: Runner | None, place: str, clock: Clock, log: Logger) -> None:
        self._executor = ThreadPoolExecutor(1, "journal") if run is None else None
        self._run: Runner = self._run_in_executor if run is None else run
        self._place, self._clock, self._log = place, clock, log
        self._since: float | None = None  # when the work under way began
        self._told = False
        self._closed = False

    async def do(self, work: Callable[[], T], *, patience: float | None = None) -> T:
        """Give the result of `work`, within `patience` seconds (the default is `PATIENCE`). Raises JournalError."""
        if self._closed:
            raise JournalError(f"{self._place} is closed")
        if self._is_hanging():
            raise JournalError(self.trouble)
        return await self._wait_for(work, PATIENCE if patience is None else patience)

    async def do_to_the_end(self, work: Callable[[], T]) -> T:
        """Give the result of `work`, however long it takes: for work that must not be taken for undone when it was only slow."""
        return await self._wait_for(work, None)

    def close(self) -> None:
        """Take no more work. A thread that hangs is left behind."""
        self._closed = True
        if self._executor is not None:
            self._executor.shutdown(wait=False)

    @property
    def trouble(self) -> str:
        """Empty, or a sentence while the work under way takes too long."""
        since = self._since
        if since is None or not self._is_hanging():
            return ""
        return f"{self._place} has not answered for {self._clock.now() - since:.0f} s: its disk or server hangs"

    def _is_hanging(self) -> bool:
        since = self._since
        return since is not None and self._clock.now() - since > PATIENCE

    async def _wait_for(self, work: Callable[[], T], patience: float | None) -> T:
        def note_and_work() -> T:
            self._since = self._clock.now()
            try:
                return work()
            finally:
                self._since = None
                if self._told:
                    self._told = False
                    self._log.info("journal %s answers again", self._place)

        try:
            async with asyncio.timeout(patience):
                return await self._run(note_and_work)
        except TimeoutError as error:
            if not self._told:
                self._told = True
                self._log.error("journal %s did not answer within %.0f s: its disk or server hangs", self._place, patience)
            raise JournalError(f"{self._place} did not answer within {patience:.0f} s: its disk or server hangs") from error

    def _run_in_executor(self, work: Callable[[], T]) -> Awaitable[T]:
        return asyncio.get_running_loop().run_in_executor(self._executor, work)
