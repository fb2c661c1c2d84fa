"""Requests of both versions, in good order and in bad."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim_hardware.devices.snmp import Agent, Cell, Communities, Mib
from sim_hardware.devices.snmp.cells import Setting
from sim_hardware.devices.snmp.mib import Status
from sim_hardware.devices.snmp.words import number, text
from tests.sim.devices.snmp.requests import Answer, ask, decode, encode


def agent(**how: Any) -> Agent:
    cells = [Setting(number(place)).cell((1, 3, place, 0)) for place in range(1, 6)]
    return Agent(Mib([*cells, Cell((1, 3, 9, 0), lambda: text("x" * 255)), Cell((1, 3, 9, 1), lambda: None)]), **how)


@pytest.mark.parametrize("version", [0, 1])
def test_get_next_and_set(version: int) -> None:
    of = agent()
    assert ask(of, "get", ("1.3.1.0", None), ("1.3.2.0", None), version=version).pairs == [((1, 3, 1, 0), 1), ((1, 3, 2, 0), 2)]
    assert ask(of, "next", ("1.3.1.0", None), version=version).pairs == [((1, 3, 2, 0), 2)]
    assert ask(of, "set", ("1.3.1.0", 8), ("1.3.2.0", 9), version=version) == Answer(0, 0, [((1, 3, 1, 0), 8), ((1, 3, 2, 0), 9)])
    assert ask(of, "get", ("1.3.1.0", None), version=version).value == 8


def test_what_is_missing_is_an_error_in_version_1_and_a_value_in_2c() -> None:
    of, names = agent(), (("1.3.1.0", None), ("1.3.1.7", None), ("1.4.1", None))
    first = ask(of, "get", *names, version=0)
    assert (first.status, first.index, [oid for oid, _ in first.pairs]) == (Status.NO_SUCH_NAME, 2, [(1, 3, 1, 0), (1, 3, 1, 7), (1, 4, 1)])
    assert [value for _, value in ask(of, "get", *names).pairs] == [1, "NoSuchInstance", "NoSuchObject"]
    assert ask(of, "next", ("1.3.9.0", None), version=0).status == Status.NO_SUCH_NAME
    assert ask(of, "next", ("1.3.9.0", None)).pairs == [((1, 3, 9, 0), "EndOfMibView")]


def test_bulk_gives_the_first_once_and_the_others_often() -> None:
    pairs = ask(agent(), "bulk", ("1.3.1", None), ("1.3.2", None), ("1.3.3", None), once=1, repetitions=2).pairs
    assert [oid[2] for oid, _ in pairs] == [1, 2, 3, 3, 4]
    long = ask(agent(), "bulk", ("1.3", None), repetitions=2_000_000).pairs
    assert [oid[2] for oid, _ in long] == [1, 2, 3, 4, 5, 9, 9]
    assert long[-1][1] == "EndOfMibView"
    assert ask(agent(), "bulk", ("1.3", None), repetitions=0).pairs == []


def test_an_answer_that_is_too_big() -> None:
    names = [("1.3.9.0", None)] * 8
    assert [ask(agent(), "get", *names, version=version).status for version in (0, 1)] == [Status.TOO_BIG] * 2
    shortened = ask(agent(), "bulk", *[("1.3.5.0", None)] * 8, repetitions=1)
    assert (shortened.status, 0 < len(shortened.pairs) < 8) == (0, True)


def test_communities() -> None:
    of = agent(communities=Communities(read="look", write="touch"))
    assert of.answer(encode("get", ("1.3.1.0", None), community="public")) is None
    assert ask(of, "get", ("1.3.1.0", None), community="touch").value == 1
    refused = ask(of, "set", ("1.3.1.0", 8), community="look")
    assert (refused.status, refused.index) == (Status.NO_ACCESS, 1)
    assert ask(of, "set", ("1.3.1.0", 8), community="look", version=0).status == Status.NO_SUCH_NAME
    assert ask(of, "get", ("1.3.1.0", None), community="look").value == 1


def test_a_set_without_a_value() -> None:
    assert ask(agent(), "set", ("1.3.1.0", None)).status == Status.WRONG_TYPE


REQUEST = encode("get", ("1.3.1.0", None), ("1.3.2.0", None))


def test_version_3_and_answers_are_not_answered() -> None:
    answer = agent().answer(REQUEST)
    assert answer is not None
    assert agent().answer(answer) is None
    assert REQUEST[2:5] == b"\x02\x01\x01"
    assert agent().answer(REQUEST[:4] + b"\x03" + REQUEST[5:]) is None


@given(st.binary(max_size=120))
def test_any_bytes_are_survived(data: bytes) -> None:
    assert agent().answer(data) is None or data


@given(st.lists(st.tuples(st.integers(0, len(REQUEST) - 1), st.integers(0, 255)), max_size=4), st.integers(0, len(REQUEST)))
def test_a_request_with_changed_bytes_is_survived(changes: list[tuple[int, int]], end: int) -> None:
    data = bytearray(REQUEST)
    for place, value in changes:
        data[place] = value
    for datagram in (bytes(data), bytes(data[:end])):
        answer = agent().answer(datagram)
        if answer is not None and datagram == REQUEST:
            assert [value for _, value in decode(answer).pairs] == [1, 2]
        assert answer is None or answer[0] == 0x30
