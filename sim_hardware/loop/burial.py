"""Letting go of dead processes without a sound: Python runs a coroutine's `finally` when it is collected, and complains if that awaits."""

from __future__ import annotations

import asyncio
import inspect
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LAST_WORDS = 100  # times that a dead coroutine may refuse to close before it is left as it is


@contextmanager
def unheard() -> Iterator[None]:
    """The dead may complain, but nobody listens: coroutines that await in a `finally` cannot close in silence."""
    hook = sys.unraisablehook
    sys.unraisablehook = lambda _: None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.unraisablehook = hook


def bury(task: asyncio.Task[Any]) -> None:
    """Close the coroutine of a task that will never go on."""
    coroutine = task.get_coro()
    for _ in range(LAST_WORDS):
        if not inspect.iscoroutine(coroutine) or inspect.getcoroutinestate(coroutine) == inspect.CORO_CLOSED:
            return
        try:
            coroutine.close()
        except BaseException:  # noqa: BLE001, S112 - whatever the finally of a dead process raises concerns nobody
            continue
