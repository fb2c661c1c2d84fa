"""SNMP v3: keys by the vectors of RFC 3414, nothing believed that is not signed, and an engine whose time has moved."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyasn1.codec.ber import encoder  # type: ignore[import-untyped]  # the library has no types
from pysnmp.proto import api  # type: ignore[import-untyped]  # the library has no types

from supernoded.errors import NotHeldError, WireError
from supernoded.testing import ManualClock, MemoryDatagrams, MemoryWires
from supernoded_snmp.asn import Asn, Oid
from supernoded_snmp.ber import BerError, join, write_field
from supernoded_snmp.messages import V3, get, set_number
from supernoded_snmp.user import User, UserSpeech
from supernoded_snmp.usm import AUTHENTIC, _write, is_authentic, make_keys, open_scoped, read_message, write_message
from tests.plugins.snmp.agents import URL

ENGINE = bytes.fromhex("000000000000000000000002")
NAME: Oid = (1, 3, 6, 1, 2, 1)
BOSS = User("boss", "sha256", "sign it here", "hide it here")
STATS = (1, 3, 6, 1, 6, 3, 15, 1, 1)


def test_the_vector_of_the_standard() -> None:
    keys = make_keys(ENGINE, "sha", "maplesyrup", "maplesyrup")
    assert keys.authentic.hex() == "6695febc9288e36282235fc7151f128497b38f3f"  # RFC 3414, A.3.2
    assert (keys.secret, keys.sent) == (keys.authentic[:16], 12)
    assert "66" not in repr(keys)
    assert "here" not in repr(BOSS)


def make_answer(kind: str, request: int, pairs: list[tuple[Oid, object]]) -> bytes:
    module = api.v2c
    pdu = getattr(module, kind)()
    module.apiPDU.set_defaults(pdu)
    module.apiPDU.set_request_id(pdu, request)
    module.apiPDU.set_varbinds(pdu, pairs)
    return bytes(encoder.encode(pdu))


class Agent:
    """An engine of one user. `boots` and `time` may move; `report` is what it reports instead of an answer."""

    def __init__(self) -> None:
        self.boots, self.time, self.report, self.forged = 5, 1000, 0, False
        self.keys = make_keys(ENGINE, BOSS.hash, BOSS.authentic, BOSS.secret)
        self.done: list[bytes] = []

    def answer(self, datagram: bytes) -> bytes:
        incoming = read_message(datagram)
        if incoming.engine != ENGINE:
            return self._report(incoming.message, 4, signed=False)
        assert is_authentic(datagram, incoming, self.keys)
        if self.report:
            return self._report(incoming.message, self.report, signed=False)
        if incoming.boots != self.boots or abs(incoming.time - self.time) > 150:
            return self._report(incoming.message, 2, signed=not self.forged)
        _, body = open_scoped(incoming, self.keys)
        self.done.append(body)
        request = int.from_bytes(body[2 : 2 + body[1]], "big")
        pdu = make_answer("ResponsePDU", request, [(NAME, api.v2c.Integer32(7))])
        return write_message(incoming.message, ENGINE, self.boots, self.time, "boss", self.keys, bytes(8), pdu)

    def _report(self, message: int, reason: int, *, signed: bool) -> bytes:
        pdu = make_answer("ReportPDU", 0, [((*STATS, reason, 0), api.v2c.Counter32(1))])
        if signed:
            return write_message(message, ENGINE, self.boots, self.time, "boss", self.keys, bytes(8), pdu)
        scoped = join(write_field(4, ENGINE), write_field(4, b""), pdu)
        return _write(message, 0, (ENGINE, self.boots, self.time), "", b"", b"", scoped)


@pytest.fixture
def agent() -> Agent:
    return Agent()


@pytest.fixture
def wire(supernoded_wires: MemoryWires, agent: Agent) -> MemoryDatagrams:
    wire = supernoded_wires.datagrams(URL)
    wire.answer = agent.answer
    return wire


@pytest.fixture
def speech(supernoded_clock: ManualClock) -> UserSpeech:
    return UserSpeech(BOSS, supernoded_clock, Random(1))


async def ask(speech: UserSpeech, wire: MemoryDatagrams, request: int) -> dict[Oid, Asn]:
    return dict((await speech.ask(wire, request, get(V3, request, (NAME,)), 1.0, 2)).pairs)


async def test_it_finds_the_engine_once_and_follows_its_time(
    speech: UserSpeech, wire: MemoryDatagrams, agent: Agent, supernoded_clock: ManualClock
) -> None:
    assert await ask(speech, wire, 11) == {NAME: Asn("integer", 7)}
    assert len(wire.sent) == 2
    await supernoded_clock.advance(600.0)
    agent.time += 600
    assert await ask(speech, wire, 12) == {NAME: Asn("integer", 7)}
    assert len(wire.sent) == 3
    agent.boots, agent.time = 6, 3
    assert await ask(speech, wire, 13) == {NAME: Asn("integer", 7)}
    assert (len(wire.sent), len(agent.done)) == (5, 3)
    assert all(b"hide" not in datagram and b"sign" not in datagram for datagram in wire.sent)


async def test_an_order_is_done_once_and_only_by_leave(
    speech: UserSpeech, wire: MemoryDatagrams, agent: Agent, supernoded_wires: MemoryWires
) -> None:
    agent.boots = 9
    await speech.order(wire, "feed/A", 11, set_number(V3, 11, NAME, 2), 1.0)
    assert len(agent.done) == 1
    supernoded_wires.refusals["feed/A"] = "the lease is over"
    with pytest.raises(NotHeldError):
        await speech.order(wire, "feed/A", 12, set_number(V3, 12, NAME, 2), 1.0)
    assert len(agent.done) == 1


async def test_a_time_that_is_not_signed_is_not_believed(speech: UserSpeech, wire: MemoryDatagrams, agent: Agent) -> None:
    await ask(speech, wire, 11)
    agent.boots, agent.forged = 6, True
    with pytest.raises(WireError, match="no answer that fits"):
        await ask(speech, wire, 12)


async def test_a_response_that_is_not_signed_is_none(speech: UserSpeech, wire: MemoryDatagrams, agent: Agent) -> None:
    await ask(speech, wire, 11)

    def answer(datagram: bytes) -> bytes:
        pdu = make_answer("ResponsePDU", 12, [(NAME, api.v2c.Integer32(8))])
        scoped = join(write_field(4, ENGINE), write_field(4, b""), pdu)
        return _write(read_message(datagram).message, 0, (ENGINE, agent.boots, agent.time), "boss", b"", b"", scoped)

    wire.answer = answer
    with pytest.raises(WireError, match="no answer that fits"):
        await ask(speech, wire, 12)


@pytest.mark.parametrize(("reason", "told"), [(3, "unknownUserNames; look at user"), (5, "wrongDigests; look at auth"), (9, "1.9.0")])
async def test_a_refusal_says_why(speech: UserSpeech, wire: MemoryDatagrams, agent: Agent, reason: int, told: str) -> None:
    agent.report = reason
    with pytest.raises(WireError, match=told):
        await ask(speech, wire, 11)


async def test_an_engine_that_never_knows_itself_ends(speech: UserSpeech, wire: MemoryDatagrams, agent: Agent) -> None:
    agent.report = 4
    with pytest.raises(WireError, match="unknownEngineIDs after 3 attempts"):
        await ask(speech, wire, 11)


@given(st.data())
def test_what_was_touched_is_not_authentic(data: st.DataObject) -> None:
    keys = make_keys(ENGINE, "sha256", "sign it here", "hide it here")
    whole = write_message(1, ENGINE, 5, 1000, "boss", keys, bytes(8), get(V3, 1, (NAME,)))
    assert is_authentic(whole, read_message(whole), keys)
    assert read_message(whole).flags & AUTHENTIC
    place, bit = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(0, 7))
    touched = whole[:place] + bytes((whole[place] ^ 1 << bit,)) + whole[place + 1 :]
    try:
        incoming = read_message(touched)
    except BerError:
        return
    assert not is_authentic(touched, incoming, keys)


@given(st.binary(max_size=300))
def test_garbage_is_said_to_be_garbage(data: bytes) -> None:
    with pytest.raises(BerError):
        read_message(data)
