"""Simulated datagram sockets, as asyncio's protocols expect them."""

from __future__ import annotations

import asyncio
import socket
from contextvars import Context
from typing import Any, Protocol

from sim_hardware.loop.calls import Address
from sim_hardware.loop.process import Process
from sim_hardware.net.sockets import SimSocket

LARGEST_DATAGRAM = 65507  # bytes of payload in one UDP packet over IPv4


class Post(Protocol):
    """The network, as a datagram socket sees it."""

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop."""
        ...

    def throw(self, source: Datagram, data: bytes, target: Address) -> None:
        """Take a datagram to an address, perhaps."""
        ...

    def forget(self, end: Datagram) -> None:
        """The socket is closed for good."""
        ...


class Datagram(asyncio.DatagramTransport):
    """A datagram socket."""

    def __init__(
        self,
        carrier: Post,
        process: Process,
        context: Context,
        protocol: asyncio.DatagramProtocol,
        *,
        host: str,
        local: Address,
        remote: Address | None,
    ) -> None:
        sock = SimSocket(socket.AF_INET, local, remote)
        super().__init__({"sockname": local, "peername": remote, "socket": sock})
        self.carrier, self.process, self.context, self.protocol = carrier, process, context, protocol
        self.host, self.local, self.remote = host, local, remote
        self._closing = False

    def sendto(self, data: bytes | bytearray | memoryview, addr: Any = None) -> None:
        """Send a datagram; nobody says whether it arrives."""
        target = self.remote if addr is None else (str(addr[0]), int(addr[1]))
        if target is None:
            raise ValueError("sendto needs an address: the socket has no remote one")
        if len(data) > LARGEST_DATAGRAM:
            self.protocol.error_received(OSError(f"datagram of {len(data)} bytes; the largest is {LARGEST_DATAGRAM}"))
        elif not self._closing:
            self.carrier.throw(self, bytes(data), target)

    def get_protocol(self) -> asyncio.BaseProtocol:
        """The protocol."""
        return self.protocol

    def is_closing(self) -> bool:
        """Whether it is closed."""
        return self._closing

    def close(self) -> None:
        """Close it."""
        if not self._closing:
            self._closing = True
            self.carrier.forget(self)
            self.carrier.loop.call_soon(self.protocol.connection_lost, None, context=self.context)

    def abort(self) -> None:
        """Close it."""
        self.close()

    def arrive(self, data: bytes, source: Address) -> None:
        """A datagram has come."""
        if not self._closing:
            self.protocol.datagram_received(data, source)

    def refuse(self, error: OSError) -> None:
        """The network says that nobody is there."""
        if not self._closing:
            self.protocol.error_received(error)
