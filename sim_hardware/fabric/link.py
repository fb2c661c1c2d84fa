"""A client's end of a session with the simulated broker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from itertools import count

from sim_hardware.fabric.packets import (
    AnyPacket,
    Connack,
    Connect,
    Disconnect,
    PacketProtocol,
    Ping,
    Pong,
    Puback,
    Publish,
    Suback,
    Subscribe,
    Unsubscribe,
)
from supernoded.cluster.link.fabric import Message
from supernoded.errors import PublishDeniedError, SessionError

INBOX = 10_000  # messages; a client that reads so much slower than it is sent to loses its link


class SimLink(PacketProtocol):
    """A `Link` of the daemon's message port. It notices a silent broker after two keepalives at the latest."""

    def __init__(self, loop: asyncio.AbstractEventLoop, broker: str, keepalive: float) -> None:
        super().__init__()
        self._loop, self._broker, self._keepalive = loop, broker, keepalive
        self._why = ""  # it was lost; empty while it lives
        self._inbox: asyncio.Queue[Message | None] = asyncio.Queue(INBOX)
        self._numbers = count(1)
        self._answers: dict[int, asyncio.Future[AnyPacket]] = {}  # number 0 is the connection itself
        self._answered = True
        self._beat: asyncio.TimerHandle | None = None

    async def open(self, client_id: str, will: Message) -> Connack:
        """Ask for the session. Raises SessionError when the link is lost meanwhile."""
        answer = await self._ask(0, Connect(client_id, will))
        self._keep_alive()
        assert isinstance(answer, Connack)  # noqa: S101 - number 0 is answered by nothing else
        return answer

    async def publish(self, message: Message) -> None:
        """See `Link.publish`."""
        self._check()
        number = next(self._numbers)
        if message.qos == 0:
            self.send(Publish(number, message))
            return
        answer = await self._ask(number, Publish(number, message))
        if isinstance(answer, Puback) and answer.reason:
            raise PublishDeniedError(
                f"{self._broker}: publishing to {message.topic} was refused: {answer.reason}; give this client the right"
            )

    async def subscribe(self, filters: Sequence[str]) -> None:
        """See `Link.subscribe`."""
        number = next(self._numbers)
        answer = await self._ask(number, Subscribe(number, tuple(filters)))
        if isinstance(answer, Suback) and answer.refused:
            raise SessionError(f"{self._broker}: subscribing to {answer.refused[0]} was refused; check the filter and this client's rights")

    async def unsubscribe(self, filters: Sequence[str]) -> None:
        """See `Link.unsubscribe`."""
        number = next(self._numbers)
        await self._ask(number, Unsubscribe(number, tuple(filters)))

    async def messages(self) -> AsyncIterator[Message]:
        """See `Link.messages`; what had arrived before the loss still comes."""
        while (message := await self._next()) is not None:
            yield message
        self._check()

    def leave(self) -> None:
        """Disconnect in order: no will."""
        self.send(Disconnect())
        self._lose(f"{self._broker}: the link was closed by this side")

    async def _next(self) -> Message | None:
        message = await self._inbox.get()
        if message is None:
            self._inbox.put_nowait(None)  # the end is the end for whoever asks next as well
        return message

    async def _ask(self, number: int, packet: AnyPacket) -> AnyPacket:
        self._check()
        self._answers[number] = self._loop.create_future()
        self.send(packet)
        try:
            return await self._answers[number]
        finally:
            del self._answers[number]

    def _check(self) -> None:
        if self._why:
            raise SessionError(self._why)

    def handle(self, packet: AnyPacket) -> None:
        """Sort what comes from the broker."""
        match packet:
            case Publish():
                self._take(packet)
            case Connack():
                self._answer(0, packet)
            case Puback(number=number) | Suback(number=number):
                self._answer(number, packet)
            case Pong():
                self._answered = True
            case Disconnect(reason=reason):
                self._lose(f"{self._broker} ended the session: {reason}")

    def _take(self, packet: Publish) -> None:
        if self._inbox.qsize() >= INBOX - 1:
            self._lose(f"{self._broker}: {INBOX} messages wait to be read; read faster or subscribe to less")
            return
        self._inbox.put_nowait(packet.message)
        if packet.message.qos:
            self.send(Puback(packet.number))

    def _answer(self, number: int, packet: AnyPacket) -> None:
        future = self._answers.get(number)
        if future is not None and not future.done():
            future.set_result(packet)

    def _keep_alive(self) -> None:
        if self._why:
            return
        if not self._answered:
            self._lose(f"{self._broker} has not answered for {self._keepalive} s")
            return
        self._answered = False
        self.send(Ping())
        self._beat = self._loop.call_later(self._keepalive, self._keep_alive)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._lose(f"{self._broker}: the connection was lost: {exc or 'closed by the broker'}")

    def _lose(self, why: str) -> None:
        if self._why:
            return
        self._why = why
        self._inbox.put_nowait(None)
        if self._beat is not None:
            self._beat.cancel()
        for future in self._answers.values():
            if not future.done():
                future.set_exception(SessionError(why))
        if self.transport is not None:
            self.transport.close()
