"""The message port on aiomqtt: one MQTT 5 link, with every refusal as an error that names broker, reason and remedy."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import aiomqtt
from aiomqtt.exceptions import MqttConnectError
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from supernoded.cluster import topics
from supernoded.cluster.link.client import Client, make_properties
from supernoded.cluster.link.fabric import Message, SubscribeDeniedError
from supernoded.cluster.link.reasons import LINK_REMEDY, MESSAGE_REMEDY, TRANSIENT, explain_tls
from supernoded.cluster.link.tls import TlsFiles, build_context, probe
from supernoded.errors import CertificateRefusedError, PublishDeniedError, SessionError

MAX_PACKET = 262_144  # bytes that the broker may send us in one packet
MAX_INCOMING = 10_000  # messages that may wait for our handlers


class AiomqttFabric:
    """Links to one broker. Files are read at each connect, so that a renewed password or certificate counts at once."""

    def __init__(
        self,
        host: str,
        port: int,
        log: logging.Logger,
        *,
        username: str = "",
        password_file: str = "",
        tls: TlsFiles | None = None,
        keepalive: int = 10,
        session_expiry: int = 300,
        inflight: int = 16,
        timeout: float = 5.0,
    ) -> None:
        self._host, self._port, self._log = host, port, log
        self._username, self._password_file, self._tls = username, password_file, tls
        self._keepalive, self._session_expiry, self._inflight, self._timeout = keepalive, session_expiry, inflight, timeout
        self._broken: set[str] = set()  # client ids whose last link broke, so that the broker still keeps their session

    @property
    def broker(self) -> str:
        """The broker as messages name it."""
        return f"broker {self._host}:{self._port}"

    @asynccontextmanager
    async def connect(self, client_id: str, will: Message) -> AsyncIterator[AiomqttLink]:
        """See `Fabric.connect`. Bounded: `timeout` each for TCP, TLS and the broker's answer, and 3 s for the probe of a failed one."""
        password, context = await asyncio.to_thread(self._read_files)
        client = self._client(client_id, will, password, context)
        try:
            await client.open()
        except (OSError, aiomqtt.MqttError) as error:
            raise await self._explain(error, context) from error
        try:
            yield AiomqttLink(client, self.broker)
        finally:
            await client.close()
            (self._broken.add if client.broken else self._broken.discard)(client_id)

    def _read_files(self) -> tuple[str | None, ssl.SSLContext | None]:
        password = None
        if self._password_file:
            try:
                password = Path(self._password_file).read_text(encoding="utf-8").strip("\r\n")
            except (OSError, UnicodeDecodeError) as error:
                raise SessionError(f"mqtt.password_file: {self._password_file} cannot be read ({error})") from error
        return password, build_context(self._tls) if self._tls is not None else None

    def _client(self, client_id: str, will: Message, password: str | None, context: ssl.SSLContext | None) -> Client:
        properties = make_properties(PacketTypes.CONNECT)
        properties.SessionExpiryInterval = self._session_expiry
        properties.MaximumPacketSize = MAX_PACKET
        return Client(
            self._host,
            self._port,
            log=self._log,
            inflight=self._inflight,
            timeout=self._timeout,
            most=MAX_INCOMING,
            identifier=client_id,
            username=self._username or None,
            password=password,
            tls_context=context,
            clean_start=client_id not in self._broken,  # rumqttd keeps a session that was ended in order
            keepalive=self._keepalive,
            properties=properties,
            will=aiomqtt.Will(will.topic, will.payload, will.qos, will.retain),
        )

    async def _explain(self, error: OSError | aiomqtt.MqttError, context: ssl.SSLContext | None) -> SessionError:
        if isinstance(error, ssl.SSLError) and (why := explain_tls(error)) is not None:
            return CertificateRefusedError(f"{self.broker}: {why}")
        if isinstance(error, MqttConnectError):
            return SessionError(f"{self.broker} refuses the link: {_reason(error)}")
        reached = not isinstance(error, (socket.gaierror, ConnectionRefusedError))
        if reached and context is not None and (found := await probe(self._host, self._port, context)) is not None:
            return found
        return SessionError(f"{self.broker}: {_why_unreachable(error, self._timeout, tls=context is not None)}")


class AiomqttLink:
    """See `Link`."""

    def __init__(self, client: Client, broker: str) -> None:
        self._client, self._broker = client, broker

    async def publish(self, message: Message) -> None:
        """See `Link.publish`. Bounded by the fabric's timeout, once the messages before it are through."""
        size = len(message.payload) + len(message.topic)
        if self._client.max_packet and size > self._client.max_packet - 64:  # 64: header and properties
            raise PublishDeniedError(f"{message.topic}: {size} bytes, {self._broker} takes {self._client.max_packet}: raise its limit")
        try:
            code = await self._client.send(
                message.topic, message.payload, message.qos, retain=message.retain, properties=_properties(message)
            )
        except (OSError, aiomqtt.MqttError) as error:
            raise self._lost(error) from error
        if code.value in TRANSIENT:
            raise SessionError(f"{self._broker} cannot take {message.topic} now: {code.getName()}")
        if code.is_failure:
            remedy = MESSAGE_REMEDY.get(code.value, "look at its log")
            raise PublishDeniedError(f"{self._broker} refuses {message.topic}: {code.getName()} (0x{code.value:02X}): {remedy}")

    async def subscribe(self, filters: Sequence[str]) -> None:
        """See `Link.subscribe`. Bounded by the fabric's timeout."""
        try:
            codes = await self._client.subscribe([(name, 0 if topics.is_of_moment(name) else 1) for name in filters])
        except (OSError, aiomqtt.MqttError) as error:
            raise self._lost(error) from error
        for name, code in zip(filters, codes, strict=False):
            if isinstance(code, ReasonCode) and code.is_failure:
                what = f"{self._broker} refuses to let us hear {name}: {code.getName()} (0x{code.value:02X})"
                raise SubscribeDeniedError(f"{what}: let its access list allow this node to read it")

    async def unsubscribe(self, filters: Sequence[str]) -> None:
        """See `Link.unsubscribe`. Bounded by the fabric's timeout."""
        try:
            await self._client.unsubscribe(list(filters))
        except (OSError, aiomqtt.MqttError) as error:
            raise self._lost(error) from error

    async def messages(self) -> AsyncIterator[Message]:
        """See `Link.messages`."""
        try:
            while True:
                yield await self._client.next()
        except (OSError, aiomqtt.MqttError) as error:
            raise self._lost(error) from error

    def _lost(self, error: BaseException) -> SessionError:
        self._client.broken = True
        if isinstance(error, TimeoutError):
            return SessionError(f"{self._broker}: {error}: it hangs, or the network does")
        return SessionError(f"{self._broker} ended the link: {_reason(error)}")


def _why_unreachable(error: OSError | aiomqtt.MqttError, timeout: float, *, tls: bool) -> str:
    match error:
        case socket.gaierror():
            return f"the host name cannot be resolved ({error.strerror}): check mqtt.host and the name service"
        case ConnectionRefusedError():
            return "nobody listens there: start the broker, or check mqtt.host and mqtt.port"
        case TimeoutError():
            return f"no answer within {timeout:g} s: is it reachable, an MQTT 5 broker, and not overloaded?"
        case ConnectionError() if tls:
            return "it broke off the TLS handshake: name its TLS port, or leave out mqtt.ca_file and mqtt.certificate_file"
        case OSError():
            return f"it cannot be reached ({error}): check the network and mqtt.host"
        case _:
            return "it ended the link without an answer: is this the port of an MQTT 5 broker, and does it want TLS?"


def _reason(error: BaseException) -> str:
    """The reason code in the chain of an error of aiomqtt, with its remedy."""
    link: BaseException | None = error
    while link is not None and not isinstance(link, aiomqtt.MqttCodeError):
        link = link.__cause__
    code = link.rc if link is not None else None
    if not isinstance(code, ReasonCode) or code.value not in LINK_REMEDY:
        return "the connection broke, or the broker was stopped"
    return f"{code.getName()} (0x{code.value:02X}): {LINK_REMEDY[code.value]}"


def _properties(message: Message) -> Properties:
    properties = make_properties(PacketTypes.PUBLISH)
    if message.expiry:
        properties.MessageExpiryInterval = message.expiry
    if message.response_topic:
        properties.ResponseTopic = message.response_topic
    if message.correlation:
        properties.CorrelationData = message.correlation
    return properties
