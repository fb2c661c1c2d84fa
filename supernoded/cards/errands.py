"""Work that takes longer than an order may: begun once for each key, looked after, and its end remembered."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from supernoded.clock import Clock
from supernoded.errors import FailedError, SupernodedError
from supernoded.supervisor import BUGS, describe

SOON = 1.0  # seconds that an order waits for its errand: whoever has it done from another node waits for an answer (ours)
MOST = 256  # ends that are remembered (ours)


@dataclass
class Errand:
    """One piece of work. `trouble` says why there is no end of it, or that it has `failed`; `text` what it has found."""

    began: float
    running: bool = True
    text: str = ""
    trouble: str = ""
    failed: bool = False  # it came to its end, and that is bad; what could not be done to its end has not failed


class Errands:
    """All of one kind."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[str, Errand] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def find(self, key: str) -> Errand | None:
        """The newest of this key."""
        return self._known.get(key)

    def begin(self, key: str, work: Coroutine[Any, Any, str]) -> None:
        """Do it, unless it is being done. What it returns is its text, and what it raises its trouble."""
        if key in self._tasks:
            work.close()
            return
        self._known.pop(key, None)
        while len(self._known) >= MOST and len(self._tasks) < MOST:
            del self._known[next(one for one in self._known if one not in self._tasks)]
        errand = self._known[key] = Errand(self._clock.now())
        self._tasks[key] = asyncio.create_task(_do(errand, work), name=key)
        self._tasks[key].add_done_callback(lambda _: self._tasks.pop(key, None))

    async def wait(self, key: str, within: float | None = None) -> None:
        """Until it is over, if it is under way, or for so many seconds."""
        if (task := self._tasks.get(key)) is not None:
            await asyncio.wait({task}, timeout=within)

    def stop(self) -> None:
        """Give up what is under way."""
        for task in list(self._tasks.values()):
            task.cancel()


async def _do(errand: Errand, work: Coroutine[Any, Any, str]) -> None:
    errand.trouble = "it was given up"
    try:
        errand.text = await work
        errand.trouble = ""
    except SupernodedError as error:
        errand.trouble, errand.failed = str(error), isinstance(error, FailedError)
    except BUGS as error:  # such as a device plugin's: it costs this piece of work alone
        errand.trouble = describe(error)
    finally:
        errand.running = False
