from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.light_mqtt import (
    LightLink,
    make_connect,
    make_length,
    make_packet,
    make_publish,
    read_length,
    read_publish,
    split_packets,
)
from tests.benchmarks.waiting import until
from tests.protocol.mosquitto import Mosquitto


@given(st.integers(0, 268_435_455))
def test_a_length_comes_back(number: int) -> None:
    data = make_length(number)
    assert read_length(data, 0) == (number, len(data))
    assert read_length(data[:-1], 0) is None


def test_lengths_are_those_of_the_standard() -> None:
    assert [make_length(number).hex() for number in (0, 127, 128, 16_383, 16_384, 2_097_152)] == [
        *("00", "7f", "8001", "ff7f", "808001", "80808001")
    ]
    with pytest.raises(ValueError, match="four bytes"):
        read_length(b"\xff\xff\xff\xff\x01", 0)


@given(st.text(max_size=40), st.binary(max_size=300), st.integers(0, 0xFFFF), st.integers(0, 100))
def test_what_is_published_is_read(topic: str, payload: bytes, packet_id: int, expiry: int) -> None:
    data = bytearray(make_publish(topic.encode(), payload, packet_id, expiry=expiry))
    [(first, body)] = split_packets(data)
    assert read_publish(first, body) == (topic, payload, packet_id.to_bytes(2) if packet_id else b"")
    assert not data


@given(st.lists(st.binary(max_size=200), max_size=6), st.integers(1, 50))
def test_packets_are_whole_however_they_come(bodies: list[bytes], size: int) -> None:
    stream = b"".join(make_packet(0x30, body) for body in bodies)
    data, found = bytearray(), []
    for begin in range(0, len(stream), size):
        data += stream[begin : begin + size]
        found += [body for _, body in split_packets(data)]
    assert found == bodies


@given(st.binary(max_size=200))
def test_garbage_ends_in_a_value_error_at_most(data: bytes) -> None:
    with suppress(ValueError):
        for first, body in split_packets(bytearray(data)):
            read_publish(first, body)
    link = LightLink(lambda topic, payload: None)
    link.data_received(data)
    assert not link.is_open


async def test_a_real_broker_takes_it_and_sends_the_will(mosquitto: Mosquitto) -> None:
    await mosquitto.start()
    heard: list[tuple[str, bytes]] = []
    one, other = LightLink(lambda topic, payload: heard.append((topic, payload))), LightLink(lambda topic, payload: None)
    await one.open(mosquitto.port, make_connect("one", "one/will", b"gone", 0), ["a/#", "other/will"], 5.0)
    await other.open(mosquitto.port, make_connect("other", "other/will", b"gone", 0), ["b"], 5.0)
    for number in range(50):
        other.publish(b"a/b", b"%d" % number, qos=1, expiry=3)
    other.publish(b"a/c", b"moment")
    await until(lambda: len(heard) == 51 and not other.unacknowledged)
    other.cut()
    await until(lambda: len(heard) == 52)
    assert [payload for topic, payload in heard if topic == "a/b"] == [b"%d" % number for number in range(50)]
    assert [one for one in heard if one[0] != "a/b"] == [("a/c", b"moment"), ("other/will", b"gone")]
    one.cut()


async def test_a_broker_that_refuses_is_an_error(mosquitto: Mosquitto) -> None:
    mosquitto.lines.append("allow_anonymous false")
    await mosquitto.start()
    link = LightLink(lambda topic, payload: None)
    with pytest.raises(ConnectionError, match="refused with 0x87"):
        await link.open(mosquitto.port, make_connect("one", "one/will", b"gone", 0), ["a"], 5.0)
    link.cut()
