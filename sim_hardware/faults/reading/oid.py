"""Objects of an SNMP agent, by version 2c."""

from __future__ import annotations

import asyncio

from pyasn1.codec.ber import decoder, encoder  # type: ignore[import-untyped]  # the library has no types
from pyasn1.error import PyAsn1Error  # type: ignore[import-untyped]  # the library has no types
from pysnmp.proto import api  # type: ignore[import-untyped]  # the library has no types

from sim_hardware.devices.snmp import parse_oid
from sim_hardware.faults.reading.problems import GarbledError, answered, find_address
from sim_hardware.rig import Rig

_V2 = api.PROTOCOL_MODULES[api.SNMP_VERSION_2C]
_COMMUNITY = "public"


async def read_oid(rig: Rig, device: str, oid: str) -> int | bytes | str | None:
    """A number, bytes, or the dotted text of an identifier; None when the agent has no such object. Raises ReadingError."""
    address, loop = find_address(rig, device), asyncio.get_running_loop()
    async with answered(device):
        transport, socket = await loop.create_datagram_endpoint(_Socket, remote_addr=address)
        try:
            transport.sendto(_encode(oid))
            data = await socket.answer
        finally:
            transport.close()
    return _decode(data, device)


class _Socket(asyncio.DatagramProtocol):
    """Waits for one datagram."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    def datagram_received(self, data: bytes, addr: object) -> None:
        del addr
        if not self.answer.done():
            self.answer.set_result(data)

    def error_received(self, exc: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(exc)


def _encode(oid: str) -> bytes:
    pdu, message = _V2.GetRequestPDU(), _V2.Message()
    _V2.apiPDU.set_defaults(pdu)
    _V2.apiPDU.set_varbinds(pdu, [(parse_oid(oid), _V2.Null(""))])
    _V2.apiMessage.set_defaults(message)
    _V2.apiMessage.set_community(message, _COMMUNITY)
    _V2.apiMessage.set_pdu(message, pdu)
    return bytes(encoder.encode(message))


def _decode(data: bytes, device: str) -> int | bytes | str | None:
    try:
        message, _ = decoder.decode(data, asn1Spec=_V2.Message())
        ((_, value),) = _V2.apiPDU.get_varbinds(_V2.apiMessage.get_pdu(message))
    except (PyAsn1Error, ValueError, TypeError, AttributeError, IndexError) as error:  # what the codec raises on bytes
        raise GarbledError(f"{device}: {data.hex()} is no answer: {error}") from error
    if isinstance(value, api.v2c.OctetString):
        return bytes(value)
    if isinstance(value, api.v2c.ObjectIdentifier):
        return ".".join(map(str, value))
    return int(value) if isinstance(value, api.v2c.Integer) else None
