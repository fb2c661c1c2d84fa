"""A process of the simulated world, and the turns that it takes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextvars import Context, ContextVar
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

HERE: ContextVar[Process] = ContextVar("HERE")
"""The process that the running callback belongs to; every callback's context carries it."""

Work = Callable[..., object]


@dataclass(eq=False)
class Process:
    """One incarnation of a node. Dead, no callback of it runs again; paused, they wait.

    `number` counts the incarnations of `name` from 1. `exit_code` is None while it lives, and negative when a signal ended it; awaiting
    `ended` gives it.
    `before_turn` is called before each of its callbacks, as the site, and may kill or pause it.
    """

    name: str
    number: int
    host: str
    pid: int
    ended: asyncio.Future[int]
    uid: int = 0
    gid: int = 0
    turns: int = 0
    paused: bool = False
    exit_code: int | None = None
    before_turn: Callable[[Process], None] | None = None
    held: list[Turn | TimedTurn] = field(default_factory=list)
    handlers: dict[int, Turn] = field(default_factory=dict)
    tasks: list[asyncio.Task[Any]] = field(default_factory=list)  # a task that nobody holds would be collected, and its `finally` run
    generators: WeakValueDictionary[int, AsyncGenerator[Any, Any]] = field(default_factory=WeakValueDictionary)
    kept: list[AsyncGenerator[Any, Any]] = field(default_factory=list)
    pruned: int = 64

    @property
    def dead(self) -> bool:
        """Whether it has ended, by itself or by a signal."""
        return self.exit_code is not None

    def __str__(self) -> str:
        return f"{self.name}#{self.number}"

    def admits(self, turn: Turn | TimedTurn) -> bool:
        """Whether this callback may run now. That of a paused process is kept for later, that of a dead one until the end of the world."""
        if self.before_turn is not None and not self.dead and not self.paused:
            self.before_turn(self)
        if self.exit_code is not None or self.paused:
            self.held.append(turn)
            return False
        self.turns += 1
        return True

    def adopt(self, task: asyncio.Task[Any]) -> None:
        """Keep the task alive as long as it is pending."""
        self.tasks.append(task)
        if len(self.tasks) > self.pruned:
            self.tasks = [known for known in self.tasks if not known.done()]
            self.pruned = 2 * len(self.tasks) + 64


class Turn(asyncio.Handle):
    """A callback of a process. Cancelling it works as long as it has not run, also while the process is paused."""

    __slots__ = ("process",)

    def __init__(self, callback: Work, args: Sequence[Any], loop: asyncio.AbstractEventLoop, *, context: Context, process: Process) -> None:
        super().__init__(callback, args, loop, context)
        self.process = process

    def take(self) -> None:
        """Call it, as its process."""
        if self.process.admits(self):
            self._run()


class TimedTurn(asyncio.TimerHandle):
    """A turn that is due at a time."""

    __slots__ = ("process",)

    def __init__(
        self,
        when: float,
        callback: Work,
        args: Sequence[Any],
        loop: asyncio.AbstractEventLoop,
        *,
        context: Context,
        process: Process,
    ) -> None:
        super().__init__(when, callback, args, loop, context)
        self._scheduled = True  # the stdlib's own mark, read when a timer is cancelled
        self.process = process

    def take(self) -> None:
        """Call it, as its process."""
        if self.process.admits(self):
            self._run()
