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


class _Field(NamedTuple):
    tag: int
    data: bytes


def read_response(datagram: bytes) -> Response:
    """The answer. Raises BerError."""
    (whole,) = _take(datagram, 1)
    version, _, answer = _take(_expect(whole, SEQUENCE), 3)
    request, status, index, bindings = _take(_expect(answer, RESPONSE), 4)
    return Response(
        version=_read_number(_expect(version, INTEGER)),
        request=_read_number(_expect(request, INTEGER)),
        status=_read_number(_expect(status, INTEGER)),
        index=_read_number(_expect(index, INTEGER)),
        pairs=tuple(_read_pair(_expect(binding, SEQUENCE)) for binding in _split(_expect(bindings, SEQUENCE))),
    )


def _read_pair(data: bytes) -> tuple[Oid, Asn]:
    name, value = _take(data, 2)
    return _read_oid(_expect(name, OID)), _read_value(value)


def _read_value(field: _Field) -> Asn:
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


def _expect(field: _Field, tag: int) -> bytes:
    if field.tag != tag:
        raise BerError(f"tag {field.tag:#x} where {tag:#x} is due")
    return field.data


def _take(data: bytes, count: int) -> list[_Field]:
    fields = list(_split(data))
    if len(fields) != count:
        raise BerError(f"{len(fields)} fields where {count} are due")
    return fields


def _split(data: bytes) -> Iterator[_Field]:
    place = 0
    while place < len(data):
        begin, end = _measure(data, place)
        yield _Field(data[place], data[begin:end])
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
