"""keep(): restart what fails, with a growing pause, and say so once. bounded(): an answer from a plugin within its time, or a WireError."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from supernoded.clock import Clock
from supernoded.errors import WireError

T = TypeVar("T")

BUGS = (Exception, SystemExit)  # what a plugin's code may raise: it must not end the daemon
FIRST_PAUSE = 1.0  # seconds before the first restart
LONGEST_PAUSE = 60.0
SETTLED = 30.0  # seconds of running after which a part counts as recovered


class Condition(msgspec.Struct, frozen=True, kw_only=True):
    """How one kept part is doing. `text` is empty while it is well."""

    name: str
    since: float
    text: str = ""
    restarts: int = 0


class Health:
    """One daemon's table of its parts; a change of condition is logged once on entry and once on recovery."""

    def __init__(self, clock: Clock, log: logging.Logger) -> None:
        self._clock, self._log = clock, log
        self._table: dict[str, Condition] = {}

    def report(self, name: str, text: str) -> None:
        """`name` is in trouble (`text` says which) or well (empty `text`)."""
        old = self._table.get(name)
        was = old.text if old is not None else ""
        if old is not None and bool(was) == bool(text):
            if was != text:
                self._table[name] = msgspec.structs.replace(old, text=text)
            return
        restarts = old.restarts if old is not None else 0
        self._table[name] = Condition(name=name, since=self._clock.now(), text=text, restarts=restarts)
        if text:
            self._log.warning("%s: %s", name, text)
        elif was:
            self._log.info("%s: well again", name)

    def tell(self, name: str, text: str) -> None:
        """`name` has changed what it does, which is no trouble."""
        self._log.info("%s: %s", name, text)

    def count_restart(self, name: str) -> None:
        """One more restart of `name`."""
        old = self._table[name]
        self._table[name] = msgspec.structs.replace(old, restarts=old.restarts + 1)

    def forget(self, name: str) -> None:
        """`name` has ended as it should."""
        self._table.pop(name, None)

    def conditions(self) -> list[Condition]:
        """The table, sorted by name."""
        return [self._table[name] for name in sorted(self._table)]

    def troubles(self) -> list[Condition]:
        """Those that are not well."""
        return [condition for condition in self.conditions() if condition.text]


async def keep(
    name: str, work: Callable[[], Awaitable[None]], clock: Clock, health: Health, ends_on: tuple[type[Exception], ...] = ()
) -> None:
    """Run `work` until it returns; when it raises, wait and run it anew. What is in `ends_on` passes through."""
    pause, chance = FIRST_PAUSE, clock.stream(f"keep/{name}")
    health.report(name, "")
    while True:
        began = clock.now()
        settle = asyncio.get_running_loop().call_later(SETTLED, health.report, name, "")
        try:
            await _run_alone(work)
        except Exception as error:  # the one place where a part's failure ends: it is named and the part restarted
            if _holds(error, ends_on):
                raise
            pause = FIRST_PAUSE if clock.now() - began > SETTLED else pause
            health.report(name, f"restarting after {describe(error)}")
            health.count_restart(name)
        else:
            health.forget(name)
            return
        finally:
            settle.cancel()
        await clock.sleep(pause * (1 + 0.2 * chance.random()))
        pause = min(2 * pause, LONGEST_PAUSE)


async def _run_alone(work: Callable[[], Awaitable[None]]) -> None:
    """Run it as a task of its own: a failure in its clean-up, or in a task group that is being left, cannot swallow our cancellation."""
    task = asyncio.ensure_future(work())
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        task.add_done_callback(_retrieve)
        await asyncio.wait({task})
        raise
    if task.cancelled():  # not by us, who would not come here: it must not pass for our own cancellation, which would end the part
        raise RuntimeError("cancelled from within")
    task.result()


def _holds(error: BaseException, kinds: tuple[type[Exception], ...]) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return any(_holds(one, kinds) for one in error.exceptions)
    return isinstance(error, kinds)


def describe(error: BaseException) -> str:
    """An exception as a few words on one line; of a group, its first member."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


@dataclass
class HungError(WireError):
    """No answer in time. `task` is what still runs: nothing new should be asked of its source before it has ended."""

    text: str
    task: asyncio.Task[Any]

    def __str__(self) -> str:
        return self.text


async def bounded(work: Coroutine[Any, Any, T], seconds: float, what: str) -> T:
    """What `work` returns, within `seconds`.

    A plugin's code may raise anything and may even ignore its cancellation: whatever goes wrong becomes a WireError that names `what`.
    """
    task = asyncio.ensure_future(_stay(work))
    try:
        await asyncio.wait({task}, timeout=seconds)
    finally:
        if not task.done():
            task.cancel()
            task.add_done_callback(_retrieve)
    if not task.done():
        raise HungError(f"{what} gave no answer within {seconds:g} s", task)
    if task.cancelled():
        raise WireError(f"{what} was cancelled from within")
    try:
        return task.result()
    except WireError:
        raise
    except Exception as error:
        raise WireError(f"{what} failed: {describe(error)}") from error


async def _stay(work: Coroutine[Any, Any, T]) -> T:
    try:
        return await work
    except SystemExit as error:  # out of a task it would end the loop
        raise RuntimeError(describe(error)) from error


def _retrieve(task: asyncio.Future[Any]) -> None:
    """Take the late end of an abandoned task, whatever it is, so that it is not reported as never retrieved."""
    if not task.cancelled():
        task.exception()
