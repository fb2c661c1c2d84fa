"""A listening socket of the simulated network."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextvars import copy_context

from sim_hardware.loop.calls import Address, Factory, NetworkLoop
from sim_hardware.loop.process import HERE
from sim_hardware.net.pipes import Mark, Pipe
from sim_hardware.net.sockets import SimSocket


class Listener(asyncio.AbstractServer):
    """A server: it belongs to the process that opened it, and its connections run as that process."""

    def __init__(self, loop: NetworkLoop, factory: Factory, host: str, address: Address | str, release: Callable[[], object]) -> None:
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.host = host
        self.loopback = False
        self.process = HERE.get(loop.site)
        self.context = copy_context()
        self._loop, self._factory, self._release = loop, factory, release
        self._socket = SimSocket(family, address)
        self._serving = True
        self._forever: asyncio.Future[None] | None = None

    @property
    def sockets(self) -> tuple[SimSocket, ...]:
        """The listening socket, while it listens."""
        return (self._socket,) if self._serving else ()

    def accept(self, pipe: Pipe) -> None:
        """Give a new connection its protocol; one that came too late is reset."""
        if self._serving:
            pipe.attach(self._factory())
        else:
            pipe.carrier.carry(pipe, Mark.RESET)
            pipe.vanish()

    def close(self) -> None:
        """Listen no more; what is connected stays so."""
        if self._serving:
            self._serving = False
            self._release()
            if self._forever is not None:
                self._forever.cancel()

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """The loop."""
        return self._loop

    def is_serving(self) -> bool:
        """Whether it listens."""
        return self._serving

    async def start_serving(self) -> None:
        """It listens from the start."""

    async def serve_forever(self) -> None:
        """Listen until cancelled or closed, either of which raises CancelledError here."""
        self._forever = self._loop.create_future()
        try:
            await self._forever
        finally:
            self.close()

    async def wait_closed(self) -> None:
        """Closing takes no time."""
