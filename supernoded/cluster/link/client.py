"""aiomqtt, completed: the reason codes it drops, the failures it waits out, the sockets it leaves open, the time it takes to read.

It reaches into members of aiomqtt 2.5 that have no public form; the version is pinned for that (docs/decisions/0020).
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import aiomqtt
import paho.mqtt.client as paho
from aiomqtt.types import PahoSocket
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from supernoded.cluster.link.fabric import Message
from supernoded.cluster.link.inlet import Inlet

T = TypeVar("T")

FAREWELL = 1.0  # seconds for an orderly end
MOST_BYTES = 8_000_000  # of the moment that may wait for handlers: two seconds of what 4,096 nodes tell (ours)
READS = 16  # of the socket, before others have their turn
BURST = 32  # messages that are handled in one go: some 30 ms of digests (ours)
NODELAY = (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # without it Nagle and delayed ACK cost 40 ms now and then


def make_properties(kind: int) -> Properties:
    """An empty set of MQTT 5 properties for packets of `kind`."""
    return Properties(kind)  # type: ignore[no-untyped-call] # paho leaves this constructor untyped


def silent_logger() -> logging.Logger:
    """For paho: what it logs as an error, such as each lost link, is an exception here already."""
    return logging.Logger("paho", level=logging.CRITICAL + 1)  # noqa: LOG001 - one from the tree would be silenced for everybody


class Client(aiomqtt.Client):
    """Used by `open`, `send`, `subscribe`, `next` and `close`, once; the context manager of aiomqtt is not used.

    `most` messages may wait to be taken by `next`.
    """

    def __init__(self, host: str, port: int, *, log: logging.Logger, inflight: int, timeout: float, most: int, **settings: Any) -> None:
        super().__init__(
            host,
            port,
            timeout=timeout,
            protocol=aiomqtt.ProtocolVersion.V5,
            max_inflight_messages=inflight,
            logger=silent_logger(),
            **settings,
        )
        self._client.connect_timeout = timeout
        self._log, self._inflight, self._most = log, inflight, most
        self._window = asyncio.Semaphore(inflight)
        self._answers: dict[int, asyncio.Future[ReasonCode]] = {}
        self._heard = deque[Message]()  # what the broker keeps until it is acknowledged
        self._moments, self._bytes = deque[Message](), 0  # what is of the moment, and how much of it there is
        self._turn = 0
        self._news = asyncio.Event()  # something was heard, or the link has ended
        self._disconnected.add_done_callback(lambda _: self._news.set())
        self.max_packet = 0  # bytes that the broker takes, 0 = did not say
        self.discarded = self.outdated = 0
        self.broken = False  # it did not do what was asked in time, or was lost: there is no order left to leave it in

    async def open(self) -> None:
        """Connect and wait for CONNACK. Raises OSError or MqttError; nothing is left open then."""
        attempt = self._loop.run_in_executor(None, self._client_connect)
        try:
            await asyncio.shield(attempt)
            await self._unless_lost(self._connected)
        except asyncio.CancelledError:
            attempt.add_done_callback(self._abandon_attempt)  # the thread may still be about to open the socket
            raise
        except (OSError, aiomqtt.MqttError):
            self.abandon()
            raise

    async def close(self) -> None:
        """Say goodbye, so that the broker forgets will and session, and close. Never takes longer than FAREWELL."""
        goodbye = make_properties(PacketTypes.DISCONNECT)
        goodbye.SessionExpiryInterval = 0
        try:
            if not self.broken and not self._disconnected.done() and self._client.disconnect(properties=goodbye) == paho.MQTT_ERR_SUCCESS:
                await asyncio.wait([self._disconnected], timeout=FAREWELL)
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close the socket now and take the loop's callbacks away."""
        self._client._sock_close()  # paho closes only after a DISCONNECT that a dead peer never takes
        for future in (self._connected, self._disconnected):
            if future.done() and not future.cancelled():
                future.exception()  # mark as seen; it was raised where it mattered

    async def send(self, topic: str, payload: bytes, qos: int, *, retain: bool, properties: Properties) -> ReasonCode:
        """Publish and return the broker's reason code (QoS 0: success once written). Raises MqttError when there is no answer."""
        async with self._window:
            info = self._client.publish(topic, payload, qos, retain, properties)
            if info.rc != paho.MQTT_ERR_SUCCESS:
                raise aiomqtt.MqttCodeError(info.rc, "could not publish")
            answer = self._answers[info.mid] = self._loop.create_future()
            try:
                return await self._unless_lost(answer)
            finally:
                self._answers.pop(info.mid, None)

    async def next(self) -> Message:
        """The next message that was heard. Raises MqttError when there is none and the link has ended."""
        self._turn = (self._turn + 1) % BURST
        if self._turn == 0:  # a backlog that is handled in one go would keep everybody else from their turn
            await asyncio.sleep(0)
        while not self._heard and not self._moments:
            if self._disconnected.done():
                raise aiomqtt.MqttError("the link was lost") from self._disconnected.exception()
            self._news.clear()
            await self._news.wait()
        return self._heard.popleft() if self._heard else self._take_moment()

    def _take_moment(self) -> Message:
        message = self._moments.popleft()
        self._bytes -= len(message.payload)
        return message

    async def _unless_lost(self, answer: asyncio.Future[T]) -> T:
        either: list[asyncio.Future[Any]] = [answer, self._disconnected]
        await asyncio.wait(either, timeout=self.timeout, return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            return answer.result()
        if self._disconnected.done():
            raise aiomqtt.MqttError("the link was lost") from self._disconnected.exception()
        raise TimeoutError(f"no answer within {self.timeout:g} s")

    def _abandon_attempt(self, attempt: asyncio.Future[None]) -> None:
        if not attempt.cancelled():
            attempt.exception()
        self.abandon()

    # Called by paho ------------------------------------------------------------------------------------------------------------

    def _on_connect(
        self, client: paho.Client, userdata: Any, flags: paho.ConnectFlags, reason_code: ReasonCode, properties: Properties | None = None
    ) -> None:
        """Keep what the broker says of its limits: paho heeds neither, and a broker ends the link over both."""
        if properties is not None:
            self.max_packet = int(getattr(properties, "MaximumPacketSize", 0))
            self._window = asyncio.Semaphore(min(self._inflight, int(getattr(properties, "ReceiveMaximum", self._inflight))))
        super()._on_connect(client, userdata, flags, reason_code, properties)

    def _on_disconnect(
        self, client: paho.Client, userdata: Any, flags: paho.DisconnectFlags, reason_code: ReasonCode, properties: Properties | None = None
    ) -> None:
        """Before CONNACK aiomqtt would wait out its timeout."""
        if not self._connected.done():
            self._connected.set_exception(aiomqtt.MqttCodeError(reason_code, "the link ended before the broker answered"))
        super()._on_disconnect(client, userdata, flags, reason_code, properties)

    def _on_publish(self, client: paho.Client, userdata: Any, mid: int, reason_code: ReasonCode, properties: Properties) -> None:
        """Hand the reason code of PUBACK to `send`: aiomqtt drops it, so that a refused topic looks like a success."""
        del client, userdata, properties
        answer = self._answers.get(mid)
        if answer is not None and not answer.done():
            answer.set_result(reason_code)

    def _on_message(self, client: paho.Client, userdata: Any, message: paho.MQTTMessage) -> None:
        """What paho has read."""
        del client, userdata
        self._keep(
            Message(
                topic=message.topic,
                payload=bytes(message.payload),
                retain=message.retain,
                qos=message.qos,
                expiry=int(getattr(message.properties, "MessageExpiryInterval", 0)),
                response_topic=str(getattr(message.properties, "ResponseTopic", "")),
                correlation=bytes(getattr(message.properties, "CorrelationData", b"")),
            )
        )

    def _keep_moment(self, message: Message) -> None:
        """Where handlers do not keep up the oldest goes: what is of the moment must not come later and later."""
        self._moments.append(message)
        self._bytes += len(message.payload)
        while self._bytes > MOST_BYTES:
            self._take_moment()
            self.outdated += 1
        self._news.set()

    def _keep(self, message: Message) -> None:
        """Say once, not for each message, that the handlers do not keep up."""
        if len(self._heard) < self._most:
            self._heard.append(message)
            self._news.set()
            return
        self.discarded += 1
        if self.discarded == 1:
            self._log.error("more than %d messages wait for their handlers: what comes now is discarded", self._most)

    def _on_socket_open(self, client: paho.Client, userdata: Any, sock: PahoSocket) -> None:
        """Paho opens the socket in a thread, and it may be closed again before the loop gets to watch it."""
        del userdata
        if isinstance(sock, socket.socket):
            sock.setsockopt(*NODELAY)
        inlet = client._sock = Inlet(sock, self._keep_moment)
        self._loop.call_soon_threadsafe(self._watch_reads, inlet)

    def _on_socket_register_write(self, client: paho.Client, userdata: Any, sock: PahoSocket) -> None:
        """As above: aiomqtt registers a socket that is closed by then, and the loop prints a traceback."""
        del client, userdata
        self._loop.call_soon_threadsafe(self._watch_writes, sock)

    def _watch_reads(self, inlet: Inlet) -> None:
        if inlet.fileno() >= 0:
            self._loop.add_reader(inlet.fileno(), self._guard, partial(self._read, inlet))
            self._misc_task = self._loop.create_task(self._misc_loop())

    def _watch_writes(self, sock: PahoSocket) -> None:
        if sock.fileno() >= 0:
            self._loop.add_writer(sock.fileno(), self._guard, self._client.loop_write)

    def _read(self, inlet: Inlet) -> None:
        """Take in what is there before it is handled: an acknowledgement must not wait behind a thousand digests."""
        for _ in range(READS):
            if self._client.socket() is not inlet:  # paho has closed it, perhaps over what it read
                return
            more = inlet.fill()
            while inlet.is_due() and self._client.socket() is inlet:
                self._client.loop_read()
            if not more:
                return
        self._loop.call_soon(self._guard, partial(self._read, inlet))

    def _guard(self, step: Callable[[], object]) -> None:
        try:
            step()
        except Exception as error:  # noqa: BLE001 - paho's decoders raise anything on bytes that are no MQTT; the waiters get it
            if not self._disconnected.done():
                self._disconnected.set_exception(error)
