"""The loop's network calls, answered by whatever network is plugged in."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from sim_hardware.loop.refusals import RefusingLoop

P = TypeVar("P", bound=asyncio.BaseProtocol)
Factory = Callable[[], asyncio.BaseProtocol]
Address = tuple[str, int]


class Stream(Protocol):
    """An established connection that has no protocol yet."""

    def attach(self, protocol: asyncio.BaseProtocol) -> asyncio.Transport:
        """Hand what arrives to the protocol from now on."""
        ...


class Network(Protocol):
    """What the loop asks of a network."""

    async def dial(self, host: str | None, port: int) -> Stream:
        """Connect. Raises OSError as the kernel would."""
        ...

    async def dial_unix(self, path: str) -> Stream:
        """Connect to a socket of one's own host. Raises OSError as the kernel would."""
        ...

    def listen(self, factory: Factory, host: str | None, port: int) -> asyncio.AbstractServer:
        """Listen. Raises OSError when the address is taken."""
        ...

    def listen_unix(self, factory: Factory, path: str) -> asyncio.AbstractServer:
        """Listen on a path of one's own host."""
        ...

    def bind(self, protocol: asyncio.DatagramProtocol, local: Address | None, remote: Address | None) -> asyncio.DatagramTransport:
        """Open a datagram socket. Raises OSError when the address is taken."""
        ...

    def address(self, host: str) -> str:
        """The address that a name stands for."""
        ...

    def close(self) -> None:
        """End all connections without a word: the world is over."""
        ...


class NetworkLoop(RefusingLoop):
    """Connections, servers and datagram endpoints with asyncio's own signatures. TLS is not simulated: asking for it is an error."""

    def __init__(self) -> None:
        super().__init__()
        self.network: Network | None = None
        self._dialled: dict[int, Stream] = {}  # by file number, between `sock_connect` and `create_connection`

    def _network(self, ssl: object = None) -> Network:
        if ssl:
            raise ValueError("the simulated network carries no TLS; use a plain connection in virtual time")
        if self.network is None:
            raise RuntimeError("this loop has no network; make one with Net(loop)")
        return self.network

    def close(self) -> None:
        """Close the network with the loop."""
        if self.network is not None:
            self.network.close()
        super().close()

    async def create_connection(
        self,
        protocol_factory: Callable[[], P],
        host: str | None = None,
        port: int | None = None,
        *,
        ssl: object = None,
        sock: socket.socket | None = None,
        **_: object,
    ) -> tuple[asyncio.Transport, P]:
        """Connect to `host`, or take over a socket that `sock_connect` has connected."""
        network = self._network(ssl)
        if sock is None:
            stream = await network.dial(host, int(port or 0))
        else:
            stream = self._dialled.pop(sock.fileno())
            sock.close()
        protocol = protocol_factory()
        return stream.attach(protocol), protocol

    async def sock_connect(self, sock: socket.socket, address: Any) -> None:
        """Connect in the simulated network; the real socket stays unconnected and only stands for it."""
        self._dialled[sock.fileno()] = await self._network().dial(address[0], int(address[1]))

    async def create_unix_connection(
        self, protocol_factory: Callable[[], P], path: object = None, *, ssl: object = None, **_: object
    ) -> tuple[asyncio.Transport, P]:
        """Connect to a path of one's own host."""
        stream = await self._network(ssl).dial_unix(str(path))
        protocol = protocol_factory()
        return stream.attach(protocol), protocol

    async def create_server(  # type: ignore[override]
        self,
        protocol_factory: Factory,
        host: str | Sequence[str] | None = None,
        port: int | None = None,
        *,
        ssl: object = None,
        **_: object,
    ) -> asyncio.AbstractServer:
        """Listen on one address; port 0 takes a free one."""
        if host is not None and not isinstance(host, str):
            if len(host) != 1:
                raise ValueError(f"the simulated network listens on one address at a time, not on {list(host)}")
            host = host[0]
        return self._network(ssl).listen(protocol_factory, host, int(port or 0))

    async def create_unix_server(  # type: ignore[override]
        self, protocol_factory: Factory, path: object = None, *, ssl: object = None, **_: object
    ) -> asyncio.AbstractServer:
        """Listen on a path of one's own host; what else listened there is pushed aside, as by asyncio."""
        return self._network(ssl).listen_unix(protocol_factory, str(path))

    async def create_datagram_endpoint(  # type: ignore[override]
        self, protocol_factory: Callable[[], Any], local_addr: Address | None = None, remote_addr: Address | None = None, **_: object
    ) -> tuple[asyncio.DatagramTransport, Any]:
        """Open a datagram socket."""
        protocol = protocol_factory()
        transport = self._network().bind(protocol, local_addr, remote_addr)
        protocol.connection_made(transport)
        return transport, protocol

    async def getaddrinfo(  # type: ignore[override]
        self,
        host: Any,
        port: Any,
        *,
        family: int = 0,
        type: int = 0,  # noqa: A002 - asyncio's own name
        proto: int = 0,
        flags: int = 0,
    ) -> list[tuple[int, int, int, str, Address]]:
        """Every name has one address."""
        del family, flags
        return [(socket.AF_INET, type or socket.SOCK_STREAM, proto, "", (self._network().address(str(host)), int(port or 0)))]

    async def getnameinfo(self, sockaddr: Any, flags: int = 0) -> tuple[str, str]:
        """An address is a name too."""
        del flags
        return str(sockaddr[0]), str(sockaddr[1])
