"""The least of MQTT 5 that a node's daemon says and hears, so that thousands of clients fit into one process.

Packets are those of MQTT 5.0, section 3. Only what a broker sends to such a client is read; anything else ends the link.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

CONNACK, PUBLISH, PUBACK, SUBACK, DISCONNECT = 2, 3, 4, 9, 14  # the upper half of the first byte
REFUSED = 0x80  # reason codes from here on
KEEPALIVE = 15  # seconds, as the daemon's default
MOST_IDS = 0xFFFF

Hear = Callable[[str, bytes], None]  # topic, payload


def make_length(number: int) -> bytes:
    """A variable byte integer (1.5.5)."""
    digits = bytearray()
    while True:
        number, digit = divmod(number, 128)
        digits.append(digit | (0x80 if number else 0))
        if not number:
            return bytes(digits)


def make_text(text: bytes) -> bytes:
    """A string or binary data with its length before it (1.5.4, 1.5.6)."""
    return len(text).to_bytes(2) + text


def make_packet(first: int, body: bytes) -> bytes:
    """A packet with its fixed header (2.1)."""
    return bytes([first]) + make_length(len(body)) + body


def make_connect(client_id: str, will_topic: str, will: bytes, expiry: int, keepalive: int = KEEPALIVE) -> bytes:
    """CONNECT with clean start, a retained will of QoS 1, and a session that is kept for `expiry` seconds (3.1).

    Who says nothing for one and a half times `keepalive` seconds is sent away; 0 = may be silent for ever.
    """
    flags = 0b0010_1110
    properties = b"\x11" + expiry.to_bytes(4)
    head = make_text(b"MQTT") + bytes([5, flags]) + keepalive.to_bytes(2) + make_length(len(properties)) + properties
    return make_packet(0x10, head + make_text(client_id.encode()) + b"\x00" + make_text(will_topic.encode()) + make_text(will))


def make_subscribe(packet_id: int, filters: Sequence[str]) -> bytes:
    """SUBSCRIBE with QoS 1 (3.8)."""
    return make_packet(0x82, packet_id.to_bytes(2) + b"\x00" + b"".join(make_text(name.encode()) + b"\x01" for name in filters))


def make_publish(topic: bytes, payload: bytes, packet_id: int, *, retain: bool = False, expiry: int = 0) -> bytes:
    """PUBLISH; with QoS 1 where it has a packet id, else with QoS 0 (3.3)."""
    properties = b"\x02" + expiry.to_bytes(4) if expiry else b""
    numbered = packet_id.to_bytes(2) if packet_id else b""
    first = 0x30 | (0x02 if packet_id else 0) | int(retain)
    return make_packet(first, make_text(topic) + numbered + make_length(len(properties)) + properties + payload)


def read_length(data: bytes | bytearray, at: int) -> tuple[int, int] | None:
    """A variable byte integer and where it ends; None = more must come. Raises ValueError for one of more than four bytes."""
    number = 0
    for place in range(4):
        if at + place >= len(data):
            return None
        number |= (data[at + place] & 0x7F) << (7 * place)
        if data[at + place] < REFUSED:
            return number, at + place + 1
    raise ValueError("a length of more than four bytes")


def split_packets(data: bytearray) -> Iterator[tuple[int, bytes]]:
    """First byte and body of each whole packet, which is taken out of `data`. Raises ValueError for what is no packet."""
    begin = 0
    while begin < len(data):
        found = read_length(data, begin + 1)
        if found is None or found[1] + found[0] > len(data):
            break
        yield data[begin], bytes(data[found[1] : found[1] + found[0]])
        begin = found[1] + found[0]
    del data[:begin]


def read_publish(first: int, body: bytes) -> tuple[str, bytes, bytes]:
    """Topic, payload and packet id, which is empty for QoS 0. Raises ValueError."""
    end = 2 + int.from_bytes(body[:2])
    topic, packet_id = body[2:end].decode(), body[end : end + 2] if first & 0x06 else b""
    found = read_length(body, end + len(packet_id))
    if found is None:
        raise ValueError("a PUBLISH that ends in its properties")
    return topic, body[found[0] + found[1] :], packet_id


class LightLink(asyncio.Protocol):
    """One connection. `hear` is called with what arrives; `unacknowledged` counts what the broker has not taken yet."""

    def __init__(self, hear: Hear) -> None:
        self._hear, self._data, self._next_id = hear, bytearray(), 0
        self._transport: asyncio.Transport | None = None
        self._answers: dict[int, asyncio.Future[None]] = {}
        self.unacknowledged = self.sent = self.heard = 0
        self.lost = asyncio.Event()  # the link has ended

    @property
    def is_open(self) -> bool:
        """Whether there is a link."""
        return self._transport is not None

    async def open(self, place: int | Path, connect: bytes, filters: Sequence[str], within: float) -> None:
        """Connect to a port of 127.0.0.1 or to a unix socket, and subscribe.

        Raises OSError, TimeoutError, and ConnectionError when the broker refuses.
        """
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(within):
            if isinstance(place, Path):
                await loop.create_unix_connection(lambda: self, str(place))
            else:
                await loop.create_connection(lambda: self, "127.0.0.1", place)
            await self._ask(CONNACK, connect)
            await self._ask(SUBACK, make_subscribe(self._take_id(), filters))

    async def _ask(self, answer: int, packet: bytes) -> None:
        self._answers[answer] = asyncio.get_running_loop().create_future()
        self._write(packet)
        await self._answers[answer]

    def publish(self, topic: bytes, payload: bytes, *, qos: int = 0, retain: bool = False, expiry: int = 0) -> None:
        """Say something; without a link it is lost."""
        self.unacknowledged += qos
        self.sent += 1
        self._write(make_publish(topic, payload, self._take_id() if qos else 0, retain=retain, expiry=expiry))

    def cut(self) -> None:
        """End the connection without a word, as a cut cable would after its time-out: the broker sends the will."""
        if self._transport is not None:
            self._transport.abort()

    def _take_id(self) -> int:
        self._next_id = self._next_id % MOST_IDS + 1
        return self._next_id

    def _write(self, packet: bytes) -> None:
        if self._transport is not None:
            self._transport.write(packet)

    # Called by the loop --------------------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See `asyncio.Protocol`."""
        assert isinstance(transport, asyncio.Transport)
        line = transport.get_extra_info("socket")
        if line.family != socket.AF_UNIX:
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._transport = transport
        self.lost.clear()

    def connection_lost(self, exc: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        self._transport = None
        self.lost.set()
        self._data.clear()
        self.unacknowledged = 0
        self._fail(ConnectionError(f"the link was lost: {exc or 'the broker ended it'}"))

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        self._data += data
        try:
            for first, body in split_packets(self._data):
                self._take(first, body)
        except (ValueError, IndexError) as error:
            self._fail(ConnectionError(f"not MQTT 5: {error}"))
            self.cut()

    def _take(self, first: int, body: bytes) -> None:
        kind = first >> 4
        if kind == PUBLISH:
            topic, payload, packet_id = read_publish(first, body)
            self.heard += 1
            if packet_id:
                self._write(b"\x40\x02" + packet_id)
            self._hear(topic, payload)
        elif kind == PUBACK:
            self.unacknowledged -= 1
        elif kind in (CONNACK, SUBACK):
            code = body[1] if kind == CONNACK else max(body[3 + body[2] :])
            self._answer(kind, code)
        elif kind == DISCONNECT:
            self._fail(ConnectionError(f"the broker ends the link: 0x{(body or b'0')[0]:02X}"))

    def _answer(self, kind: int, code: int) -> None:
        waiting = self._answers.get(kind)
        if waiting is not None and not waiting.done():
            if code >= REFUSED:
                waiting.set_exception(ConnectionError(f"refused with 0x{code:02X}"))
            else:
                waiting.set_result(None)

    def _fail(self, error: ConnectionError) -> None:
        for waiting in self._answers.values():
            if not waiting.done():
                waiting.set_exception(error)
