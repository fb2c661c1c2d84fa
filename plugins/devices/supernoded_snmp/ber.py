"""Answers of SNMP v1 and v2c, read field by field (BER, ITU-T X.690; RFC 1157, RFC 3416).

Written by hand, since a library that checks a message as a whole drops all of it for one bad field: a Gauge32 of -1, an INTEGER of five
bytes, a type of somebody's own. Here such a field is what it is, and its neighbours are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from supernoded_snmp.asn import LONGEST_OID, Asn, Kind, Oid

SEQUENCE, INTEGER, OCTETS, OID, RESPONSE = 0x30, 0x02, 0x04, 0x06, 0xA2
_KINDS: dict[int, Kind] = {
    INTEGER: "integer",
    OCTETS: "text",
    0x05: "null",
    OID: "oid",
    0x40: "ip",
    0x41: "counter",
    0x42: "gauge",
    0x43: "ticks",
    0x44: "opaque",
    0x46: "counter64",
    0x80: "no-object",
    0x81: "no-instance",
    0x82: "end",
}
_LONGEST_NUMBER = 9  # bytes: a Counter64 with the zero in front of its sign bit


class BerError(ValueError):
    """The bytes are no answer of SNMP v1 or v2c."""


class Response(msgspec.Struct, frozen=True):
    """What an agent answered. `index` is the place, from 1, of the name that `status` is about."""

    version: int
    request: int
    status: int
    index: int
    pairs: tuple[tuple[Oid, Asn], ...]


class Field(NamedTuple):
    """One field: its tag and its content."""

    tag: int
    data: bytes


def read_response(datagram: bytes) -> Response:
    """The answer. Raises BerError."""
    (whole,) = take_fields(datagram, 1)
    version, _, answer = take_fields(expect(whole, SEQUENCE), 3)
    return read_pdu(read_number(version), expect(answer, RESPONSE))


def read_pdu(version: int, data: bytes) -> Response:
    """What a PDU holds. Raises BerError."""
    request, status, index, bindings = take_fields(data, 4)
    return Response(
        version=version,
        request=read_number(request),
        status=read_number(status),
        index=read_number(index),
        pairs=tuple(_read_pair(expect(binding, SEQUENCE)) for binding in _split(expect(bindings, SEQUENCE))),
    )


def read_number(field: Field) -> int:
    """An INTEGER. Raises BerError."""
    return _read_number(expect(field, INTEGER))


def write_field(tag: int, data: bytes) -> bytes:
    """One field."""
    length = len(data)
    if length < 0x80:
        return bytes((tag, length)) + data
    size = (length.bit_length() + 7) // 8
    return bytes((tag, 0x80 | size)) + length.to_bytes(size, "big") + data


def write_number(number: int) -> bytes:
    """An INTEGER."""
    return write_field(INTEGER, number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True))


def join(*fields: bytes) -> bytes:
    """A SEQUENCE of fields."""
    return write_field(SEQUENCE, b"".join(fields))


def _read_pair(data: bytes) -> tuple[Oid, Asn]:
    name, value = take_fields(data, 2)
    return _read_oid(expect(name, OID)), _read_value(value)


def _read_value(field: Field) -> Asn:
    """A value that cannot be what its tag says is opaque: it spoils no other."""
    kind = _KINDS.get(field.tag, "opaque")
    try:
        if kind in {"integer", "counter", "gauge", "ticks", "counter64"}:
            return Asn(kind, _read_number(field.data))
        return Asn(kind, _read_oid(field.data) if kind == "oid" else field.data)
    except BerError:
        return Asn("opaque", field.data)


def _read_number(data: bytes) -> int:
    """Signed also where the type is not, as some agents write -1 into it."""
    if not 1 <= len(data) <= _LONGEST_NUMBER:
        raise BerError(f"a number of {len(data)} bytes, 1 to {_LONGEST_NUMBER} are taken")
    return int.from_bytes(data, "big", signed=True)


def _read_oid(data: bytes) -> Oid:
    numbers: list[int] = []
    number = 0
    for byte in data:
        number = number << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(number)
            number = 0
        if number >= 1 << 32 or len(numbers) > LONGEST_OID:
            raise BerError("a name with a part above 32 bits, or too long")
    if not numbers or data[-1] & 0x80:
        raise BerError("a name that is cut short")
    first = min(numbers[0] // 40, 2)
    return (first, numbers[0] - 40 * first, *numbers[1:])


def expect(field: Field, tag: int) -> bytes:
    """The content of a field that has to have this tag. Raises BerError."""
    if field.tag != tag:
        raise BerError(f"tag {field.tag:#x} where {tag:#x} is due")
    return field.data


def take_fields(data: bytes, count: int) -> list[Field]:
    """Exactly so many fields. Raises BerError."""
    fields = list(_split(data))
    if len(fields) != count:
        raise BerError(f"{len(fields)} fields where {count} are due")
    return fields


def _split(data: bytes) -> Iterator[Field]:
    for begin, end, tag in span_fields(data, 0, len(data)):
        yield Field(tag, data[begin:end])


def span_fields(data: bytes, place: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """Where the content of each field between two places begins and ends, and its tag. Raises BerError."""
    while place < stop:
        begin, end = _measure(data, place)
        yield begin, end, data[place]
        place = end


def _measure(data: bytes, place: int) -> tuple[int, int]:
    """Where the content of the field at `place` begins and ends. Raises BerError."""
    if place + 2 > len(data):
        raise BerError("a field without a length")
    length, begin = data[place + 1], place + 2
    if length & 0x80:
        count = length & 0x7F
        if not 1 <= count <= 4:
            raise BerError("a length that is indefinite or endless")
        length, begin = int.from_bytes(data[begin : begin + count], "big"), begin + count
    if begin + length > len(data):
        raise BerError(f"a field of {length} bytes of which {max(len(data) - begin, 0)} came")
    return begin, begin + length
