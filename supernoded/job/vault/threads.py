"""Work that may hang, beside the loop: a port, so that it runs in virtual time too."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

T = TypeVar("T")


class Beside(Protocol):
    """One thread: what is started waits for what was started before it."""

    def start(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Do it there."""
        ...

    def close(self) -> None:
        """Do nothing more; what hangs is left behind."""
        ...


class SystemThread:
    """The machine's."""

    def __init__(self, name: str) -> None:
        self._executor = ThreadPoolExecutor(1, name)

    def start(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """See `Beside.start`."""
        return asyncio.get_running_loop().run_in_executor(self._executor, work)

    def close(self) -> None:
        """See `Beside.close`."""
        self._executor.shutdown(wait=False, cancel_futures=True)
