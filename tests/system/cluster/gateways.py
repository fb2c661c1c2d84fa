"""A port of the site's namespace before a Modbus device on this machine's loopback: it notes who writes, and when."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.system.cluster.networks import SITE, Network
from tests.system.cluster.peers import PATIENCE

HEAD = 6  # bytes of a frame before those that its length counts (Modbus Messaging on TCP/IP, MBAP header)
WRITES = frozenset({5, 6, 15, 16})  # function codes


class Write(NamedTuple):
    """One request that changes something."""

    at: float  # Unix time
    address: str  # of the node


@dataclass
class Gateway:
    """What `running_gateway` gives."""

    device: tuple[str, int]
    url: str = ""  # as nodes reach it
    writes: list[Write] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def list_writers(self, since: float = 0.0) -> set[str]:
        """Whose writes came after a moment."""
        return {write.address for write in self.writes if write.at > since}

    async def wait(self, address: str, since: float, within: float = PATIENCE) -> None:
        """Until a node has written after a moment."""
        try:
            async with asyncio.timeout(within):
                while address not in self.list_writers(since):
                    self.news.clear()
                    await self.news.wait()
        except TimeoutError:
            raise AssertionError(f"{address} wrote nothing within {within:g} s; the last writes: {self.writes[-10:]}") from None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client, until it or the device hangs up."""
        back, forth = await asyncio.open_connection(*self.device)
        answers = asyncio.create_task(_copy(back, writer))
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                while True:
                    await self._pass_on(reader, forth, writer.get_extra_info("peername")[0])
        finally:
            answers.cancel()
            await asyncio.gather(answers, return_exceptions=True)
            forth.transport.abort()
            writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, forth: asyncio.StreamWriter, address: str) -> None:
        head = await reader.readexactly(HEAD)
        rest = await reader.readexactly(int.from_bytes(head[4:6]))
        if rest[1] in WRITES:
            self.writes.append(Write(time.time(), address))
            self.news.set()
        forth.write(head + rest)
        await forth.drain()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(4096):
            writer.write(data)
            await writer.drain()


@asynccontextmanager
async def running_gateway(network: Network, host: str, port: int) -> AsyncIterator[Gateway]:
    """Until the context is left; nodes reach the device there as Modbus TCP."""
    gateway = Gateway((host, port))
    tasks = set[asyncio.Task[None]]()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(gateway.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async with await asyncio.start_server(accept, sock=network.listen()) as server:
        gateway.url = f"modbus://{SITE}:{server.sockets[0].getsockname()[1]}"
        try:
            yield gateway
        finally:
            for task in list(tasks):
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
