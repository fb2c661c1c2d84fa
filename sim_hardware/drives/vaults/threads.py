"""A thread in virtual time: it runs while the loop stands still, and the loop goes on while it waits. Only one of the two ever runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from sim_hardware.loop import Process, SimLoop

T = TypeVar("T")

_HERE = threading.local()  # the baton of the thread that asks


def spend(seconds: float) -> None:
    """Let virtual time pass in a thread of ours; elsewhere none does."""
    baton: Baton[Any] | None = getattr(_HERE, "baton", None)
    if baton is not None:
        baton.spend(seconds)


class Killed(BaseException):
    """The thread's process has been killed: no error, and nothing of the thread's own may catch it."""


class Baton(Generic[T]):
    """One piece of work in a thread of its own."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._mine, self._yours = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="baton", daemon=True)
        self._seconds = 0.0
        self._result: list[T] = []
        self._error: BaseException | None = None
        self._killed = self.done = False

    def hand_over(self) -> float:
        """Let it run until it lets time pass, and give how much; when it has ended, `done` is set."""
        self._yours.clear()
        if self._thread.ident is None:
            self._thread.start()
        self._mine.set()
        self._yours.wait()
        return self._seconds

    def take(self) -> T:
        """What came of it. Raises what it raised."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._result[0]

    def kill(self) -> None:
        """End it where it stands."""
        if self._thread.ident is not None and not self.done:
            self._killed = True
            self.hand_over()
            self._thread.join()

    def spend(self, seconds: float) -> None:
        """Called in the thread."""
        self._seconds = seconds
        self._yours.set()
        self._wait()

    def _wait(self) -> None:
        self._mine.wait()
        self._mine.clear()
        if self._killed:
            raise Killed

    def _run(self) -> None:
        _HERE.baton = self
        try:
            self._wait()
            self._result.append(self._work())
        except BaseException as error:  # noqa: BLE001 - it belongs to who awaits the work
            self._error = error
        self.done = True
        self._yours.set()


class SimThread:
    """See `supernoded.job.vault.threads.Beside`: a thread of a process, which ends with it."""

    def __init__(self, loop: SimLoop, process: Process) -> None:
        self._loop, self._process = loop, process
        self._free = asyncio.Lock()
        self._baton: Baton[Any] | None = None
        loop.on_end.append(self._end)

    def start(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """See `Beside.start`."""
        return asyncio.ensure_future(self._carry(work))

    def close(self) -> None:
        """See `Beside.close`."""
        if self._baton is not None:
            self._baton.kill()

    async def _carry(self, work: Callable[[], T]) -> T:
        async with self._free:
            baton = Baton(work)
            self._baton = baton
            while True:
                seconds = baton.hand_over()
                if baton.done:
                    return baton.take()
                await asyncio.sleep(seconds)

    def _end(self, process: Process) -> None:
        if process is self._process:
            self.close()
