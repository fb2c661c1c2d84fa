"""Requests as a manager sends them, and answers as it reads them."""

from __future__ import annotations

from typing import Any

import msgspec
from pyasn1.codec.ber import decoder, encoder  # type: ignore[import-untyped]  # the library has no types
from pysnmp.proto import api  # type: ignore[import-untyped]  # the library has no types

from sim_hardware.devices.snmp import Agent, Oid, parse_oid

UPS = "1.3.6.1.2.1.33.1"
RPDU = "1.3.6.1.4.1.318.1.1.12"
RPDU2 = "1.3.6.1.4.1.318.1.1.26"
PDUS = {"get": "GetRequestPDU", "next": "GetNextRequestPDU", "set": "SetRequestPDU", "bulk": "GetBulkRequestPDU"}


class Answer(msgspec.Struct, frozen=True):
    status: int
    index: int
    pairs: list[tuple[Oid, Any]]

    @property
    def value(self) -> Any:
        """The only value: a number, or bytes."""
        assert (self.status, len(self.pairs)) == (0, 1), self
        return self.pairs[0][1]


def encode(verb: str, *pairs: tuple[str, Any], version: int = 1, community: str = "private", repetitions: int = 10, once: int = 0) -> bytes:
    """Values are None, or of pysnmp's types; numbers are INTEGERs."""
    module = api.PROTOCOL_MODULES[version]
    pdu = getattr(module, PDUS[verb])()
    (module.apiBulkPDU if verb == "bulk" else module.apiPDU).set_defaults(pdu)
    if verb == "bulk":
        module.apiBulkPDU.set_max_repetitions(pdu, repetitions)
        module.apiBulkPDU.set_non_repeaters(pdu, once)
    values = [
        (parse_oid(oid), module.Null("") if value is None else module.Integer(value) if isinstance(value, int) else value)
        for oid, value in pairs
    ]
    module.apiPDU.set_varbinds(pdu, values)
    message = module.Message()
    module.apiMessage.set_defaults(message)
    module.apiMessage.set_community(message, community)
    module.apiMessage.set_pdu(message, pdu)
    return bytes(encoder.encode(message))


def decode(data: bytes | None, version: int = 1) -> Answer:
    assert data is not None
    module = api.PROTOCOL_MODULES[version]
    message, rest = decoder.decode(data, asn1Spec=module.Message())
    assert rest == b""
    pdu = module.apiMessage.get_pdu(message)
    pairs = [(tuple(oid), _plain(value)) for oid, value in module.apiPDU.get_varbinds(pdu)]
    return Answer(int(module.apiPDU.get_error_status(pdu)), int(module.apiPDU.get_error_index(pdu, muteErrors=True)), pairs)


def _plain(value: Any) -> Any:
    name = type(value).__name__
    if name in {"NoSuchObject", "NoSuchInstance", "EndOfMibView", "Null"}:
        return name
    if name == "ObjectIdentifier":
        return tuple(value)
    return bytes(value) if name == "OctetString" else int(value)


def ask(agent: Agent, verb: str, *pairs: tuple[str, Any], version: int = 1, **how: Any) -> Answer:
    return decode(agent.answer(encode(verb, *pairs, version=version, **how)), version)


def read(agent: Agent, oid: str) -> Any:
    return ask(agent, "get", (oid, None)).value


def write(agent: Agent, oid: str, value: Any) -> int:
    """The error status."""
    return ask(agent, "set", (oid, value)).status
