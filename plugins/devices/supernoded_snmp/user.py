"""Speaks SNMP v3 as one user: finds out the engine's name and time, signs, encrypts, and believes only what the engine has signed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from random import Random

import msgspec

from supernoded.plugin import Clock, Datagrams, WireError
from supernoded_snmp.asn import Oid, show_oid
from supernoded_snmp.ber import RESPONSE, BerError, Response, read_pdu
from supernoded_snmp.messages import V3, get
from supernoded_snmp.usm import Incoming, Keys, is_authentic, make_keys, open_scoped, read_message, write_discovery, write_message

REPORT = 0xA8
ATTEMPTS = 3  # the engine is found, its time is set right, it answers
_STATS: Oid = (1, 3, 6, 1, 6, 3, 15, 1, 1)  # usmStats (RFC 3414)
_NOT_IN_TIME, _UNKNOWN_ENGINE = 2, 4
_WHY = {
    1: "unsupportedSecLevels",
    2: "notInTimeWindows",
    3: "unknownUserNames",
    4: "unknownEngineIDs",
    5: "wrongDigests",
    6: "decryptionErrors",
}
_ADVICE = {1: "; look at priv_file", 3: "; look at user", 5: "; look at auth and auth_file", 6: "; look at priv_file"}


class User(msgspec.Struct, frozen=True):
    """Who speaks."""

    name: str
    hash: str
    authentic: str
    secret: str  # empty = nothing is encrypted

    def __repr__(self) -> str:
        return f"user {self.name}"


class Engine(msgspec.Struct, frozen=True):
    """An agent's own: its name, and its time when we last heard it, at `at` on our clock."""

    name: bytes
    boots: int
    time: int
    at: float
    keys: Keys


class UserSpeech:
    """See `supernoded_snmp.messages.Speech`."""

    version = V3

    def __init__(self, user: User, clock: Clock, chance: Random) -> None:
        self._user, self._clock = user, clock
        self._message, self._salt = chance.randrange(1, 2**30), chance.getrandbits(64)
        self._engine: Engine | None = None

    async def ask(self, wire: Datagrams, request: int, pdu: bytes, within: float, tries: int) -> Response:
        """See `Speech.ask`."""
        return await self._exchange(wire, request, pdu, within, lambda data, fits: wire.exchange(data, fits, within, tries))

    async def order(self, wire: Datagrams, scope: str, request: int, pdu: bytes, within: float) -> Response:
        """See `Speech.order`; an engine that reports has not done it, so that it is sent once all the same."""
        return await self._exchange(wire, request, pdu, within, lambda data, fits: wire.order(scope, data, fits, within))

    async def _exchange(self, wire: Datagrams, request: int, pdu: bytes, within: float, send: _Send) -> Response:
        why = ""
        for _ in range(ATTEMPTS):
            engine = self._engine or await self._discover(wire, within)
            message = self._count()
            time = engine.time + int(self._clock.now() - engine.at)
            self._salt = (self._salt + 1) % 2**64
            salt = self._salt.to_bytes(8, "big")
            data = write_message(message, engine.name, engine.boots, time, self._user.name, engine.keys, salt, pdu)
            came = await send(data, partial(self._fits, message, request))
            incoming = read_message(came)
            tag, body = open_scoped(incoming, engine.keys)
            if tag == RESPONSE:
                return read_pdu(V3, body)
            why = self._learn(incoming, body)
        raise WireError(f"SNMP v3 as {self._user.name}: {why} after {ATTEMPTS} attempts")

    async def _discover(self, wire: Datagrams, within: float) -> Engine:
        message = self._count()
        came = await wire.exchange(write_discovery(message, get(V3, message, ())), lambda datagram: _is_report(datagram, message), within)
        self._engine = self._note(read_message(came))
        return self._engine

    def _note(self, incoming: Incoming) -> Engine:
        known = self._engine
        if known is not None and known.name == incoming.engine:
            keys = known.keys  # they take some milliseconds to make
        else:
            keys = make_keys(incoming.engine, self._user.hash, self._user.authentic, self._user.secret)
        return Engine(incoming.engine, incoming.boots, incoming.time, self._clock.now(), keys)

    def _fits(self, message: int, request: int, datagram: bytes) -> bool:
        """A response has to be signed; of reports only that on time is, as the others are of those who cannot sign."""
        engine = self._engine
        try:
            incoming = read_message(datagram)
            if engine is None or incoming.message != message:
                return False
            tag, body = open_scoped(incoming, engine.keys)
            if tag == RESPONSE:
                return is_authentic(datagram, incoming, engine.keys) and read_pdu(V3, body).request == request
            return tag == REPORT and (_find_reason(body) != _NOT_IN_TIME or is_authentic(datagram, incoming, engine.keys))
        except BerError:
            return False

    def _learn(self, incoming: Incoming, body: bytes) -> str:
        """What a report is about, after what it tells was taken in. Raises WireError for what does not change by asking again."""
        reason = _find_reason(body)
        if reason == _NOT_IN_TIME:
            self._engine = self._note(incoming)
        elif reason == _UNKNOWN_ENGINE:
            self._engine = None
        else:
            shown = _WHY.get(reason) or show_oid(next(iter(dict(read_pdu(V3, body).pairs)), (0, 0)))
            raise WireError(f"SNMP v3 as {self._user.name} was refused: {shown}{_ADVICE.get(reason, '')}")
        return _WHY[reason]

    def _count(self) -> int:
        self._message = self._message % (2**31 - 1) + 1
        return self._message


_Send = Callable[[bytes, Callable[[bytes], bool]], Awaitable[bytes]]


def _is_report(datagram: bytes, message: int) -> bool:
    try:
        incoming = read_message(datagram)
        return incoming.message == message and incoming.engine != b"" and open_scoped(incoming, None).tag == REPORT
    except BerError:
        return False


def _find_reason(body: bytes) -> int:
    """The number of the counter in usmStats that a report names; 0 for another one."""
    for name, _ in read_pdu(V3, body).pairs:
        if name[: len(_STATS)] == _STATS and len(name) > len(_STATS):
            return name[len(_STATS)]
    return 0
