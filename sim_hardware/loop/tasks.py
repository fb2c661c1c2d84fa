"""Tasks and futures that hash by sequence number, so that a set of them has the same order in every run."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator
from contextvars import Context
from typing import Any, TypeVar

T = TypeVar("T")


class StableTask(asyncio.Task[T]):
    """A task whose hash and default name are its number."""

    def __init__(
        self,
        coroutine: Coroutine[Any, Any, T] | Generator[Any, None, T],
        *,
        loop: asyncio.AbstractEventLoop,
        number: int,
        name: str | None,
        context: Context,
    ) -> None:
        self._number = number
        super().__init__(coroutine, loop=loop, name=name or f"task{number}", context=context)
        self._log_destroy_pending = False  # the tasks of a killed process are pending for good

    def __hash__(self) -> int:
        return self._number

    def __eq__(self, other: object) -> bool:
        return self is other


class StableFuture(asyncio.Future[T]):
    """A future whose hash is its number."""

    def __init__(self, *, loop: asyncio.AbstractEventLoop, number: int) -> None:
        self._number = number
        super().__init__(loop=loop)

    def __hash__(self) -> int:
        return self._number

    def __eq__(self, other: object) -> bool:
        return self is other
