"""An event loop whose time is a number: the selector never waits, it jumps to the next timer."""

from __future__ import annotations

import asyncio
import heapq
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextvars import Context, copy_context
from dataclasses import dataclass
from typing import Any, TypeVar, TypeVarTuple

from sim_hardware.loop.process import HERE, Process, TimedTurn, Turn
from sim_hardware.loop.tasks import StableFuture, StableTask

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

RESOLUTION = 1e-9  # seconds within which timers are due together
FEW = 100  # cancelled timers that are left where they are
BUSY_LIMIT = 100_000  # rounds without time passing; a busy wait is caught within a second or so, real work needs a few hundred


class Deadlock(RuntimeError):  # noqa: N818 - the trade's word
    """Nothing is due and nothing is ready; the message names the tasks that wait."""


class Livelock(RuntimeError):  # noqa: N818 - the trade's word
    """Callbacks go on for ever without time passing."""


@dataclass(frozen=True)
class Failure:
    """An exception that nobody caught, or another complaint of the loop."""

    at: float
    process: str
    message: str
    error: BaseException | None


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Virtual time, turns that belong to processes, stable hashes, and no exception that vanishes.

    What belongs to no process belongs to `site`, the process that is always there.
    """

    _ready: deque[Turn | TimedTurn]  # the stdlib's own queue: the loop has no other door for a handle of one's own class
    _stopping: bool
    _thread_id: int | None
    _timer_cancelled_count: int

    def __init__(self) -> None:
        self._at = 0.0
        self._number = 0
        self._busy = 0
        self.failures: list[Failure] = []
        self._timers: list[tuple[float, int, TimedTurn]] = []  # a heap; of two that are due together the one made first comes first
        super().__init__()
        self.site = Process("site", 0, "site", 1, self.create_future())
        self.lives = [self.site]  # every process that ever was, in order of birth

    # time

    def time(self) -> float:
        """Virtual seconds since the start."""
        return self._at

    def _run_once(self) -> None:
        """The stdlib's round, but that it jumps to the next timer where that would wait."""
        self._drop_cancelled()
        timers, ready = self._timers, self._ready
        self._pass_time(wait=not ready and not self._stopping)
        due = self._at + RESOLUTION
        while timers and timers[0][0] < due:
            ready.append(heapq.heappop(timers)[2])
        for _ in range(len(ready)):
            turn = ready.popleft()
            if not turn.cancelled():
                turn.take()

    def _drop_cancelled(self) -> None:
        """Timers that were cancelled: the next ones, and all where they are most."""
        timers = self._timers
        if self._timer_cancelled_count > FEW and 2 * self._timer_cancelled_count > len(timers):
            timers[:] = [timer for timer in timers if not timer[2].cancelled()]
            heapq.heapify(timers)
            self._timer_cancelled_count = 0
        while timers and timers[0][2].cancelled():
            heapq.heappop(timers)
            self._timer_cancelled_count -= 1

    def _pass_time(self, *, wait: bool) -> None:
        if wait and not self._timers:
            raise Deadlock(f"at {self._at:.3f} s nothing is due; waiting: {', '.join(self.waiting()) or 'no task'}")
        if wait and self._timers[0][0] > self._at:
            self._at, self._busy = float(self._timers[0][0]), 0
            return
        self._busy += 1
        if self._busy > BUSY_LIMIT:
            raise Livelock(f"at {self._at:.3f} s {BUSY_LIMIT} rounds passed and no time; running: {', '.join(self.waiting())}")

    def waiting(self) -> list[str]:
        """The tasks that are not done, by process and name; those of a paused process say so."""
        living = [process for process in self.lives if not process.dead]
        return [
            f"{process}/{task.get_name()}{' (paused)' if process.paused else ''}"
            for process in living
            for task in process.tasks
            if not task.done()
        ]

    # turns

    def number(self) -> int:
        """The next number of this loop."""
        self._number += 1
        return self._number

    def owner(self, context: Context) -> Process:
        """The process that a context belongs to; one that belongs to none is given to the running process, for good."""
        process = context.get(HERE)
        if process is None:
            process = HERE.get(self.site)
            context.run(HERE.set, process)
        return process

    def call_soon(self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None) -> asyncio.Handle:
        """Run a callback in the next round, as the process of its context."""
        self._refuse_closed()
        context = copy_context() if context is None else context
        turn = Turn(callback, args, self, context=context, process=self.owner(context))
        self._ready.append(turn)
        return turn

    def call_soon_threadsafe(self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None) -> asyncio.Handle:
        """The same as `call_soon`. Raises RuntimeError in a thread of its own, whose timing no seed decides."""
        if self._thread_id not in {None, threading.get_ident()}:
            raise RuntimeError("a thread calls into virtual time; give its work to run_in_executor, which runs it inline")
        return self.call_soon(callback, *args, context=context)

    def call_at(self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None) -> asyncio.TimerHandle:
        """Run a callback at a virtual time, as the process of its context."""
        self._refuse_closed()
        context = copy_context() if context is None else context
        turn = TimedTurn(when, callback, args, self, context=context, process=self.owner(context))
        heapq.heappush(self._timers, (when, self.number(), turn))
        return turn

    def _refuse_closed(self) -> None:
        if self.is_closed():
            raise RuntimeError("Event loop is closed")

    # tasks and futures

    def create_future(self) -> asyncio.Future[Any]:
        """A future with a stable hash."""
        return StableFuture(loop=self, number=self.number())

    def create_task(
        self, coro: Coroutine[Any, Any, T] | Generator[Any, None, T], *, name: object = None, context: Context | None = None
    ) -> asyncio.Task[T]:
        """A task with a stable hash, kept by its process."""
        if self.is_closed():
            coro.close()  # else it complains that it was never awaited
        self._refuse_closed()
        context = copy_context() if context is None else context
        process = self.owner(context)
        task = StableTask(coro, loop=self, number=self.number(), name=None if name is None else str(name), context=context)
        process.adopt(task)
        return task

    def _asyncgen_firstiter_hook(self, agen: AsyncGenerator[Any, Any]) -> None:
        HERE.get(self.site).generators[self.number()] = agen

    # failures

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Keep the failure, then do what the stdlib does with it. A cancellation is none: asyncio's streams re-raise it in a callback."""
        handle, error = context.get("handle"), context.get("exception")
        process = handle.process if isinstance(handle, Turn | TimedTurn) else HERE.get(self.site)
        if process.dead or isinstance(error, asyncio.CancelledError):
            return
        self.failures.append(Failure(self._at, str(process), str(context.get("message", "")), error))
        super().call_exception_handler(context)
