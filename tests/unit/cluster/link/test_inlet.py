"""What is taken out of the stream, and what paho still reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.light_mqtt import make_packet, make_publish
from supernoded.cluster.link.fabric import Message
from supernoded.cluster.link.inlet import Inlet

PUBACK = make_packet(0x40, b"\x00\x07")


class Pipe:
    """A socket that gives what was put into it, so many bytes at a time, then nothing, and at last what it ends with."""

    def __init__(self, data: bytes = b"", size: int = 65_536, end: OSError | bytes | None = None) -> None:
        self.data, self.size, self.end, self.closed = data, size, end, False
        self.sent = b""

    def recv(self, size: int) -> bytes:
        if not self.data and isinstance(self.end, OSError):
            raise self.end
        if not self.data and self.end is None:
            raise BlockingIOError
        taken, self.data = self.data[: min(size, self.size)], self.data[min(size, self.size) :]
        return taken

    def send(self, buffer: bytes | bytearray) -> int:
        self.sent += buffer
        return len(buffer)

    def close(self) -> None:
        self.closed = True

    def fileno(self) -> int:
        return -1 if self.closed else 7

    def setblocking(self, flag: bool) -> None:
        assert not flag


def read(pipe: Pipe) -> list[Message | bytes]:
    """Everything, in the order in which it comes out: messages of the moment, and the packets that paho reads."""
    found: list[Message | bytes] = []
    inlet = Inlet(pipe, found.append)
    while pipe.data:
        inlet.fill()
        while inlet.is_due():
            packet = b""
            while True:  # as paho does: a byte, the length byte by byte, the rest
                try:
                    packet += inlet.recv(1)
                except BlockingIOError:
                    break
            found.append(packet)
    return found


def moment(topic: str, payload: bytes, *, expiry: int = 0, retain: bool = False) -> Message:
    return Message(topic=topic, payload=payload, qos=0, expiry=expiry, retain=retain)


@given(st.text(min_size=1, max_size=40), st.binary(max_size=300), st.integers(0, 100), st.booleans(), st.integers(1, 400))
def test_what_is_of_the_moment_is_taken_out_however_it_comes(topic: str, payload: bytes, expiry: int, retain: bool, size: int) -> None:
    packet = make_publish(topic.encode(), payload, 0, retain=retain, expiry=expiry)
    assert read(Pipe(PUBACK + packet + packet + PUBACK, size)) == [
        PUBACK,
        *(2 * [moment(topic, payload, expiry=expiry, retain=retain)]),
        PUBACK,
    ]


@pytest.mark.parametrize(
    "packet",
    [
        make_publish(b"a", b"acknowledged", 7),
        make_packet(0x38, b"\x00\x01a\x00x"),  # said to be sent again, which QoS 0 never is
        make_packet(0x30, b"\x00\x00\x00x"),  # an alias
        make_packet(0x30, b"\x00\x01\xff\x00x"),  # no UTF-8
        make_packet(0x30, b"\x00\x09a\x00x"),  # a topic that is longer than the packet
        make_packet(0x30, b"\x00\x01a"),  # it ends before its properties
        make_packet(0x30, b"\x00\x01a\x05\x02\x00"),  # and in them
        make_packet(0x30, b"\x00\x01a\x04\x08\x00\x01rx"),  # another property
        make_packet(0x30, b""),
        b"\x30\xff\xff\xff\xff",  # a length that is none
    ],
)
def test_everything_else_is_for_paho(packet: bytes) -> None:
    assert read(Pipe(make_publish(b"a", b"1", 0) + packet)) == [moment("a", b"1"), packet]


@given(st.binary(max_size=200), st.integers(1, 40))
def test_no_byte_of_garbage_is_read_twice(data: bytes, size: int) -> None:
    found = read(Pipe(data, size))
    packets = [one for one in found if isinstance(one, bytes)]
    if len(packets) == len(found):
        assert data.startswith(b"".join(packets))


@pytest.mark.parametrize("end", [ConnectionResetError("reset"), b""])
def test_the_end_of_the_link_is_for_paho(end: OSError | bytes) -> None:
    pipe = Pipe(PUBACK[:2], end=end)
    inlet = Inlet(pipe, lambda message: None)
    inlet.fill()
    assert not inlet.is_due()
    inlet.fill()
    assert inlet.is_due()
    if isinstance(end, OSError):
        with pytest.raises(ConnectionResetError):
            inlet.recv(1)
    else:
        assert inlet.recv(1) == b""


def test_the_rest_is_the_sockets_own() -> None:
    pipe = Pipe()
    inlet = Inlet(pipe, lambda message: None)
    inlet.setblocking(False)
    assert (inlet.send(b"xy"), pipe.sent, inlet.fileno()) == (2, b"xy", 7)
    inlet.close()
    assert inlet.fileno() == -1
