"""A serial device as a transport, on pseudo-terminals: one owner, settings, losses, words for what is wrong."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import sys
import termios
import threading
import tty
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import serial

from supernoded.errors import WireError
from supernoded.wire import serial as wire_serial
from supernoded.wire.line_address import parse_line
from supernoded.wire.serial import BACKLOG, WORDS, SerialDial, SerialTransport, open_serial

TIOCGEXCL = 0x8004_5440  # <asm-generic/ioctls.h>; as root nothing else shows it


@dataclass
class Pair:
    """A pseudo-terminal: our end, and the path of the device's."""

    fd: int
    path: str

    def hang_up(self) -> None:
        os.close(self.fd)
        self.fd = -1

    def read(self, count: int) -> bytes:
        came = b""
        while len(came) < count:
            came += os.read(self.fd, count - len(came))
        return came


@pytest.fixture
def pair() -> Iterator[Pair]:
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    made = Pair(ours, os.ttyname(theirs))
    os.close(theirs)
    yield made
    if made.fd >= 0:
        os.close(made.fd)


class Listening(asyncio.Protocol):
    def __init__(self) -> None:
        self.came = bytearray()
        self.news = asyncio.Event()
        self.lost = asyncio.Event()
        self.error: Exception | None = None

    def data_received(self, data: bytes) -> None:
        self.came += data
        self.news.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.error = exc
        self.lost.set()


async def dial(path: str, query: str = "baud=19200") -> tuple[SerialTransport, Listening]:
    protocol = Listening()
    return await SerialDial(parse_line(f"serial://{path}?{query}"))(protocol), protocol


def count_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_bytes_go_both_ways(pair: Pair) -> None:
    transport, protocol = await dial(pair.path)
    transport.write(b"\x00\x03\x11\x13\x1a\r\n\xff")
    assert await asyncio.to_thread(pair.read, 8) == b"\x00\x03\x11\x13\x1a\r\n\xff"
    os.write(pair.fd, b"\x04\x11\r\n")
    while len(protocol.came) < 4:
        protocol.news.clear()
        await protocol.news.wait()
    assert protocol.came == b"\x04\x11\r\n"
    transport.close()
    transport.write(b"too late")
    await protocol.lost.wait()
    assert protocol.error is None
    assert transport.is_closing()


async def test_the_device_is_set_as_the_url_says(pair: Pair) -> None:
    transport, _ = await dial(pair.path, "baud=9600&parity=N&stop=2")
    settings = termios.tcgetattr(pair.fd)
    assert settings[5] == termios.B9600
    assert settings[2] & termios.CSTOPB
    assert not settings[3] & (termios.ECHO | termios.ICANON | termios.ISIG)
    transport.close()


@pytest.mark.parametrize(("parity", "flags"), [("E", termios.PARENB), ("O", termios.PARENB | termios.PARODD), ("N", 0)])
def test_parity_is_handed_on(parity: str, flags: int, monkeypatch: pytest.MonkeyPatch, pair: Pair) -> None:
    """A pseudo-terminal takes no parity, so what is asked of it is looked at."""
    asked: list[int] = []
    real = termios.tcsetattr

    def ask(fd: int, when: int, settings: Any) -> None:
        asked.append(settings[2] & (termios.PARENB | termios.PARODD))
        real(fd, when, settings)

    monkeypatch.setattr(termios, "tcsetattr", ask)
    open_serial(parse_line(f"serial://{pair.path}?parity={parity}")).close()
    assert asked == [flags]


async def test_a_device_has_one_owner_at_a_time(pair: Pair) -> None:
    before = count_files()
    transport, protocol = await dial(pair.path)
    with pytest.raises(WireError, match=r"somebody else has it open, and a line has one owner; fuser -v shows who"):
        await dial(pair.path)
    transport.close()
    await protocol.lost.wait()
    again, told = await dial(pair.path)
    again.close()
    await told.lost.wait()
    assert count_files() == before


def test_a_device_is_exclusive_for_whoever_does_not_ask_for_locks(pair: Pair) -> None:
    device = open_serial(parse_line(f"serial://{pair.path}"))
    try:
        assert fcntl.ioctl(device.fileno(), TIOCGEXCL, bytes(4)) == (1).to_bytes(4, sys.byteorder)
    finally:
        device.close()


async def test_a_device_that_is_gone_ends_the_transport(pair: Pair) -> None:
    before = count_files()
    _, protocol = await dial(pair.path)
    pair.hang_up()
    await protocol.lost.wait()
    assert str(protocol.error) in {WORDS[errno.EIO], WORDS[errno.ENODEV]}
    assert count_files() == before - 1


async def test_what_the_device_does_not_take_at_once_follows(pair: Pair) -> None:
    transport, protocol = await dial(pair.path)
    data = bytes(number % 251 for number in range(BACKLOG // 2))
    transport.write(data)
    assert await asyncio.to_thread(pair.read, len(data)) == data
    transport.write(b"next")
    assert await asyncio.to_thread(pair.read, 4) == b"next"
    transport.abort()
    await protocol.lost.wait()


async def test_a_device_that_takes_nothing_is_given_up(pair: Pair) -> None:
    transport, protocol = await dial(pair.path)
    transport.write(bytes(3 * BACKLOG))
    await protocol.lost.wait()
    assert "does not answer its driver" in str(protocol.error)


async def test_an_opening_that_nobody_waits_for_is_closed(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go, opened = threading.Event(), threading.Event(), list[serial.Serial]()

    def slow(address: object) -> serial.Serial:
        del address
        begun.set()
        go.wait(30.0)
        opened.append(open_serial(parse_line(f"serial://{pair.path}")))
        return opened[-1]

    monkeypatch.setattr(wire_serial, "open_serial", slow)
    door = SerialDial(parse_line(f"serial://{pair.path}"))
    dialling = asyncio.create_task(door(Listening()))
    await asyncio.to_thread(begun.wait, 30.0)
    dialling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await dialling
    with pytest.raises(WireError, match="its driver hangs since it was opened last"):
        await door(Listening())
    files = count_files()
    go.set()
    while not opened or opened[0].is_open:
        await asyncio.sleep(0)
    assert count_files() == files
    transport = await door(Listening())
    assert not transport.is_closing()
    transport.abort()


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOENT, "is the adapter plugged in, and is the path right"),
        (errno.EACCES, "put the daemon's user into the group of the device"),
        (errno.EBUSY, "somebody else has it open"),
        (errno.EMFILE, "Too many open files"),
    ],
)
def test_what_is_wrong_is_said_in_words(number: int, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise serial.SerialException(number, f"could not open port: {os.strerror(number)}")

    monkeypatch.setattr(serial, "Serial", refuse)
    with pytest.raises(WireError, match=words):
        open_serial(parse_line("serial:///dev/none"))


async def test_an_adapter_that_goes_while_it_is_set_up_is_opened_again(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    def go(*_: object) -> None:
        raise termios.error(errno.EIO, os.strerror(errno.EIO))  # as the terminal's calls raise it, which is no OSError

    door = SerialDial(parse_line(f"serial://{pair.path}"))
    with monkeypatch.context() as gone:
        gone.setattr(termios, "tcsetattr", go)
        with pytest.raises(WireError, match="does not answer its driver; is it unplugged"):
            await door(Listening())
    transport = await door(Listening())
    assert not transport.is_closing()
    transport.abort()


def test_what_is_no_serial_device_is_said(tmp_path: Path) -> None:
    with pytest.raises(WireError, match="no such device"):
        open_serial(parse_line(f"serial://{tmp_path}/none"))
    (tmp_path / "file").touch()
    with pytest.raises(WireError, match="cannot be used as a serial line"):
        open_serial(parse_line(f"serial://{tmp_path}/file"))
