"""To the daemon over `job.sock`, one connection a job. The vault works without it: what counts is told when it is back."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Coroutine, Mapping
from pathlib import Path
from typing import Any

import msgspec

from supernoded.clock import Clock
from supernoded.job.protocol import MOST_LINE, VERSION, Durable, FromPeer, Hello, Refused, VaultTrouble, Welcome, decode_daemon, encode

FIRST_PAUSE = 1.0  # seconds before the daemon is looked for again; doubled up to the longest
LONGEST_PAUSE = 15.0
ANSWER_WITHIN = 5.0  # seconds for the daemon's welcome, and for it to take a line
MOST_NEWS = 1000  # messages that wait to be sent


class Link:
    """What the daemon shall know of one job: the newest durable step, and the trouble of each tier. Only the newest is worth telling."""

    def __init__(self, job: str, socket: Path, clock: Clock, token: str = "") -> None:
        self._job, self._socket, self._clock, self._token = job, socket, clock, token
        self._counts: dict[str, Durable | VaultTrouble] = {}  # by tier of a trouble; "" = the newest durable step
        self._news: asyncio.Queue[Durable | VaultTrouble] = asyncio.Queue(maxsize=MOST_NEWS)
        self._pause = FIRST_PAUSE
        self.state = "not connected"

    def tell(self, message: Durable | VaultTrouble) -> None:
        """Without a daemon the queue fills up: it is emptied at the next connection, which begins with what counts."""
        self._counts[message.tier if isinstance(message, VaultTrouble) else ""] = message
        with contextlib.suppress(asyncio.QueueFull):
            self._news.put_nowait(message)

    async def run(self) -> None:
        """Keep a connection for ever; whatever ends it, another is made."""
        while True:
            try:
                await self._talk()
            except (OSError, EOFError, asyncio.LimitOverrunError, ValueError, msgspec.MsgspecError) as error:
                self.state = f"not connected: {str(error) or type(error).__name__}"
            await self._clock.sleep(self._pause)
            self._pause = min(2 * self._pause, LONGEST_PAUSE)

    async def _talk(self) -> None:
        """One connection. Raises what ended it."""
        async with asyncio.timeout(ANSWER_WITHIN):
            reader, writer = await asyncio.open_unix_connection(self._socket, limit=MOST_LINE)
        try:
            await self._greet(reader, writer)
            self.state, self._pause = "connected", FIRST_PAUSE
            await _until_first(_listen(reader), self._speak(writer))
        finally:
            writer.close()

    async def _greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _send(writer, Hello(v=VERSION, job=self._job, kind="vault", token=self._token))
        async with asyncio.timeout(ANSWER_WITHIN):
            answer = decode_daemon(await reader.readuntil(b"\n"))
        if isinstance(answer, Refused):
            raise ConnectionRefusedError(f"the daemon refused: {answer.why}")
        if not isinstance(answer, Welcome):
            raise ConnectionResetError(f"the daemon did not welcome us but said {type(answer).__name__}")

    async def _speak(self, writer: asyncio.StreamWriter) -> None:
        while not self._news.empty():
            self._news.get_nowait()
        for message in tuple(self._counts.values()):
            await _send(writer, message)
        while True:
            await _send(writer, await self._news.get())


async def _listen(reader: asyncio.StreamReader) -> None:
    """The daemon asks nothing of a vault; it is listened to so that its end is noticed."""
    while True:
        message = decode_daemon(await reader.readuntil(b"\n"))
        if isinstance(message, Refused):
            raise ConnectionRefusedError(f"the daemon refused: {message.why}")


async def _send(writer: asyncio.StreamWriter, message: FromPeer) -> None:
    writer.write(encode(message))
    async with asyncio.timeout(ANSWER_WITHIN):
        await writer.drain()


async def _until_first(*works: Coroutine[Any, Any, None]) -> None:
    """Run side by side until one ends, and raise what ended it."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in done:
        task.result()


class Links:
    """One link a job, made when the job is first seen."""

    def __init__(self, socket: Path, tokens: Mapping[str, str], clock: Clock) -> None:
        self._socket, self._tokens, self._clock = socket, tokens, clock
        self._links: dict[str, Link] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._troubles: dict[str, VaultTrouble] = {}

    def meet(self, job: str) -> None:
        """A job is there; it hears of what is wrong."""
        if job in self._links:
            return
        link = self._links[job] = Link(job, self._socket, self._clock, self._tokens.get(job, ""))
        for trouble in self._troubles.values():
            link.tell(trouble)
        self._tasks[job] = asyncio.create_task(link.run(), name=f"link {job}")

    def keep(self, jobs: Collection[str]) -> None:
        """These are there. Of one that has gone nothing is told any more, so that the daemon may forget it too."""
        for job in jobs:
            self.meet(job)
        for job in self._links.keys() - jobs:
            del self._links[job]
            self._tasks.pop(job).cancel()

    def tell_durable(self, job: str, durable: Durable) -> None:
        """A step of a job has become durable."""
        self.meet(job)
        self._links[job].tell(durable)

    def tell_trouble(self, trouble: VaultTrouble) -> None:
        """To every job: the tiers are everybody's."""
        self._troubles[trouble.tier] = trouble
        for link in self._links.values():
            link.tell(trouble)

    def list_states(self) -> dict[str, str]:
        """How each connection is doing."""
        return {job: link.state for job, link in self._links.items()}

    async def close(self) -> None:
        """End all connections."""
        for task in self._tasks.values():
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks.values())
