"""The contacts of a serial device: what the kernel says of its modem lines, which a pseudo-terminal does not have."""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import termios
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from supernoded.reflex import port
from supernoded.reflex.port import SerialPort
from supernoded.settings.reflex import Contact, ReflexLine

CTS, DCD = 0x020, 0x040  # TIOCM_CTS and TIOCM_CAR of Linux's asm-generic/termios.h
OTHERS = 0x002 | 0x004 | 0x080 | 0x100  # DTR, RTS, RI and DSR


@dataclass
class Kernel:
    """Answers TIOCMGET as tty_io.c does, with an int of this machine; what has no argument goes to the kernel that there is."""

    lines: int = 0
    lost: bool = False
    asked: list[int] = field(default_factory=list)

    def ioctl(self, fd: int, request: int, place: bytearray | None = None, *rest: bool) -> int:
        if place is None:
            return fcntl.ioctl(fd, request)
        assert (request, rest) == (termios.TIOCMGET, (True,))
        self.asked.append(fd)
        if self.lost:
            raise OSError(errno.EIO, "the adapter is gone")
        struct.pack_into("=i", place, 0, self.lines)
        return 0


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel:
    kernel = Kernel()
    monkeypatch.setattr(port, "fcntl", SimpleNamespace(ioctl=kernel.ioctl))
    return kernel


@pytest.fixture
def serial_port(kernel: Kernel) -> Iterator[SerialPort]:
    del kernel  # which is in its place before the port is opened
    ours, theirs = os.openpty()
    opened = SerialPort(ReflexLine(name="l", device=Path(os.ttyname(theirs))))
    yield opened
    opened.close()
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize(
    ("lines", "closed"),
    [
        (0, set()),
        (CTS, {Contact.CTS}),
        (DCD, {Contact.DCD}),
        (CTS | DCD, {Contact.CTS, Contact.DCD}),
        (OTHERS, set()),
        (OTHERS | DCD, {Contact.DCD}),
    ],
)
def test_each_contact_is_its_own_line(serial_port: SerialPort, kernel: Kernel, lines: int, closed: set[Contact]) -> None:
    kernel.lines = lines
    assert {contact for contact in Contact if serial_port.is_closed(contact)} == closed
    assert kernel.asked == [serial_port.fd] * len(Contact)


def test_a_contact_is_looked_at_each_time(serial_port: SerialPort, kernel: Kernel) -> None:
    seen = []
    for lines in (0, CTS, CTS, 0, DCD):
        kernel.lines = lines
        seen.append(serial_port.is_closed(Contact.CTS))
    assert seen == [False, True, True, False, False]


def test_a_line_that_is_gone_has_no_open_contact(serial_port: SerialPort, kernel: Kernel) -> None:
    """It is lost, as it is for bytes, and not taken for one that says nothing."""
    kernel.lines, kernel.lost = CTS, True
    with pytest.raises(OSError, match="the adapter is gone"):
        serial_port.is_closed(Contact.CTS)
