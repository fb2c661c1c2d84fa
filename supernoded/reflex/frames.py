"""Modbus RTU frames, as far as the reflex speaks them: prebuilt, and checked without making anything."""

from __future__ import annotations

from supernoded.reflex.arithmetic import LOOK_ANSWER
from supernoded.settings.reflex import Bank, ShedFrame, Trigger

BROADCAST = 0  # the unit that is all of them; none answers
COIL_ON = 0xFF00
READ_COILS, READ_DISCRETE, READ_HOLDING, READ_INPUT = 1, 2, 3, 4
WRITE_COIL, WRITE_REGISTER, WRITE_COILS, WRITE_REGISTERS = 5, 6, 15, 16
EXCEPTION = 0x80
EXCEPTION_LENGTH = 5
LEAST, MOST = 4, 256  # bytes of a frame


def _make_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = (crc >> 1) ^ 0xA001 if crc & 1 else crc >> 1
        table.append(crc)
    return tuple(table)


_TABLE = _make_table()


def compute_crc(data: bytes | bytearray, count: int) -> int:
    """CRC-16/MODBUS over the first `count` bytes; its low byte is sent first."""
    crc = 0xFFFF
    for index in range(count):
        crc = (crc >> 8) ^ _TABLE[(crc ^ data[index]) & 0xFF]
    return crc


def has_right_crc(data: bytes | bytearray, count: int) -> bool:
    """Whether the first `count` bytes end with their own CRC."""
    return count >= LEAST and compute_crc(data, count - 2) == data[count - 2] | data[count - 1] << 8


def seal(body: bytes) -> bytes:
    """A frame: the body and its CRC."""
    return body + compute_crc(body, len(body)).to_bytes(2, "little")


def build_shed(frame: ShedFrame) -> bytes:
    """The broadcast of the armed shed."""
    function, address = (WRITE_COIL, frame.coil) if frame.coil is not None else (WRITE_REGISTER, frame.register or 0)
    value = COIL_ON if frame.coil is not None else frame.value
    return seal(bytes((BROADCAST, function)) + address.to_bytes(2, "big") + value.to_bytes(2, "big"))


def build_look(trigger: Trigger) -> bytes:
    """The request for a trigger's register."""
    function = READ_HOLDING if trigger.bank is Bank.HOLDING else READ_INPUT
    return seal(bytes((trigger.unit, function)) + (trigger.register or 0).to_bytes(2, "big") + b"\x00\x01")


def read_look(request: bytes, came: bytearray, count: int) -> int | None:
    """The register's value in what came; None when it is not exactly the answer to that request."""
    if count != LOOK_ANSWER or came[0] != request[0] or came[1] != request[1] or came[2] != 2 or not has_right_crc(came, count):
        return None
    return came[3] << 8 | came[4]


def measure_answer(request: bytes) -> int:
    """Bytes of the longest answer to a request of the daemon; 0 for a broadcast, `MOST` for a function that has no length of its own."""
    if not has_right_crc(request, len(request)) or len(request) < LEAST:
        return MOST
    function, count = request[1], int.from_bytes(request[4:6], "big")
    if request[0] == BROADCAST:
        return 0
    if function in (READ_COILS, READ_DISCRETE):
        return min(5 + (count + 7) // 8, MOST)
    if function in (READ_HOLDING, READ_INPUT):
        return min(5 + 2 * count, MOST)
    return 8 if function in (WRITE_COIL, WRITE_REGISTER, WRITE_COILS, WRITE_REGISTERS) else MOST


def is_whole(request: bytes, came: bytearray, count: int, longest: int) -> bool:
    """Whether the answer to a daemon's request has come, so that the line need not be waited for."""
    if count == longest:
        return True
    return count == EXCEPTION_LENGTH and came[0] == request[0] and came[1] == request[1] | EXCEPTION and has_right_crc(came, count)
