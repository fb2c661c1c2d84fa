"""What goes over the wire between a link and the broker: MQTT 5's packets, in a plainer encoding."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import msgspec

from supernoded.cluster.link.fabric import Message

LENGTH = 4  # bytes before each packet, big-endian


class Packet(msgspec.Struct, frozen=True, tag=True):
    """One packet. An empty `reason` is success."""


class Connect(Packet, frozen=True, tag=True):
    """A client asks for its session."""

    client_id: str
    will: Message


class Connack(Packet, frozen=True, tag=True):
    """The broker's answer."""

    reason: str = ""


class Publish(Packet, frozen=True, tag=True):
    """A message, either way."""

    number: int
    message: Message


class Puback(Packet, frozen=True, tag=True):
    """The message has been taken."""

    number: int
    reason: str = ""


class Subscribe(Packet, frozen=True, tag=True):
    """A client wants what these filters select."""

    number: int
    filters: tuple[str, ...]


class Suback(Packet, frozen=True, tag=True):
    """The broker's answer, with the filters that it refused."""

    number: int
    refused: tuple[str, ...] = ()


class Unsubscribe(Packet, frozen=True, tag=True):
    """A client wants no more of what these filters select; answered by `Suback`."""

    number: int
    filters: tuple[str, ...]


class Ping(Packet, frozen=True, tag=True):
    """A client is alive."""


class Pong(Packet, frozen=True, tag=True):
    """So is the broker."""


class Disconnect(Packet, frozen=True, tag=True):
    """A client leaves in order, so that its will is void; or the broker ends the session and says why."""

    reason: str = ""


AnyPacket = Connect | Connack | Publish | Puback | Subscribe | Unsubscribe | Suback | Ping | Pong | Disconnect
_DECODER = msgspec.msgpack.Decoder(AnyPacket)


class PacketProtocol(asyncio.Protocol):
    """One end of a connection that carries packets; subclasses say what to do with them."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self._buffer = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - narrows asyncio's own type
        self.transport = transport

    def send(self, packet: AnyPacket) -> None:
        """Write a packet; into a closed connection it goes nowhere."""
        if self.transport is not None and not self.transport.is_closing():
            body = msgspec.msgpack.encode(packet)
            self.transport.write(len(body).to_bytes(LENGTH) + body)

    def data_received(self, data: bytes) -> None:
        """Handle each packet that is whole."""
        self._buffer += data
        for packet in self._whole_packets():
            self.handle(packet)

    def _whole_packets(self) -> Iterator[AnyPacket]:
        while len(self._buffer) >= LENGTH:
            end = LENGTH + int.from_bytes(self._buffer[:LENGTH])
            if len(self._buffer) < end:
                return
            body = bytes(self._buffer[LENGTH:end])
            del self._buffer[:end]
            yield _DECODER.decode(body)

    def handle(self, packet: AnyPacket) -> None:
        """What to do with a packet."""
        del packet
