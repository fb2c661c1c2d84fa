"""One agent asked: errors of single names, walks that end, break off, grow and go in circles, and answers to somebody else."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from sim_hardware.devices.snmp.codec import decode_request, encode_error, encode_response
from sim_hardware.devices.snmp.mib import Status
from sim_hardware.devices.snmp.words import number
from supernoded.errors import NotHeldError, WireError
from supernoded.testing import MemoryWires
from supernoded_snmp.asn import Asn, parse_oid
from supernoded_snmp.manager import MOST_ROWS, NO_INSTANCE, Manager
from supernoded_snmp.messages import V1, V2C, CommunitySpeech, get
from tests.plugins.snmp.agents import URL, Table, answer_with

COLUMN = parse_oid("1.3.6.1.4.1.9.1")
READ, WRITE = "public", "private"


@pytest.fixture
def manager(supernoded_wires: MemoryWires) -> Manager:
    return Manager(supernoded_wires.datagrams(URL), "pdu/A1", Random(1), 1.0)


def make_table(rows: int) -> Table:
    return Table({f"1.3.6.1.4.1.9.1.{row}": row for row in range(1, rows + 1)} | {"1.3.6.1.4.1.9.2.0": "end"})


@pytest.mark.parametrize("version", [V1, V2C])
async def test_names_that_are_missing_cost_only_themselves(supernoded_wires: MemoryWires, manager: Manager, version: int) -> None:
    answer_with(supernoded_wires, make_table(40))
    names = [(*COLUMN, row) for row in (1, 99, 2, 40, 100, 3)]
    found = await manager.get(CommunitySpeech(version, READ), names)
    assert [found[name] for name in names] == [
        Asn("integer", 1),
        NO_INSTANCE,
        Asn("integer", 2),
        Asn("integer", 40),
        NO_INSTANCE,
        Asn("integer", 3),
    ]


@pytest.mark.parametrize("version", [V1, V2C])
async def test_a_walk_reads_the_column_and_nothing_beyond(supernoded_wires: MemoryWires, manager: Manager, version: int) -> None:
    answer_with(supernoded_wires, make_table(40))
    walked = await manager.walk(CommunitySpeech(version, READ), COLUMN)
    assert ([value.value for value in walked.rows.values()], walked.more) == (list(range(1, 41)), "")
    assert list(walked.rows) == [(row,) for row in range(1, 41)]


@pytest.mark.parametrize("version", [V1, V2C])
async def test_a_column_at_the_end_of_the_tree(supernoded_wires: MemoryWires, manager: Manager, version: int) -> None:
    answer_with(supernoded_wires, Table({"1.3.6.1.4.1.9.1.1": 5}))
    walked = await manager.walk(CommunitySpeech(version, READ), COLUMN)
    assert ({index: value.value for index, value in walked.rows.items()}, walked.more) == ({(1,): 5}, "")
    assert (await manager.walk(CommunitySpeech(version, READ), parse_oid("1.3.6.1.4.1.10"))).rows == {}


def play(wires: MemoryWires, answer: Callable[[bytes], bytes]) -> None:
    wires.datagrams(URL).answer = answer


async def test_too_big_is_asked_for_in_smaller_parts(supernoded_wires: MemoryWires, manager: Manager) -> None:
    agent = make_table(40).make_agent()

    def answer(datagram: bytes) -> bytes:
        request = decode_request(datagram)
        if len(request.names) > 2 or request.repetitions > 2:
            return encode_error(request, Status.TOO_BIG, 0, empty=True)
        return agent.answer(datagram) or b""

    play(supernoded_wires, answer)
    names = [(*COLUMN, row) for row in range(1, 8)]
    assert [value.value for value in (await manager.get(CommunitySpeech(V2C, READ), names)).values()] == list(range(1, 8))
    assert len((await manager.walk(CommunitySpeech(V2C, READ), COLUMN)).rows) == 40


async def test_an_error_is_of_the_name_that_it_is_about(supernoded_wires: MemoryWires, manager: Manager) -> None:
    agent = make_table(5).make_agent()

    def answer(datagram: bytes) -> bytes:
        request = decode_request(datagram)
        bad = (*COLUMN, 2)
        return (
            encode_error(request, Status.GENERAL, request.names.index(bad) + 1) if bad in request.names else agent.answer(datagram) or b""
        )

    play(supernoded_wires, answer)
    found = await manager.get(CommunitySpeech(V2C, READ), [(*COLUMN, row) for row in (1, 2, 3)])
    assert [(value.kind, value.value) for value in (found[(*COLUMN, row)] for row in (1, 2, 3))] == [
        ("integer", 1),
        ("error", b"genErr"),
        ("integer", 3),
    ]


async def test_a_walk_that_breaks_off_keeps_what_it_has(supernoded_wires: MemoryWires, manager: Manager) -> None:
    agent = make_table(40).make_agent()
    asked: list[bytes] = []

    def answer(datagram: bytes) -> bytes:
        asked.append(datagram)
        return (agent.answer(datagram) or b"") if len(asked) < 2 else b""

    play(supernoded_wires, answer)
    walked = await manager.walk(CommunitySpeech(V2C, READ), COLUMN)
    assert len(walked.rows) == 4
    assert "broke off after 4 rows" in walked.more


async def test_a_walk_in_circles_ends(supernoded_wires: MemoryWires, manager: Manager) -> None:
    def answer(datagram: bytes) -> bytes:
        request = decode_request(datagram)
        return encode_response(request, [((*COLUMN, 3), number(1)), ((*COLUMN, 2), number(1))])

    play(supernoded_wires, answer)
    walked = await manager.walk(CommunitySpeech(V2C, READ), COLUMN)
    assert (list(walked.rows), "circles" in walked.more) == ([(3,)], True)


async def test_a_walk_without_end_ends(supernoded_wires: MemoryWires, manager: Manager) -> None:
    def answer(datagram: bytes) -> bytes:
        request = decode_request(datagram)
        row = request.names[0][len(COLUMN)] if len(request.names[0]) > len(COLUMN) else 0
        return encode_response(request, [((*COLUMN, row + step), number(1)) for step in range(1, 17)])

    play(supernoded_wires, answer)
    walked = await manager.walk(CommunitySpeech(V2C, READ), COLUMN)
    assert (len(walked.rows), walked.more) == (MOST_ROWS, f"more than {MOST_ROWS} rows")


async def test_answers_that_are_not_ours_are_dropped(supernoded_wires: MemoryWires, manager: Manager) -> None:
    agent = make_table(5).make_agent()
    speech = CommunitySpeech(V2C, READ)
    supernoded_wires.datagrams(URL).answer = lambda datagram: agent.answer(datagram) or b""
    await manager.get(speech, [(*COLUMN, 1)])
    late = agent.answer(speech.wrap(get(V2C, 5, [(*COLUMN, 2)]))) or b""
    play(supernoded_wires, lambda _: late)
    with pytest.raises(WireError, match="no answer that fits"):
        await manager.get(speech, [(*COLUMN, 1)])
    play(supernoded_wires, lambda _: b"\x30\x82garbage")
    with pytest.raises(WireError, match="no answer that fits"):
        await manager.walk(speech, COLUMN)
    foreign = CommunitySpeech(V1, READ)
    play(supernoded_wires, lambda datagram: agent.answer(foreign.wrap(get(V1, decode_id(datagram), [(*COLUMN, 1)]))) or b"")
    with pytest.raises(WireError, match="no answer that fits"):
        await manager.get(speech, [(*COLUMN, 1)])


def decode_id(datagram: bytes) -> int:
    request = decode_request(datagram)
    return int(request.message["data"].getComponent()["request-id"])


async def test_a_set_is_sent_once_and_only_by_leave(supernoded_wires: MemoryWires, manager: Manager) -> None:
    table = make_table(3)
    answer_with(supernoded_wires, table)
    await manager.set(CommunitySpeech(V2C, WRITE), "feed/A", (*COLUMN, 2), 1)
    assert table.orders == [("1.3.6.1.4.1.9.1.2", 1)]
    supernoded_wires.refusals["feed/A"] = "the lease is over"
    with pytest.raises(NotHeldError):
        await manager.set(CommunitySpeech(V2C, WRITE), "feed/A", (*COLUMN, 2), 1)
    assert len(table.orders) == 1


@pytest.mark.parametrize(("version", "told"), [(V1, "noSuchName"), (V2C, "notWritable")])
async def test_a_set_that_is_refused_says_why(supernoded_wires: MemoryWires, manager: Manager, version: int, told: str) -> None:
    table = make_table(3)
    table.refusing = True
    answer_with(supernoded_wires, table)
    with pytest.raises(WireError, match=f"{told}; look at write_community_file"):
        await manager.set(CommunitySpeech(version, WRITE), "feed/A", (*COLUMN, 2), 1)
    with pytest.raises(WireError, match=r"noSuchName|noAccess"):
        await manager.set(CommunitySpeech(version, READ), "feed/A", (*COLUMN, 2), 1)
