"""Messages of SNMP v1 and v2c to bytes and back, by pysnmp's types and pyasn1's BER."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from pyasn1.codec.ber import decoder, encoder  # type: ignore[import-untyped]  # the library has no types
from pyasn1.error import PyAsn1Error  # type: ignore[import-untyped]  # the library has no types
from pysnmp.proto import api, error  # type: ignore[import-untyped]  # the library has no types

from sim_hardware.devices.snmp.words import Asn, Kind, Oid

V1, V2C = 0, 1
_VERBS = {"get-request": "get", "get-next-request": "next", "set-request": "set", "get-bulk-request": "bulk"}
_TYPES: dict[Kind, tuple[str, str]] = {  # in pysnmp's modules of v1 and of v2c
    "integer": ("Integer", "Integer32"),
    "text": ("OctetString", "OctetString"),
    "oid": ("ObjectIdentifier", "ObjectIdentifier"),
    "ticks": ("TimeTicks", "TimeTicks"),
    "gauge": ("Gauge", "Gauge32"),
    "counter": ("Counter", "Counter32"),
}
_KINDS = {getattr(api.v2c, later).tagSet: kind for kind, (_, later) in _TYPES.items()}  # the tags are the same in both
NO_SUCH_OBJECT, NO_SUCH_INSTANCE, END = Asn("null", 0), Asn("null", 1), Asn("null", 2)
_EXCEPTIONS = ("NoSuchObject", "NoSuchInstance", "EndOfMibView")


class CodecError(Exception):
    """The bytes are no request of SNMP v1 or v2c."""


class Request(msgspec.Struct, frozen=True):
    """What a manager wants. `message` is for `encode_response`."""

    version: int
    community: bytes
    verb: str  # get, next, set, bulk
    names: tuple[Oid, ...]
    values: tuple[Asn | None, ...]  # None: of a type that no cell has, as NULL
    message: Any
    non_repeaters: int = 0
    repetitions: int = 0


def decode_request(data: bytes) -> Request:
    """A request. Raises CodecError."""
    try:
        version = int(api.decodeMessageVersion(data))
        if version not in (V1, V2C):
            raise CodecError(f"SNMP version {version}; there are v1 (0) and v2c (1)")
        module = api.PROTOCOL_MODULES[version]
        message, _ = decoder.decode(data, asn1Spec=module.Message())
        pdu = module.apiMessage.get_pdu(message)
        verb = _VERBS.get(message["data"].getName(), "")
        if not verb:
            raise CodecError(f"{message['data'].getName()} is no request")
        pairs = module.apiPDU.get_varbinds(pdu)
        return Request(
            version=version,
            community=bytes(module.apiMessage.get_community(message)),
            verb=verb,
            names=tuple(tuple(name) for name, _ in pairs),
            values=tuple(_take(value) for _, value in pairs),
            message=message,
            non_repeaters=max(0, int(module.apiBulkPDU.get_non_repeaters(pdu))) if verb == "bulk" else 0,
            repetitions=max(0, int(module.apiBulkPDU.get_max_repetitions(pdu))) if verb == "bulk" else 0,
        )
    except (
        PyAsn1Error,
        error.ProtocolError,
        IndexError,
        ValueError,
        TypeError,
        AttributeError,
    ) as problem:  # what the codec raises on bytes
        raise CodecError(f"no SNMP request: {problem}") from problem


def _take(value: Any) -> Asn | None:
    kind = _KINDS.get(value.tagSet)
    if kind is None:
        return None
    if kind == "text":
        return Asn(kind, bytes(value))
    return Asn(kind, tuple(value) if kind == "oid" else int(value))


def encode_response(request: Request, pairs: Sequence[tuple[Oid, Asn]]) -> bytes:
    """The answer to a request."""
    return _encode(request, [(name, _give(request.version, value)) for name, value in pairs], 0, 0)


def encode_error(request: Request, status: int, index: int, *, empty: bool = False) -> bytes:
    """The answer to a request that fails: its own names and values, or none of them."""
    module = api.PROTOCOL_MODULES[request.version]
    asked = module.apiPDU.get_varbinds(module.apiMessage.get_pdu(request.message))
    return _encode(request, [] if empty else asked, status, index)


def _encode(request: Request, pairs: Sequence[Any], status: int, index: int) -> bytes:
    module = api.PROTOCOL_MODULES[request.version]
    asked = module.apiMessage.get_pdu(request.message)
    pdu = module.apiPDU.get_response(asked)
    module.apiPDU.set_varbinds(pdu, pairs)
    if status:
        module.apiPDU.set_error_status(pdu, status)
        module.apiPDU.set_error_index(pdu, index)
    message = module.apiMessage.get_response(request.message)
    module.apiMessage.set_pdu(message, pdu)
    return bytes(encoder.encode(message))


def _give(version: int, value: Asn) -> Any:
    module = api.PROTOCOL_MODULES[version]
    if value.kind == "null" and isinstance(value.value, int):
        return getattr(module, _EXCEPTIONS[value.value])("")
    return getattr(module, _TYPES[value.kind][version])(value.value)
