"""The session: the one task that keeps a link to the broker, and what the rest of the daemon says and hears through it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TypeVar

import msgspec

from supernoded.clock import Clock
from supernoded.cluster import topics
from supernoded.cluster.link.fabric import Fabric, Link, Message
from supernoded.cluster.link.outbox import Letter, Outbox
from supernoded.cluster.link.router import Handler, Once, Router
from supernoded.cluster.presence import Claim
from supernoded.cluster.topics import PayloadError, Vitals
from supernoded.errors import JournalError, PublishDeniedError, SessionError

T = TypeVar("T")

BATCH = 32  # letters read and deleted at once
MOMENT = 1000  # messages of the moment that may wait for a slow broker


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds."""

    beat: float = 1.0  # design §10
    listen: float = 2.5  # more than two beats: how long a new life listens for another daemon of its name
    answer: float = 10.0  # the longest wait for the broker to acknowledge anything
    farewell: float = 1.0
    first_pause: float = 0.5  # before the first try to connect again; doubles each time
    longest_pause: float = 30.0
    settled: float = 10.0  # a link that held for this long makes the next pause the first again


class LinkState(msgspec.Struct, frozen=True, kw_only=True):
    """Whether there is a link, since when (`Clock.now`), and a sentence."""

    connected: bool
    since: float
    text: str


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Messages that did not get through in this life; `links` counts the links that came up."""

    links: int = 0
    unsent: int = 0  # of the moment, dropped without a link or behind a slow one
    denied: int = 0  # refused by the broker and dropped
    refused: int = 0  # heard, and not what their topic promises
    dropped: int = 0  # out of a full outbox


class Session:
    """Keeps one link. `publish` and `send` never wait for the broker."""

    def __init__(
        self,
        fabric: Fabric,
        node: str,
        cluster: str,
        life: str,
        clock: Clock,
        outbox: Outbox,
        log: logging.Logger,
        *,
        vitals: Callable[[], Vitals] = Vitals,
        timing: Timing | None = None,
        fingerprint: str = "",
    ) -> None:
        self._fabric, self._clock, self._outbox, self._log, self.vitals = fabric, clock, outbox, log, vitals
        self._timing = timing or Timing()
        self._claim = Claim(node, cluster, life, clock.now(), fingerprint)
        self._chance = clock.stream(f"session {node}")
        self._once = Once(log)
        self._router = Router(self._once)
        self._router.on(self._claim.beat_topic, self._hear_beat)
        self._router.on(self._claim.presence_topic, self._claim.hear_presence)
        self._moment: asyncio.Queue[Message] = asyncio.Queue(MOMENT)
        self._links = self._unsent = self._denied = 0
        self._came_up = 0.0
        self.on_link: list[Callable[[], None]] = []  # called at each new link: what is retained is said again
        self.state = LinkState(connected=False, since=clock.now(), text="not yet connected")

    @property
    def counts(self) -> Counts:
        """What did not get through."""
        return Counts(
            links=self._links, unsent=self._unsent, denied=self._denied, refused=self._router.refused, dropped=self._outbox.dropped
        )

    def on(self, filter_: str, handler: Handler) -> None:
        """Call `handler` with what arrives on a filter, now and after each reconnect, possibly more than once per message.

        A handler returns at once; it raises PayloadError for what is not a payload of its topic.
        """
        self._router.on(filter_, handler)

    def off(self, filter_: str, handler: Handler) -> None:
        """Call `handler` no longer; when it was the last of its filter, the broker is told too."""
        self._router.off(filter_, handler)

    def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        retain: bool = False,
        qos: int = 0,
        expiry: int = 0,
        response_topic: str = "",
        correlation: bytes = b"",
    ) -> bool:
        """Say something of the moment. False = dropped and counted: there is no link, or too much waits already."""
        if self.state.connected:
            message = Message(
                topic=topic,
                payload=payload,
                retain=retain,
                qos=qos,
                expiry=expiry,
                response_topic=response_topic,
                correlation=correlation,
            )
            with suppress(asyncio.QueueFull):
                self._moment.put_nowait(message)
                return True
        self._unsent += 1
        return False

    async def send(self, message: Message, id_: str, *, critical: bool = False) -> None:
        """Say something that must arrive: at least once, in order. Waits for the store only. Raises JournalError, PayloadError."""
        if len(message.payload) > topics.MAX_PAYLOAD:
            raise PayloadError(f"{message.topic}: {len(message.payload)} bytes, at most {topics.MAX_PAYLOAD} may be sent")
        await self._outbox.put(message, id_, critical=critical)

    async def run(self) -> None:
        """Connect, serve, and connect again, for ever."""
        failures = 0
        while True:
            links = self._links
            try:
                await self._hold_link()
            except SessionError as error:
                _stop_if_cancelled()
                held = self._clock.now() - self._came_up if self._links > links else 0.0
                failures = 0 if held > self._timing.settled else failures + 1
                self._say_lost(error)
            with suppress(asyncio.CancelledError):  # on 3.11 one is left over where a group's body and its child fail together
                await self._clock.sleep(self._pause(failures))
            _stop_if_cancelled()

    def _pause(self, failures: int) -> float:
        """Doubling, and between half and all of it by chance: a thousand nodes do not come back in step."""
        longest = min(self._timing.first_pause * 2.0 ** min(failures, 16), self._timing.longest_pause)
        return longest * (0.5 + self._chance.random() / 2)

    async def _hold_link(self) -> None:
        async with self._fabric.connect(self._claim.client_id, self._claim.presence(self._clock.now(), online=False)) as link:
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._listen(link))
                    await self._come_up(link)
                    for duty in (self._deliver, self._say, self._subscribe):
                        group.create_task(duty(link))
                    await self._beat(link)  # in the block: on 3.11 a child that fails while a group is left leaves `cancelling` set
            except ExceptionGroup as errors:
                raise _first(errors) from errors
            except asyncio.CancelledError:
                await self._farewell(link)
                raise
            finally:
                self._go_down()

    async def _come_up(self, link: Link) -> None:
        await self._router.subscribe(self._bounded(link.subscribe))
        if not self._claim.stands:
            await self._clock.sleep(self._timing.listen)  # `_listen` raises when another daemon of our name is heard
            self._claim.stands = True
        await self._pass(link, self._claim.presence(self._clock.now(), online=True))
        self._claim.presence_due = False
        self._links += 1
        self._came_up = self._clock.now()
        self._log.info("connected to the broker as %s after %.1f s", self._claim.client_id, self._clock.now() - self.state.since)
        self.state = LinkState(connected=True, since=self._came_up, text="connected")
        for begin in self.on_link:
            begin()

    def _go_down(self) -> None:
        self._router.forget()
        if self.state.connected:
            self.state = LinkState(connected=False, since=self._clock.now(), text="the link has ended")
        while not self._moment.empty():  # what was of the moment is no longer
            self._moment.get_nowait()
            self._unsent += 1

    def _say_lost(self, error: SessionError) -> None:
        text = str(error)
        if text != self.state.text:
            self._log.warning("no link to the broker: %s", text)
        self.state = msgspec.structs.replace(self.state, text=text)

    async def _farewell(self, link: Link) -> None:
        if self.state.connected:
            with suppress(SessionError, TimeoutError):  # the will says the same, later
                async with asyncio.timeout(self._timing.farewell):
                    await link.publish(self._claim.presence(self._clock.now(), online=False))

    # The duties of one link ----------------------------------------------------------------------------------------------------

    async def _beat(self, link: Link) -> None:
        """Each acknowledged beat also proves that the link works both ways."""
        while True:
            await self._pass(link, self._claim.beat(self._clock.now(), self.vitals()))
            if self._claim.presence_due:
                self._claim.presence_due = False
                await self._pass(link, self._claim.presence(self._clock.now(), online=True))
            await self._clock.sleep(self._timing.beat)

    async def _deliver(self, link: Link) -> None:
        while True:
            try:
                await self._deliver_batch(link, await self._outbox.next(BATCH))
                self._once.over("outbox")
            except JournalError as error:
                self._once.say("outbox", f"the outbox cannot be read or shortened, what waits in it is sent later or twice: {error}")
                await self._clock.sleep(self._timing.first_pause)

    async def _deliver_batch(self, link: Link, letters: Sequence[Letter]) -> None:
        """One after the other, so that the order holds on any broker; what it took, or refused for good, is deleted."""
        through: list[str] = []
        try:
            for letter in letters:
                await self._pass(link, Message(topic=letter.topic, payload=letter.payload, retain=letter.retain, expiry=letter.expiry))
                through.append(letter.id)
        except SessionError:
            await self._outbox.delete(through)
            raise
        await self._outbox.delete(through)

    async def _say(self, link: Link) -> None:
        while True:
            await self._pass(link, await self._moment.get())

    async def _subscribe(self, link: Link) -> None:
        while True:
            await self._router.subscribe(self._bounded(link.subscribe))
            await self._router.unsubscribe(self._bounded(link.unsubscribe))
            await self._router.added()

    async def _listen(self, link: Link) -> None:
        async for message in link.messages():
            self._router.dispatch(message)
        raise SessionError("the messages of the link have ended")

    def _hear_beat(self, message: Message) -> None:
        rival = self._claim.hear_beat(message)
        if rival is not None:
            text = f"another daemon calls itself {rival.node} (life {rival.life}): this one is older and stays"
            self._once.say(f"rival {rival.life}", f"{text}; give one of them another name")

    async def _pass(self, link: Link, message: Message) -> None:
        """Publish; a refusal by the broker costs this message, is counted, and is said once per topic."""
        try:
            await self._bounded(link.publish)(message)
        except PublishDeniedError as error:
            self._denied += 1
            self._once.say(message.topic, f"{error}; its messages are dropped and counted")
        else:
            self._once.over(message.topic)

    def _bounded(self, ask: Callable[[T], Awaitable[None]]) -> Callable[[T], Awaitable[None]]:
        """`ask`, answered in time or not at all."""

        async def answer(what: T) -> None:
            try:
                async with asyncio.timeout(self._timing.answer):
                    await ask(what)
            except TimeoutError as error:
                raise SessionError(f"the broker did not answer within {self._timing.answer:g} s") from error

        return answer


def _first(errors: ExceptionGroup[Exception]) -> Exception:
    """The error that ended the link; one that is no SessionError is a fault of ours and goes first."""
    error: Exception = errors.split(SessionError)[1] or errors
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


def _stop_if_cancelled() -> None:
    """A task group that fails while it is being cancelled raises its failure alone, and the order to stop would be lost."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
