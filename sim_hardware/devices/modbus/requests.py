"""Requests and answers as PDUs: Modbus Application Protocol V1.1b3, §6. What they mean is the bank's business."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Literal, Protocol

WordTable = Literal["holding", "input"]
BitTable = Literal["coil", "discrete"]


class Code(IntEnum):
    """Exception codes, §7."""

    FUNCTION = 1
    ADDRESS = 2
    VALUE = 3
    FAILURE = 4
    BUSY = 6
    NO_TARGET = 11


class RefusalError(Exception):
    """The device answers with an exception."""

    def __init__(self, code: Code) -> None:
        super().__init__(f"exception {code:d} ({code.name.lower()})")
        self.code = code


class Bank(Protocol):
    """What a device has behind its addresses. Each method may raise RefusalError."""

    def read_bits(self, table: BitTable, address: int, count: int) -> list[bool]:
        """Coils or discrete inputs."""
        ...

    def read_words(self, table: WordTable, address: int, count: int) -> list[int]:
        """Registers."""
        ...

    def write_bits(self, address: int, bits: Sequence[bool]) -> None:
        """Coils."""
        ...

    def write_words(self, address: int, words: Sequence[int]) -> None:
        """Holding registers."""
        ...

    def identify(self) -> dict[int, bytes]:
        """The objects of device identification."""
        ...


def respond(bank: Bank, pdu: bytes) -> bytes | None:
    """The answer to a request; None to one without a function code, which cannot be answered."""
    if not pdu:
        return None
    serve = _FUNCTIONS.get(pdu[0], _refuse)
    try:
        return bytes((pdu[0],)) + serve(bank, pdu)
    except RefusalError as refusal:
        return bytes((pdu[0] | 0x80, refusal.code))


def _refuse(_bank: Bank, _pdu: bytes) -> bytes:
    raise RefusalError(Code.FUNCTION)


def _span(pdu: bytes, most: int, length: int | None = 5) -> tuple[int, int]:
    """Address and quantity, checked."""
    if len(pdu) < 5 or (length is not None and len(pdu) != length):
        raise RefusalError(Code.VALUE)
    address, count = struct.unpack_from(">HH", pdu, 1)
    if not 1 <= count <= most:
        raise RefusalError(Code.VALUE)
    if address + count > 0x10000:
        raise RefusalError(Code.ADDRESS)
    return address, count


def _pack_bits(bits: Sequence[bool]) -> bytes:
    number = sum(1 << place for place, bit in enumerate(bits) if bit)
    return number.to_bytes((len(bits) + 7) // 8, "little")


def _read_bits(table: BitTable) -> Callable[[Bank, bytes], bytes]:
    def read(bank: Bank, pdu: bytes) -> bytes:
        data = _pack_bits(bank.read_bits(table, *_span(pdu, 2000)))
        return bytes((len(data),)) + data

    return read


def _read_words(table: WordTable) -> Callable[[Bank, bytes], bytes]:
    def read(bank: Bank, pdu: bytes) -> bytes:
        return _pack_words(bank.read_words(table, *_span(pdu, 125)))

    return read


def _pack_words(words: Sequence[int]) -> bytes:
    return struct.pack(f">B{len(words)}H", 2 * len(words), *words)


def _write_bit(bank: Bank, pdu: bytes) -> bytes:
    if len(pdu) != 5 or pdu[3:] not in (b"\xff\x00", b"\x00\x00"):
        raise RefusalError(Code.VALUE)
    bank.write_bits(int.from_bytes(pdu[1:3], "big"), [pdu[3] == 0xFF])
    return pdu[1:]


def _write_word(bank: Bank, pdu: bytes) -> bytes:
    if len(pdu) != 5:
        raise RefusalError(Code.VALUE)
    address, word = struct.unpack(">HH", pdu[1:])
    bank.write_words(address, [word])
    return pdu[1:]


def _write_bits(bank: Bank, pdu: bytes) -> bytes:
    address, count = _span(pdu, 1968, None)
    size = (count + 7) // 8
    if len(pdu) != 6 + size or pdu[5] != size:
        raise RefusalError(Code.VALUE)
    number = int.from_bytes(pdu[6:], "little")
    bank.write_bits(address, [bool(number >> place & 1) for place in range(count)])
    return pdu[1:5]


def _take_words(pdu: bytes, most: int) -> tuple[int, Sequence[int]]:
    """Address and values of a request that begins as FC 16 does."""
    address, count = _span(pdu, most, None)
    if len(pdu) != 6 + 2 * count or pdu[5] != 2 * count:
        raise RefusalError(Code.VALUE)
    return address, struct.unpack(f">{count}H", pdu[6:])


def _write_words(bank: Bank, pdu: bytes) -> bytes:
    bank.write_words(*_take_words(pdu, 123))
    return pdu[1:5]


def _mask_word(bank: Bank, pdu: bytes) -> bytes:
    if len(pdu) != 7:
        raise RefusalError(Code.VALUE)
    address, kept, changed = struct.unpack(">HHH", pdu[1:])
    (word,) = bank.read_words("holding", address, 1)
    bank.write_words(address, [(word & kept) | (changed & ~kept & 0xFFFF)])
    return pdu[1:]


def _write_and_read(bank: Bank, pdu: bytes) -> bytes:
    span = _span(pdu[:5], 125)
    bank.write_words(*_take_words(pdu[4:], 121))  # first, says the standard
    return _pack_words(bank.read_words("holding", *span))


def _identify(bank: Bank, pdu: bytes) -> bytes:
    """FC 43/14: the basic, regular and extended streams, or one object."""
    if len(pdu) != 4 or pdu[1] != 14:
        raise RefusalError(Code.FUNCTION if len(pdu) > 1 and pdu[1] != 14 else Code.VALUE)
    _, _, access, first = pdu
    objects = bank.identify()
    if access == 4:
        wanted = [first]
    elif access in (1, 2, 3):
        last = {1: 0x02, 2: 0x7F, 3: 0xFF}[access]
        wanted = [number for number in sorted(objects) if (first if first in objects else 0) <= number <= last]
    else:
        raise RefusalError(Code.VALUE)
    if any(number not in objects for number in wanted):
        raise RefusalError(Code.ADDRESS)
    told = b"".join(bytes((number, len(objects[number]))) + objects[number] for number in wanted)
    return bytes((14, access, 0x83, 0, 0, len(wanted))) + told


_FUNCTIONS: dict[int, Callable[[Bank, bytes], bytes]] = {
    1: _read_bits("coil"),
    2: _read_bits("discrete"),
    3: _read_words("holding"),
    4: _read_words("input"),
    5: _write_bit,
    6: _write_word,
    15: _write_bits,
    16: _write_words,
    22: _mask_word,
    23: _write_and_read,
    43: _identify,
}
