"""A serial device that is ours alone."""

from __future__ import annotations

import fcntl
import os
import sys
import termios
from typing import Protocol

import serial

from supernoded.errors import WireError
from supernoded.settings.reflex import Contact, ReflexLine

_BITS = {Contact.CTS: termios.TIOCM_CTS, Contact.DCD: termios.TIOCM_CAR}


class Port(Protocol):
    """An open device. What it raises is OSError; then it is lost."""

    @property
    def fd(self) -> int:
        """What can be waited for."""
        ...

    def read_into(self, place: memoryview) -> int:
        """Bytes that have come, and how many; 0 when the other side is gone. Never waits."""
        ...

    def write(self, data: bytes | bytearray) -> int:
        """Hand bytes over; how many were taken. Never waits."""
        ...

    def is_closed(self, contact: Contact) -> bool:
        """Whether a contact is closed now."""
        ...

    def hurry(self) -> str:
        """Ask the adapter not to gather bytes; what came of it, in a sentence."""
        ...

    def close(self) -> None:
        """Give it back."""
        ...


class SerialPort:
    """See `Port`. Exclusive by flock and TIOCEXCL, at its speed, raw."""

    def __init__(self, line: ReflexLine) -> None:
        """Open it. Raises WireError, also when somebody else has it."""
        try:
            self._serial = serial.Serial(
                str(line.device), line.baud, parity=line.parity.value, stopbits=line.stop, timeout=0, write_timeout=0, exclusive=True
            )
            self._fd: int = self._serial.fileno()
            fcntl.ioctl(self._fd, termios.TIOCEXCL)
        except (OSError, ValueError, termios.error) as error:
            raise WireError(
                f"line {line.name}: {line.device} cannot be had, {error}; is it there, and does nothing else use it?"
            ) from error
        self._modem = bytearray(4)

    @property
    def fd(self) -> int:
        """See `Port.fd`."""
        return self._fd

    def read_into(self, place: memoryview) -> int:
        """See `Port.read_into`."""
        return os.readv(self._fd, (place,))

    def write(self, data: bytes | bytearray) -> int:
        """See `Port.write`."""
        return os.write(self._fd, data)

    def is_closed(self, contact: Contact) -> bool:
        """See `Port.is_closed`."""
        fcntl.ioctl(self._fd, termios.TIOCMGET, self._modem, True)
        return bool(int.from_bytes(self._modem, sys.byteorder) & _BITS[contact])

    def close(self) -> None:
        """See `Port.close`."""
        self._serial.close()

    def hurry(self) -> str:
        """See `Port.hurry`."""
        try:
            self._serial.set_low_latency_mode(True)
        except (OSError, ValueError, NotImplementedError) as error:
            return f"its adapter cannot be told to hurry ({error}); that is nothing with a UART, and adapter_ms with a USB one"
        return "its adapter hands on each byte"
