"""TCP frames as bytes: transaction id, protocol 0, length, unit, PDU (Modbus Messaging on TCP/IP V1.0b, §3.1.3)."""

from __future__ import annotations

import struct
from typing import NamedTuple

_HEAD = struct.Struct(">HHHB")
_LEAST, _MOST = 2, 254  # the length field: unit and PDU


class MbapError(Exception):
    """What came is no Modbus TCP. Where the next frame begins cannot be known."""


class TcpAdu(NamedTuple):
    """What a frame carries."""

    transaction: int
    unit: int
    pdu: bytes


def encode_tcp(adu: TcpAdu) -> bytes:
    """A frame."""
    return _HEAD.pack(adu.transaction, 0, len(adu.pdu) + 1, adu.unit) + adu.pdu


class Stream:
    """Frames out of a stream, however it was cut."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> list[TcpAdu]:
        """The frames that are whole now. Raises MbapError when the next thing is none; nothing behind it is read."""
        self._data += data
        found = []
        while len(self._data) >= _HEAD.size:
            transaction, protocol, length, unit = _HEAD.unpack_from(self._data)
            if protocol or not _LEAST <= length <= _MOST:
                raise MbapError(f"protocol {protocol}, length {length}: protocol 0 and a length of {_LEAST} to {_MOST} are due")
            end = _HEAD.size - 1 + length
            if len(self._data) < end:
                break
            found.append(TcpAdu(transaction, unit, bytes(self._data[_HEAD.size : end])))
            del self._data[:end]
        return found
