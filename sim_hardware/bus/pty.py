"""A line on the bench: a pseudo-terminal that a real client opens by its path. It has no speed of its own; the line paces the bytes."""

from __future__ import annotations

import asyncio
import fcntl
import os
import termios
import tty
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from sim_hardware.bus.line import Line
from sim_hardware.bus.port import LinePort

_CHUNK = 4096  # bytes at a time
_TEND_S = 0.5  # s from one look for dead clients to the next; ours


class _Terminal(asyncio.Protocol):
    """The master side of the pair. A client that set another speed than the line's hears and says garbage, as on a real line."""

    def __init__(self, fd: int, line: Line) -> None:
        self._fd, self._line = fd, line
        self._speed = _find_speed(line.pace.baud)

    def data_received(self, data: bytes) -> None:
        try:
            sent = os.write(self._fd, self._twist(data))
        except BlockingIOError:
            sent = 0
        self._line.record.counts["overruns"] += len(data) - sent  # nobody reads: the UART's bytes are lost

    def read(self, port: LinePort) -> None:
        """The client has written."""
        try:
            data = os.read(self._fd, _CHUNK)
        except BlockingIOError:
            return
        port.write(self._twist(data))

    def _twist(self, data: bytes) -> bytes:
        """What the other side makes of bytes at a wrong speed; any garbage does."""
        speed: int = termios.tcgetattr(self._fd)[5]
        return data if self._speed in (None, speed) else bytes(byte ^ 0xA5 for byte in data)


def _find_speed(baud: int) -> int | None:
    """The terminal's word for a speed; None for one that has none, which is not checked."""
    speed: int | None = getattr(termios, f"B{baud}", None)
    return speed


@contextmanager
def _open_pair(line: Line) -> Iterator[tuple[int, int]]:
    """A raw pair, set to the line's speed. This side keeps the client's end open too, else its first close would end the pair."""
    ours, theirs = os.openpty()
    try:
        tty.setraw(theirs)
        settings, speed = termios.tcgetattr(theirs), _find_speed(line.pace.baud)
        if speed is not None:
            settings[4] = settings[5] = speed
            termios.tcsetattr(theirs, termios.TCSANOW, settings)
        os.set_blocking(ours, False)
        yield ours, theirs
    finally:
        os.close(ours)
        os.close(theirs)


async def _free_from_the_dead(theirs: int) -> None:
    """Do what a kernel does at the last close: we keep the client's end open, so the TIOCEXCL of one that was killed would last."""
    while True:
        await asyncio.sleep(_TEND_S)
        with suppress(BlockingIOError):  # a client lives, and has its lock
            fcntl.flock(theirs, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.ioctl(theirs, termios.TIOCNXCL)
            fcntl.flock(theirs, fcntl.LOCK_UN)


@contextmanager
def _place_link(link: Path, device: str) -> Iterator[None]:
    """A link that is ours is replaced, anything else is not."""
    if link.is_symlink():
        link.unlink()
    link.symlink_to(device)
    try:
        yield
    finally:
        link.unlink(missing_ok=True)


@asynccontextmanager
async def serve_pty(line: Line, link: Path) -> AsyncIterator[str]:
    """Give the line a device path, by a symbolic link at `link`; what a run that died has left there is replaced.

    Raises FileExistsError when something else than a link is there, and OSError as the system does.
    """
    with _open_pair(line) as (fd, theirs), _place_link(link, os.ttyname(theirs)):
        terminal = _Terminal(fd, line)
        port = line.connect(terminal)
        loop = asyncio.get_running_loop()
        loop.add_reader(fd, terminal.read, port)
        tending = loop.create_task(_free_from_the_dead(theirs))
        try:
            yield str(link)
        finally:
            tending.cancel()
            loop.remove_reader(fd)
            port.close()
