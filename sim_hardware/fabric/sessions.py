"""What the broker knows beyond a connection: retained messages, sessions, and what is still to be delivered."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from sim_hardware.fabric.packets import AnyPacket, Publish
from sim_hardware.fabric.topics import matches
from supernoded.cluster.link.fabric import Message

PENDING = 1000  # messages waiting for one session, as in mosquitto's max_queued_messages; newer ones are dropped

Send = Callable[[AnyPacket], None]


@dataclass(frozen=True)
class Stored:
    """A message with the virtual time at which it expires."""

    message: Message
    deadline: float

    @classmethod
    def of(cls, message: Message, now: float) -> Stored:
        """Store a message that came in now."""
        return cls(message, now + message.expiry if message.expiry else math.inf)

    def remaining(self, now: float, *, retain: bool) -> Message | None:
        """The message to send now, with the expiry that is left; None when it has expired."""
        if now >= self.deadline:
            return None
        expiry = 0 if math.isinf(self.deadline) else math.ceil(self.deadline - now)
        return msgspec.structs.replace(self.message, expiry=expiry, retain=retain)


@dataclass
class Session:
    """One client's subscriptions and undelivered messages; they outlive the connection until `expires`."""

    client_id: str
    expires: float = math.inf  # virtual time; infinite while connected
    send: Send | None = None  # to the connected client
    filters: dict[str, None] = field(default_factory=dict)
    pending: dict[int, tuple[Stored, bool]] = field(default_factory=dict)  # by number, with the retain mark, until acknowledged
    dropped: int = 0
    _number: int = 0

    def wants(self, topic: str) -> bool:
        """Whether a subscription selects the topic."""
        return any(matches(pattern, topic) for pattern in self.filters)

    def offer(self, stored: Stored, now: float, *, retain: bool = False) -> None:
        """Send a message, and keep it until it is acknowledged (QoS 1); without a connection QoS 0 is lost."""
        self._number += 1
        if stored.message.qos:
            if len(self.pending) >= PENDING:
                self.dropped += 1
                return
            self.pending[self._number] = (stored, retain)
        self._transmit(self._number, stored, now, retain=retain)

    def resume(self, send: Send, now: float) -> None:
        """A client has connected: send again what it has not acknowledged."""
        self.send, self.expires = send, math.inf
        for number, (stored, retain) in list(self.pending.items()):
            self._transmit(number, stored, now, retain=retain)

    def suspend(self, expires: float) -> None:
        """The connection is gone."""
        self.send, self.expires = None, expires

    def _transmit(self, number: int, stored: Stored, now: float, *, retain: bool) -> None:
        if self.send is None:
            return
        message = stored.remaining(now, retain=retain)
        if message is None:
            self.pending.pop(number, None)
        else:
            self.send(Publish(number, message))
