"""Playing a run: the machine's clock and dice are those of the loop for as long as it lasts."""

from __future__ import annotations

import asyncio
import gc
import random
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from operator import attrgetter
from types import ModuleType
from typing import Any, TypeVar

from sim_hardware.loop.simloop import SimLoop

T = TypeVar("T")

YOUNG = 20_000  # objects between two looks for garbage: nearly all of a turn are gone by its end without one
PATIENCE = 60.0  # virtual seconds that the site's tasks may take to be cancelled
TEST_TOOLS = frozenset({"_pytest", "pytest", "pytest_timeout", "pytest_asyncio", "xdist", "execnet", "hypothesis"})
REQUEST_NUMBERS = (  # pysnmp counts in these for as long as the process lives, from a random start
    ("pysnmp.proto.api.v1", "getNextRequestID"),
    ("pysnmp.proto.secmod.cache", "Cache._Cache__state_reference"),
    ("pysnmp.proto.mpmod.cache", "Cache._Cache__state_reference"),
    ("pysnmp.proto.mpmod.cache", "Cache._Cache__message_id"),
    ("pysnmp.entity.rfc3413.ntforg", "getNextHandle"),
    ("pysnmp.entity.rfc3413.cmdgen", "getNextHandle"),
)

CACHES = (("aiohttp.web_app", "_cached_build_middleware"),)  # that keep whatever has answered a request, and with it the whole world


def play(loop: SimLoop, coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine as the site, to its end, and close the loop.

    What a harness must see before that, it looks at in the coroutine, or uses `virtual_time`.
    """
    with virtual_time(loop):
        return loop.run_until_complete(coroutine)


@contextmanager
def virtual_time(loop: SimLoop) -> Iterator[SimLoop]:
    """Make the loop current, and `time.time`, `time.monotonic` and `random` its own; at the end kill every process and close the loop."""
    dice = random.getstate()
    random.seed(f"{loop.seed}/random")
    restore = _replace_clocks(loop)
    _renew_request_numbers()
    asyncio.set_event_loop(loop)
    thresholds = gc.get_threshold()
    gc.freeze()  # what was there before is no garbage of the play, and is not looked through again and again
    gc.set_threshold(YOUNG, *thresholds[1:])
    try:
        yield loop
    finally:
        try:
            _stop(loop)
        finally:
            asyncio.set_event_loop(None)
            loop.close()
            restore()
            random.setstate(dice)
            _empty_caches()
            gc.set_threshold(*thresholds)
            gc.unfreeze()


def _stop(loop: SimLoop) -> None:
    """Kill the processes, so that no `finally` touches what is judged; cancel the site's own tasks as `asyncio.run` does."""
    for process in loop.lives[1:]:
        loop.kill(process)
    pending = [task for task in loop.site.tasks if not task.done()]
    for task in pending:
        task.cancel()
    if pending:
        loop.run_until_complete(asyncio.wait(pending, timeout=PATIENCE))
    loop.run_until_complete(loop.shutdown_asyncgens())


def _replace_clocks(loop: SimLoop) -> Callable[[], None]:
    """Put virtual clocks into `time`, and into every library that has taken the functions out of it; give back the way back."""
    clocks: dict[Callable[[], float], Callable[[], float]] = {
        time.time: loop.wall,
        time.monotonic: loop.time,
        time.time_ns: lambda: round(loop.wall() * 1e9),
        time.monotonic_ns: lambda: round(loop.time() * 1e9),
    }
    changed: list[tuple[ModuleType, str, Callable[[], float]]] = []
    for module in [time, *_libraries()]:
        for name, value in list(vars(module).items()):
            if callable(value) and type(value) is type(time.time) and value in clocks:
                changed.append((module, name, value))
    for module, name, value in changed:
        setattr(module, name, clocks[value])

    def restore() -> None:
        for module, name, value in changed:
            setattr(module, name, value)

    return restore


def _libraries() -> list[ModuleType]:
    known = sys.stdlib_module_names | TEST_TOOLS
    return [module for name, module in list(sys.modules.items()) if isinstance(module, ModuleType) and name.partition(".")[0] not in known]


def _renew_request_numbers() -> None:
    for name, path in REQUEST_NUMBERS:
        if name in sys.modules:
            counter = attrgetter(path)(sys.modules[name])
            counter.__init__(counter._Integer__maximum)  # shared by reference, so it must stay the same object


def _empty_caches() -> None:
    for name, path in CACHES:
        if name in sys.modules:
            attrgetter(path)(sys.modules[name]).cache_clear()
