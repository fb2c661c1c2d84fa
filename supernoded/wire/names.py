"""The addresses of one device: one look-up of its name at a time, as one that hangs holds a thread until the system gives up."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

Found = list[tuple[str, int]]


class Lookup:
    """Looks a name up whenever it is asked: a device may have moved. Whoever gives up leaves the look-up to the next one who asks."""

    def __init__(self, host: str, port: int, kind: socket.SocketKind = socket.SOCK_STREAM) -> None:
        self._host, self._port, self._kind = host, port, kind
        self._running: asyncio.Future[Found] | None = None

    async def find(self) -> Found:
        """Its addresses, the system's choice first. Raises OSError."""
        if is_address(self._host):
            return [(self._host, self._port)]
        if self._running is None or self._running.done():
            self._running = asyncio.ensure_future(self._ask())
            self._running.add_done_callback(_retrieve)
        return await asyncio.shield(self._running)

    async def reach(self, to: Callable[[str, int], Awaitable[T]]) -> T:
        """What `to` makes of the first address at which it succeeds. Raises OSError, that of the last one."""
        refused = OSError(f"{self._host} has no address")
        for host, port in await self.find():
            try:
                return await to(host, port)
            except OSError as error:
                refused = error
        raise refused

    async def _ask(self) -> Found:
        told = await asyncio.get_running_loop().getaddrinfo(self._host, self._port, type=self._kind)
        return [(str(where[0]), self._port) for *_, where in told]


def is_address(host: str) -> bool:
    """Whether there is nothing to look up."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _retrieve(running: asyncio.Future[Found]) -> None:
    if not running.cancelled():
        running.exception()  # whoever gave up does not fetch it, and asyncio would complain
