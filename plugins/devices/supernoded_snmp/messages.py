"""What is asked, as PDUs in bytes, by pysnmp's types and pyasn1's BER; and how it travels with a community (SNMP v1 and v2c)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from pyasn1.codec.ber import encoder  # type: ignore[import-untyped]  # the library has no types
from pysnmp.proto import api  # type: ignore[import-untyped]  # the library has no types

from supernoded.plugin import Datagrams
from supernoded_snmp.asn import Oid
from supernoded_snmp.ber import BerError, Response, join, read_response, write_field, write_number

V1, V2C, V3 = 0, 1, 3
_PDUS = {"get": "GetRequestPDU", "next": "GetNextRequestPDU", "set": "SetRequestPDU", "bulk": "GetBulkRequestPDU"}


class Speech(Protocol):
    """How one speaks to an agent."""

    @property
    def version(self) -> int:
        """V1, V2C or V3."""
        ...

    async def ask(self, wire: Datagrams, request: int, pdu: bytes, within: float, tries: int) -> Response:
        """Send what changes nothing. Raises WireError."""
        ...

    async def order(self, wire: Datagrams, scope: str, request: int, pdu: bytes, within: float) -> Response:
        """Send what changes something, once, asking the pen. Raises WireError, NotHeldError."""
        ...


class CommunitySpeech:
    """SNMP v1 or v2c. The community is in the bytes, and shown nowhere else."""

    def __init__(self, version: int, community: str) -> None:
        self.version, self._community = version, community.encode()

    async def ask(self, wire: Datagrams, request: int, pdu: bytes, within: float, tries: int) -> Response:
        """See `Speech.ask`."""
        return read_response(await wire.exchange(self.wrap(pdu), lambda datagram: self._fits(datagram, request), within, tries))

    async def order(self, wire: Datagrams, scope: str, request: int, pdu: bytes, within: float) -> Response:
        """See `Speech.order`."""
        return read_response(await wire.order(scope, self.wrap(pdu), lambda datagram: self._fits(datagram, request), within))

    def wrap(self, pdu: bytes) -> bytes:
        """The whole message."""
        return join(write_number(self.version), write_field(0x04, self._community), pdu)

    def _fits(self, datagram: bytes, request: int) -> bool:
        """Garbage, another version and a late answer to another request do not."""
        try:
            answer = read_response(datagram)
        except BerError:
            return False
        return (answer.version, answer.request) == (self.version, request)


def get(version: int, request: int, names: Sequence[Oid]) -> bytes:
    """GET of these instances."""
    return _ask(version, "get", request, names)


def step(version: int, request: int, name: Oid, rows: int) -> bytes:
    """The instances after a name: so many with GETBULK, and one with GETNEXT where there is no other (v1)."""
    if version == V1:
        return _ask(version, "next", request, (name,))
    module = _find_module(version)
    pdu = _begin(version, "bulk", request)
    module.apiBulkPDU.set_non_repeaters(pdu, 0)
    module.apiBulkPDU.set_max_repetitions(pdu, rows)
    return _finish(version, pdu, [(name, module.Null(""))])


def set_number(version: int, request: int, name: Oid, number: int) -> bytes:
    """SET of one INTEGER."""
    return _finish(version, _begin(version, "set", request), [(name, _find_module(version).Integer(number))])


def _find_module(version: int) -> Any:
    """The PDUs of v3 are those of v2c (RFC 3416)."""
    return api.PROTOCOL_MODULES[V1 if version == V1 else V2C]


def _ask(version: int, verb: str, request: int, names: Sequence[Oid]) -> bytes:
    null = _find_module(version).Null("")
    return _finish(version, _begin(version, verb, request), [(name, null) for name in names])


def _begin(version: int, verb: str, request: int) -> Any:
    module = _find_module(version)
    pdu = getattr(module, _PDUS[verb])()
    port = module.apiBulkPDU if verb == "bulk" else module.apiPDU
    port.set_defaults(pdu)
    port.set_request_id(pdu, request)
    return pdu


def _finish(version: int, pdu: Any, pairs: Sequence[tuple[Oid, Any]]) -> bytes:
    _find_module(version).apiPDU.set_varbinds(pdu, pairs)
    return bytes(encoder.encode(pdu))
