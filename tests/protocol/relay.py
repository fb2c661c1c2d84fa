"""Peers that misbehave: a relay before a real broker, and a scripted peer that is hardly one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

CONNACK, PUBACK, SUBACK = b"\x20\x03\x00\x00\x00", "puback", "suback"


class Relay:
    """Passes bytes on to a broker while open; frozen it keeps connections and passes nothing; with a delay it is slow."""

    def __init__(self, target: int) -> None:
        self.target, self.port = target, 0
        self.delay = 0.0
        self.thawed = asyncio.Event()
        self.thawed.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Accept connections, if it does not yet."""
        if self._server is not None:
            return
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def shut(self) -> None:
        """Refuse new connections and cut those that are there."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.transport.abort()
            return
        try:
            pumps = [asyncio.ensure_future(self._pump(*pair)) for pair in ((reader, far_writer), (far_reader, writer))]
            try:
                await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for pump in pumps:
                    pump.cancel()
                await asyncio.gather(*pumps, return_exceptions=True)
        finally:
            writer.transport.abort()
            far_writer.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                await self.thawed.wait()
                if self.delay:
                    await asyncio.sleep(self.delay)
                writer.write(data)
                await writer.drain()


@asynccontextmanager
async def peer(answers: Sequence[bytes | None], *, close: bool = False) -> AsyncIterator[int]:
    """A port that answers each packet with the next of `answers`, then is silent, or hangs up. `??` stands for the packet's id."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            for answer in answers:
                packet = await _packet(reader)
                if answer is not None:
                    writer.write(answer.replace(b"??", _packet_id(packet)))
            while not close and await _packet(reader):
                pass
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def _packet(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readexactly(2)
    length, shift = head[1] & 127, 7
    while head[-1] & 128:
        head += await reader.readexactly(1)
        length |= (head[-1] & 127) << shift
        shift += 7
    return head[:1] + await reader.readexactly(length)


def _packet_id(packet: bytes) -> bytes:
    """Of a SUBSCRIBE, or of a PUBLISH with QoS 1."""
    if packet[0] >> 4 == 3:
        start = 3 + int.from_bytes(packet[1:3])
        return packet[start : start + 2]
    return packet[1:3]
