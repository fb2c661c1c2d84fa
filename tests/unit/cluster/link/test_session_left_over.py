"""A cancellation that Python 3.11 leaves over in the session's task is no order to stop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from supernoded.clock import SystemClock
from supernoded.cluster.link.fabric import Link, Message
from supernoded.cluster.link.outbox import Outbox
from supernoded.cluster.link.session import Session, Timing
from supernoded.errors import SessionError
from tests.unit.cluster.fakes import MemoryStore, until

LOG = logging.getLogger("session.of.the.test")


_NOBODY: Any = None


class Stumbling:
    """A fabric that fails to connect, and leaves a cancellation behind that was taken back: `uncancel` of 3.11 does not stop it coming."""

    def __init__(self) -> None:
        self.asked = 0

    @asynccontextmanager
    async def connect(self, client_id: str, will: Message) -> AsyncIterator[Link]:
        del client_id, will
        self.asked += 1
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        task.uncancel()
        if self.asked:
            raise SessionError("nobody is there")
        yield _NOBODY


async def test_it_connects_again_all_the_same_and_stops_when_it_is_told_to() -> None:
    fabric, clock = Stumbling(), SystemClock()
    quick = Timing(first_pause=0.001, longest_pause=0.002)
    session = Session(fabric, "n0", "c0", "life", clock, Outbox(MemoryStore(), clock, LOG), LOG, timing=quick)
    task = asyncio.create_task(session.run())
    await until(lambda: fabric.asked > 2 or task.done(), 5.0)
    assert not task.done()
    task.cancel()
    await asyncio.wait({task}, timeout=5.0)
    assert task.cancelled()
