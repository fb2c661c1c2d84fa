"""RTU frames as bytes: unit, PDU, CRC (Modbus over Serial Line V1.02, §2.5.1)."""

from __future__ import annotations

from typing import NamedTuple

from pymodbus.framer.rtu import FramerRTU

MOST = 256  # bytes of a frame
_LEAST = 4  # unit, function code, CRC


class Adu(NamedTuple):
    """What a frame carries."""

    unit: int
    pdu: bytes


def compute_crc(data: bytes) -> bytes:
    """The two bytes of CRC-16/MODBUS, in the order in which they are sent."""
    return FramerRTU.compute_CRC(data).to_bytes(2, "big")


def encode_frame(unit: int, pdu: bytes) -> bytes:
    """A frame with its CRC."""
    body = bytes((unit,)) + pdu
    return body + compute_crc(body)


def decode_frame(frame: bytes) -> Adu | None:
    """What the frame carries; None when it is too short, too long, or its CRC is wrong."""
    if not _LEAST <= len(frame) <= MOST or compute_crc(frame[:-2]) != frame[-2:]:
        return None
    return Adu(frame[0], frame[1:-2])
