"""Answers read field by field, from those of pysnmp to those of nobody."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyasn1.codec.ber import encoder  # type: ignore[import-untyped]  # the library has no types
from pysnmp.proto import api  # type: ignore[import-untyped]  # the library has no types

from supernoded_snmp.asn import Asn, Oid
from supernoded_snmp.ber import BerError, read_response
from supernoded_snmp.messages import V1, V2C, CommunitySpeech, get

OIDS = st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=30).map(lambda rest: (1, 3, *rest))


def encode(version: int, request: int, pairs: list[tuple[Oid, object]], status: int = 0, index: int = 0) -> bytes:
    module = api.PROTOCOL_MODULES[version]
    pdu = module.GetResponsePDU() if version == V1 else module.ResponsePDU()
    module.apiPDU.set_defaults(pdu)
    module.apiPDU.set_request_id(pdu, request)
    module.apiPDU.set_error_status(pdu, status)
    module.apiPDU.set_error_index(pdu, index)
    module.apiPDU.set_varbinds(pdu, pairs)
    message = module.Message()
    module.apiMessage.set_defaults(message)
    module.apiMessage.set_pdu(message, pdu)
    return bytes(encoder.encode(message))


@given(OIDS, st.integers(-(2**31), 2**31 - 1), st.integers(0, 2**32 - 1), st.binary(max_size=300), st.integers(1, 2**31 - 1))
def test_what_pysnmp_writes_is_read(name: Oid, number: int, count: int, octets: bytes, request: int) -> None:
    types = api.v2c
    values = [types.Integer32(number), types.Counter32(count), types.Gauge32(count), types.TimeTicks(count), types.OctetString(octets)]
    values += [types.Counter64(count * 2**31), types.ObjectIdentifier(name), types.NoSuchInstance(""), types.EndOfMibView("")]
    answer = read_response(encode(V2C, request, [(name, value) for value in values]))
    assert (answer.version, answer.request, answer.status) == (V2C, request, 0)
    assert [pair[0] for pair in answer.pairs] == [name] * len(values)
    assert [pair[1] for pair in answer.pairs] == [
        Asn("integer", number),
        Asn("counter", count),
        Asn("gauge", count),
        Asn("ticks", count),
        Asn("text", octets),
        Asn("counter64", count * 2**31),
        Asn("oid", name),
        Asn("no-instance", b""),
        Asn("end", b""),
    ]


def test_an_error_of_version_1() -> None:
    answer = read_response(encode(V1, 7, [((1, 3, 6), api.v1.Null(""))], status=2, index=1))
    assert (answer.version, answer.status, answer.index) == (V1, 2, 1)
    assert answer.pairs[0][1].kind == "null"


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("4201ff", Asn("gauge", -1)),  # a Gauge32 that cannot be: -1, as some cards write what they do not know
        ("02050085a3c812", Asn("integer", 2242103314)),  # an INTEGER of more than 32 bits
        ("4400", Asn("opaque", b"")),
        ("4707" + "00" * 7, Asn("opaque", bytes(7))),  # a type that nobody knows
        ("0200", Asn("opaque", b"")),  # a number of no bytes
        ("060180", Asn("opaque", b"\x80")),  # a name that is cut short
    ],
)
def test_a_field_that_cannot_be_spoils_no_other(field: str, expected: Asn) -> None:
    value = bytes.fromhex(field)
    pair = bytes([0x30, 6 + len(value)]) + bytes.fromhex("06042b060101") + value
    good = bytes.fromhex("300906042b060102020105")
    bindings = bytes([0x30, len(pair) + len(good)]) + pair + good
    pdu = bytes.fromhex("020107020100020100") + bindings
    body = bytes.fromhex("020101040170") + bytes([0xA2, len(pdu)]) + pdu
    answer = read_response(bytes([0x30, len(body)]) + body)
    assert [value for _, value in answer.pairs] == [expected, Asn("integer", 5)]


@given(st.binary(max_size=400))
def test_garbage_is_said_to_be_garbage(data: bytes) -> None:
    with pytest.raises(BerError):
        read_response(data)


@given(st.data())
def test_a_bitten_answer_is_an_answer_or_garbage(data: st.DataObject) -> None:
    whole = bytearray(encode(V2C, 99, [((1, 3, 6, 1), api.v2c.Integer32(5)), ((1, 3, 6, 2), api.v2c.OctetString("abc"))]))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(whole[: data.draw(st.integers(0, len(whole)))])
    try:
        answer = read_response(cut)
    except BerError:
        return
    assert all(isinstance(name, tuple) and isinstance(value, Asn) for name, value in answer.pairs)


def test_a_community_is_not_shown() -> None:
    speech = CommunitySpeech(V2C, "hush")
    assert b"hush" in speech.wrap(get(V2C, 1, [(1, 3, 6)]))
    assert "hush" not in repr(speech)
