"""An SNMP agent without its socket: a datagram in, a datagram out, or none."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from sim_hardware.devices.snmp.codec import (
    END,
    NO_SUCH_INSTANCE,
    NO_SUCH_OBJECT,
    V1,
    CodecError,
    Request,
    decode_request,
    encode_error,
    encode_response,
)
from sim_hardware.devices.snmp.mib import Mib, SetError, Status
from sim_hardware.devices.snmp.words import Asn, Oid

LARGEST = 1472  # bytes of an answer: what one Ethernet frame holds, as small cards do not fragment
_MOST_PAIRS = 256  # of one answer to GETBULK; ours
_V1_STATUS = {  # RFC 3584, 4.4
    Status.WRONG_TYPE: Status.BAD_VALUE,
    Status.WRONG_LENGTH: Status.BAD_VALUE,
    Status.WRONG_VALUE: Status.BAD_VALUE,
    Status.INCONSISTENT_VALUE: Status.BAD_VALUE,
    Status.NO_ACCESS: Status.NO_SUCH_NAME,
    Status.NO_CREATION: Status.NO_SUCH_NAME,
    Status.NOT_WRITABLE: Status.NO_SUCH_NAME,
    Status.COMMIT_FAILED: Status.GENERAL,
}
Pairs = list[tuple[Oid, Asn]]


class Communities(msgspec.Struct, frozen=True):
    """The words that open the agent: to read, and to write as well. These are the usual ones of a card out of its box."""

    read: str = "public"
    write: str = "private"


class _MissingError(Exception):
    """Version 1 has no value for what is missing, but an error with the place (from 1)."""

    def __init__(self, index: int) -> None:
        super().__init__(f"value {index}")
        self.index = index


class Agent:
    """Answers requests from a tree."""

    def __init__(self, mib: Mib, communities: Communities | None = None) -> None:
        self.mib, self.communities = mib, communities or Communities()

    def answer(self, datagram: bytes) -> bytes | None:
        """The answer; None to what is no request, or comes with the wrong community, as an agent keeps silent then."""
        try:
            request = decode_request(datagram)
        except CodecError:
            return None
        writes = request.community == self.communities.write.encode()
        if not writes and request.community != self.communities.read.encode():
            return None
        try:
            return self._set(request, writes) if request.verb == "set" else self._fit(request, self._look_up(request))
        except SetError as refusal:
            status = _V1_STATUS.get(refusal.status, refusal.status) if request.version == V1 else refusal.status
            return encode_error(request, status, refusal.index)
        except _MissingError as missing:
            return encode_error(request, Status.NO_SUCH_NAME, missing.index)

    def _set(self, request: Request, writes: bool) -> bytes:
        pairs: Pairs = []
        for index, (oid, value) in enumerate(zip(request.names, request.values, strict=True), start=1):
            if not writes:
                raise SetError(Status.NO_ACCESS, index)
            if value is None:
                raise SetError(Status.WRONG_TYPE, index)
            pairs.append((oid, value))
        self.mib.set(pairs)
        return encode_response(request, pairs)

    def _look_up(self, request: Request) -> Pairs:
        if request.verb == "bulk":
            return list(self._walk(request))
        look = self._get if request.verb == "get" else self._next
        pairs = [look(oid) for oid in request.names]
        if request.version == V1:
            missing = next((index for index, (_, value) in enumerate(pairs, start=1) if value.kind == "null"), None)
            if missing is not None:
                raise _MissingError(missing)
        return pairs

    def _get(self, oid: Oid) -> tuple[Oid, Asn]:
        value = self.mib.get(oid)
        return oid, value or (NO_SUCH_INSTANCE if self.mib.is_object(oid) else NO_SUCH_OBJECT)

    def _next(self, oid: Oid) -> tuple[Oid, Asn]:
        return self.mib.next(oid) or (oid, END)

    def _walk(self, request: Request) -> Iterator[tuple[Oid, Asn]]:
        """GETBULK (RFC 3416, 4.2.3): the first names once, the others again and again."""
        for oid in request.names[: request.non_repeaters]:
            yield self._next(oid)
        oids = list(request.names[request.non_repeaters :])
        rounds = min(request.repetitions, _MOST_PAIRS // max(1, len(oids)))
        for _ in range(rounds):
            pairs = [self._next(oid) for oid in oids]
            yield from pairs
            if all(value == END for _, value in pairs):
                return
            oids = [oid for oid, _ in pairs]

    def _fit(self, request: Request, pairs: Pairs) -> bytes:
        """The answer in bytes; GETBULK is cut short to what fits, all else fails as too big."""
        answer = encode_response(request, pairs)
        while len(answer) > LARGEST:
            if request.verb != "bulk":
                return encode_error(request, Status.TOO_BIG, 0, empty=request.version != V1)
            pairs = pairs[: len(pairs) * LARGEST // len(answer)]
            answer = encode_response(request, pairs)
        return answer
