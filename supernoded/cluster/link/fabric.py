"""The message port: what the house needs of an MQTT 5 broker. `mqtt.py` gives it on aiomqtt, the simulator in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import msgspec

from supernoded.errors import SessionError


class SubscribeDeniedError(SessionError):
    """The broker refused a topic filter; the link itself still stands."""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message. `expiry` is in whole seconds, 0 = never."""

    topic: str
    payload: bytes
    retain: bool = False
    qos: int = 1
    expiry: int = 0
    response_topic: str = ""
    correlation: bytes = b""


class Link(Protocol):
    """One live connection to the broker."""

    async def publish(self, message: Message) -> None:
        """Return once the broker has taken it (QoS 1: acknowledged).

        Raises PublishDeniedError when the broker refuses this message, SessionError when the link is lost.
        """
        ...

    async def subscribe(self, filters: Sequence[str]) -> None:
        """Subscribe with QoS 1, to what is of the moment (`topics.is_of_moment`) with QoS 0.

        Raises SubscribeDeniedError naming the filter that was refused, SessionError when the link is lost.
        """
        ...

    async def unsubscribe(self, filters: Sequence[str]) -> None:
        """End subscriptions; ending one that is not there changes nothing. Raises SessionError when the link is lost."""
        ...

    def messages(self) -> AsyncIterator[Message]:
        """What arrives; ends by raising SessionError when the link is lost."""
        ...


class Fabric(Protocol):
    """Where links come from."""

    def connect(self, client_id: str, will: Message) -> AbstractAsyncContextManager[Link]:
        """Open one link. Raises SessionError or CertificateRefusedError, saying broker, reason and remedy.

        Leaving the context ends the link in order: the broker then forgets the will and what it keeps for this client id. A link
        that broke may be taken up again under the same id: subscriptions and messages of QoS 1 were kept for a while.
        """
        ...
