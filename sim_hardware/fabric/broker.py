"""The broker: a process of its own on the simulated network, and the daemon's `Fabric` for all who connect to it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sim_hardware.fabric.link import SimLink
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
from sim_hardware.fabric.sessions import Session, Stored
from sim_hardware.fabric.topics import is_filter, is_topic, matches
from sim_hardware.loop.process import Process
from sim_hardware.net import Net
from supernoded.cluster.link.fabric import Link, Message
from supernoded.errors import CertificateRefusedError, SessionError

CONNECT_TIMEOUT = 10.0  # seconds; aiomqtt's default
GRACE = 1.5  # keepalives of silence after which a broker gives a client up: MQTT 5 section 3.1.2.10
REFUSED = "certificate refused"
MOST_PAST = 20_000  # retained messages that are remembered after they were replaced


class Broker:
    """An MQTT-5-like broker. It runs once `start` has been called; what it keeps survives `stop` as a disk would."""

    def __init__(self, net: Net, *, host: str = "broker", port: int = 1883, keepalive: float = 5.0, session_expiry: float = 300.0) -> None:
        self.net, self.host, self.port = net, host, port
        self.keepalive, self.session_expiry = keepalive, session_expiry
        self.retained: dict[str, Stored] = {}
        self.sessions: dict[str, Session] = {}
        self.process: Process | None = None
        self._clients: dict[str, Client] = {}
        self._past: deque[tuple[float, str, Stored | None]] = deque(maxlen=MOST_PAST)  # what a retained message took the place of, and when
        self._rewound: dict[str, tuple[Stored | None, Stored | None]] = {}  # by topic: the old one, and the one that it took the place of
        self._denied: dict[str, None] = {}
        self._refused: dict[str, None] = {}

    # for scenarios

    def start(self) -> Process:
        """Start the broker's process. Raises ValueError while it runs."""
        self.process = self.net.loop.spawn(self.host, self._serve)
        return self.process

    def stop(self, *, keep_retained: bool = True, keep_sessions: bool = True) -> None:
        """Kill it: all links are lost, no will is published. What is not kept is forgotten, as by a broker without persistence."""
        if self.process is not None:
            self.net.loop.kill(self.process)
        for client_id in self._clients:
            self.sessions[client_id].suspend(self.now() + self.session_expiry)
        self._clients.clear()
        if not keep_retained:
            self.retained.clear()
        if not keep_sessions:
            self.sessions.clear()

    def rewind(self, seconds: float) -> None:
        """Retain what was retained so many seconds ago, as from an old copy; with 0 undo that where nobody has said anything since."""
        if not seconds:
            self._put({topic: new for topic, (old, new) in self._rewound.items() if self.retained.get(topic) is old})
            self._rewound.clear()
            return
        before = {topic: kept for at, topic, kept in reversed(self._past) if at > self.now() - seconds}
        self._rewound = {topic: (old, self.retained.get(topic)) for topic, old in before.items() if self.retained.get(topic) is not old}
        self._put({topic: old for topic, (old, _) in self._rewound.items()})

    def is_rewound(self) -> bool:
        """Whether something is retained that is older than what was."""
        return any(self.retained.get(topic) is old for topic, (old, _) in self._rewound.items())

    def _put(self, messages: dict[str, Stored | None]) -> None:
        for topic, stored in messages.items():
            if stored is None:
                self.retained.pop(topic, None)
            else:
                self.retained[topic] = stored

    def deny(self, pattern: str) -> None:
        """Refuse to publish to, and to subscribe exactly to, what this filter selects."""
        self._denied[pattern] = None

    def allow(self, pattern: str) -> None:
        """Undo `deny`."""
        self._denied.pop(pattern, None)

    def refuse(self, client_id: str) -> None:
        """Refuse this client's certificate from now on."""
        self._refused[client_id] = None

    def now(self) -> float:
        """Virtual seconds."""
        return self.net.loop.time()

    # the daemon's port

    @asynccontextmanager
    async def connect(self, client_id: str, will: Message) -> AsyncIterator[Link]:
        """See `Fabric.connect`; runs in the client's process."""
        link = await self._open(client_id, will)
        try:
            yield link
        finally:
            link.leave()

    async def _open(self, client_id: str, will: Message) -> SimLink:
        name = f"broker {self.host}:{self.port}"
        loop = self.net.loop
        link = SimLink(loop, name, self.keepalive)
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                await loop.create_connection(lambda: link, self.host, self.port)
                answer = await link.open(client_id, will)
        except TimeoutError as error:
            link.leave()
            raise SessionError(f"{name} does not answer within {CONNECT_TIMEOUT} s; check the network and the broker") from error
        except SessionError:
            raise
        except OSError as error:
            raise SessionError(f"{name} cannot be reached: {error}; check that it runs") from error
        if answer.reason:
            link.leave()
            raise CertificateRefusedError(f"{name} refused {client_id}: {answer.reason}; check this node's certificate")
        return link

    # the broker's own side

    async def _serve(self) -> None:
        server = await self.net.loop.create_server(lambda: Client(self), None, self.port)
        async with server:
            await server.serve_forever()

    def admit(self, client: Client, request: Connect) -> bool:
        """Give the client its session, new or old, and end an older connection of the same name."""
        if request.client_id in self._refused:
            client.send(Connack(REFUSED))
            return False
        older = self._clients.get(request.client_id)
        if older is not None:
            older.end("the session was taken over by another connection")
        session = self.sessions.get(request.client_id)
        if session is None or session.expires <= self.now():
            session = self.sessions[request.client_id] = Session(request.client_id)
        self._clients[request.client_id] = client
        client.session = session
        client.send(Connack())
        session.resume(client.send, self.now())
        return True

    def publish(self, message: Message) -> str:
        """Take a message and hand it to all who want it; a reason when it is refused."""
        if not is_topic(message.topic):
            return "topic name invalid"
        if any(matches(pattern, message.topic) for pattern in self._denied):
            return "not authorized"
        stored = Stored.of(message, self.now())
        if message.retain:
            self._past.append((self.now(), message.topic, self.retained.get(message.topic)))
        if message.retain and message.payload:
            self.retained[message.topic] = stored
        elif message.retain:
            self.retained.pop(message.topic, None)
        for _, session in sorted(self.sessions.items()):
            if session.expires > self.now() and session.wants(message.topic):
                session.offer(stored, self.now())
        return ""

    def subscribe(self, session: Session, filters: tuple[str, ...]) -> tuple[str, ...]:
        """Add subscriptions and send what is retained under them; gives back the filters that were refused."""
        refused = tuple(pattern for pattern in filters if not is_filter(pattern) or pattern in self._denied)
        accepted = [pattern for pattern in filters if pattern not in refused]
        session.filters.update(dict.fromkeys(accepted))
        for topic, stored in sorted(self.retained.items()):
            if any(matches(pattern, topic) for pattern in accepted):
                session.offer(stored, self.now(), retain=True)
        return refused

    def drop(self, client: Client, session: Session, will: Message | None) -> None:
        """A connection is gone; its session stays for a while, and its will is published unless it is void."""
        if self._clients.get(session.client_id) is client:
            del self._clients[session.client_id]
            session.suspend(self.now() + self.session_expiry)
        if will is not None:
            self.publish(will)


class Client(PacketProtocol):
    """The broker's end of one connection."""

    def __init__(self, broker: Broker) -> None:
        super().__init__()
        self._broker = broker
        self.session: Session | None = None
        self._will: Message | None = None
        self._heard = broker.now()
        self._watch()

    def handle(self, packet: AnyPacket) -> None:
        """Do what the client asks; before it has a session it may only connect."""
        self._heard = self._broker.now()
        match packet:
            case Connect():
                if self._broker.admit(self, packet):
                    self._will = packet.will
            case Ping():
                self.send(Pong())
            case _ if self.session is not None:
                self._serve(self.session, packet)

    def _serve(self, session: Session, packet: AnyPacket) -> None:
        match packet:
            case Publish(number=number, message=message):
                reason = self._broker.publish(message)
                if message.qos:
                    self.send(Puback(number, reason))
            case Puback(number=number):
                session.pending.pop(number, None)
            case Subscribe(number=number, filters=filters):
                self.send(Suback(number, self._broker.subscribe(session, filters)))
            case Unsubscribe(number=number, filters=filters):
                for pattern in filters:
                    session.filters.pop(pattern, None)
                self.send(Suback(number))
            case Disconnect():
                self._will = None
                self._leave()

    def end(self, reason: str) -> None:
        """End the connection and say why; the will stands."""
        self.send(Disconnect(reason))
        self._leave()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        del exc
        self._leave()

    def _watch(self) -> None:
        due = self._heard + GRACE * self._broker.keepalive
        if self._broker.now() >= due:
            self.end("keep alive timeout")
        elif self.transport is None or not self.transport.is_closing():
            self._broker.net.loop.call_at(due, self._watch)

    def _leave(self) -> None:
        session, self.session = self.session, None
        if session is not None:
            self._broker.drop(self, session, self._will)
        if self.transport is not None:
            self.transport.close()
