"""A serial device of this machine as an asyncio transport: opened for one owner alone, read and written by the loop."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import termios
from contextlib import suppress

import serial

from supernoded.errors import WireError
from supernoded.wire.line_address import LineAddress

CHUNK = 4096  # bytes at a time; the kernel's own buffer of a terminal
BACKLOG = 65536  # bytes that wait to be written, above which the device is taken for hung (ours; a request has 256)

WORDS = {
    errno.ENOENT: "no such device; is the adapter plugged in, and is the path right? /dev/serial/by-id names stay the same",
    errno.ENODEV: "the device is gone; is the adapter plugged in?",
    errno.ENXIO: "the device is gone; is the adapter plugged in?",
    errno.EACCES: "not permitted; put the daemon's user into the group of the device, most often dialout",
    errno.EPERM: "not permitted; put the daemon's user into the group of the device, most often dialout",
    errno.EBUSY: "somebody else has it open, and a line has one owner; fuser -v shows who, stop him",
    errno.EWOULDBLOCK: "somebody else has it open, and a line has one owner; fuser -v shows who, stop him",
    errno.ENOTTY: "no serial device",
    errno.EIO: "the device does not answer its driver; is it unplugged?",
}


class SerialDial:
    """Opens a device, in a thread since a hung adapter holds whoever opens it: that one thread, never a second one."""

    def __init__(self, address: LineAddress) -> None:
        self._address = address
        self._opening: asyncio.Future[serial.Serial] | None = None

    async def __call__(self, protocol: asyncio.Protocol) -> SerialTransport:
        """Bring the protocol onto the line. Raises WireError in plain words."""
        if self._opening is not None:
            raise WireError("its driver hangs since it was opened last; unplug the adapter, and plug it in again")
        loop = asyncio.get_running_loop()
        self._opening = loop.run_in_executor(None, open_serial, self._address)
        try:
            device = await asyncio.shield(self._opening)
        except asyncio.CancelledError:
            self._opening.add_done_callback(self._close_late)
            raise
        except WireError:
            self._opening = None
            raise
        self._opening = None
        return SerialTransport(loop, device, protocol)

    def _close_late(self, opening: asyncio.Future[serial.Serial]) -> None:
        """Nobody waits for it any more."""
        self._opening = None
        if not opening.cancelled() and opening.exception() is None:
            _close(opening.result())


def open_serial(address: LineAddress) -> serial.Serial:
    """The open device, locked against others by flock and TIOCEXCL. Raises WireError."""
    try:
        device = serial.Serial(
            address.place, address.baud, parity=address.parity, stopbits=address.stop, timeout=0, write_timeout=0, exclusive=True
        )
    except (OSError, ValueError, termios.error) as error:  # an adapter that goes away while it is being set up
        raise WireError(_say_why(error)) from error
    try:
        fcntl.ioctl(device.fileno(), termios.TIOCEXCL)
    except OSError as error:
        device.close()
        raise WireError(_say_why(error)) from error
    return device


def _say_why(error: OSError | ValueError | termios.error) -> str:
    number = error.errno if isinstance(error, OSError) else error.args[0] if isinstance(error, termios.error) else None
    return WORDS.get(number or 0) or (os.strerror(number) if number else f"cannot be used as a serial line: {error}")


def _close(device: serial.Serial) -> None:
    with suppress(OSError, termios.error):  # it may be gone, and is closed all the same
        termios.tcflush(device.fileno(), termios.TCIOFLUSH)  # else the kernel waits until all is out, up to 30 s
        fcntl.ioctl(device.fileno(), termios.TIOCNXCL)  # it would outlive us where somebody holds the other end's descriptor
    device.close()


class SerialTransport(asyncio.Transport):
    """Hands on what is read, writes what the device takes; the first error of the device ends it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, device: serial.Serial, protocol: asyncio.Protocol) -> None:
        super().__init__({"serial": device.name})
        self._loop, self._device, self._protocol = loop, device, protocol
        self._fd: int = device.fileno()
        self._waiting = bytearray()
        self._closing = False
        loop.add_reader(self._fd, self._read)
        protocol.connection_made(self)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Write at once what the device takes, and the rest when it takes more."""
        if self._closing:
            return
        self._waiting += data
        self._flush()
        if len(self._waiting) > BACKLOG:
            self._end(OSError(errno.EIO, os.strerror(errno.EIO)))

    def is_closing(self) -> bool:
        """Whether it is closed."""
        return self._closing

    def abort(self) -> None:
        """Close it; what was not written is lost."""
        self._end(None)

    def close(self) -> None:
        """The same: nobody waits for a device that may hang."""
        self._end(None)

    def _flush(self) -> None:
        try:
            del self._waiting[: os.write(self._fd, self._waiting)]
        except BlockingIOError:
            pass
        except OSError as error:
            self._end(error)
            return
        if self._waiting:
            self._loop.add_writer(self._fd, self._flush)
        else:
            self._loop.remove_writer(self._fd)

    def _read(self) -> None:
        try:
            data = os.read(self._fd, CHUNK)
        except BlockingIOError:
            return
        except OSError as error:
            self._end(error)
            return
        if data:
            self._protocol.data_received(data)
        else:
            self._end(OSError(errno.ENODEV, os.strerror(errno.ENODEV)))  # a terminal that was hung up reads as empty

    def _end(self, error: OSError | None) -> None:
        if self._closing:
            return
        self._closing = True
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)
        _close(self._device)
        self._loop.call_soon(self._protocol.connection_lost, None if error is None else WireError(_say_why(error)))
