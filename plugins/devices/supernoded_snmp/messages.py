"""Requests of SNMP v1 and v2c to bytes, by pysnmp's types and pyasn1's BER."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyasn1.codec.ber import encoder  # type: ignore[import-untyped]  # the library has no types
from pysnmp.proto import api  # type: ignore[import-untyped]  # the library has no types

from supernoded_snmp.asn import Oid

V1, V2C = 0, 1
_PDUS = {"get": "GetRequestPDU", "next": "GetNextRequestPDU", "set": "SetRequestPDU", "bulk": "GetBulkRequestPDU"}


class Speech:
    """One way to speak: version and community. What is made of it never shows the community but in its bytes."""

    def __init__(self, version: int, community: str) -> None:
        self.version = version
        self._module: Any = api.PROTOCOL_MODULES[version]
        self._community = community

    def get(self, request: int, names: Sequence[Oid]) -> bytes:
        """GET of these instances."""
        return self._ask("get", request, names)

    def next(self, request: int, name: Oid) -> bytes:
        """GETNEXT: the first instance after a name."""
        return self._ask("next", request, (name,))

    def bulk(self, request: int, name: Oid, rows: int) -> bytes:
        """GETBULK: so many instances after a name; v2c only."""
        pdu = self._begin("bulk", request)
        self._module.apiBulkPDU.set_non_repeaters(pdu, 0)
        self._module.apiBulkPDU.set_max_repetitions(pdu, rows)
        return self._finish(pdu, [(name, self._module.Null(""))])

    def set(self, request: int, name: Oid, number: int) -> bytes:
        """SET of one INTEGER."""
        return self._finish(self._begin("set", request), [(name, self._module.Integer(number))])

    def _ask(self, verb: str, request: int, names: Sequence[Oid]) -> bytes:
        return self._finish(self._begin(verb, request), [(name, self._module.Null("")) for name in names])

    def _begin(self, verb: str, request: int) -> Any:
        pdu = getattr(self._module, _PDUS[verb])()
        port = self._module.apiBulkPDU if verb == "bulk" else self._module.apiPDU
        port.set_defaults(pdu)
        port.set_request_id(pdu, request)
        return pdu

    def _finish(self, pdu: Any, pairs: Sequence[tuple[Oid, Any]]) -> bytes:
        self._module.apiPDU.set_varbinds(pdu, pairs)
        message = self._module.Message()
        self._module.apiMessage.set_defaults(message)
        self._module.apiMessage.set_community(message, self._community.encode())
        self._module.apiMessage.set_pdu(message, pdu)
        return bytes(encoder.encode(message))
