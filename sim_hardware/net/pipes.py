"""The ends of simulated streams, as asyncio's protocols expect them."""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Iterable
from contextvars import Context
from enum import Enum
from typing import Any, Protocol

from sim_hardware.loop.process import Process
from sim_hardware.net.sockets import SimSocket, credentials

HIGH_WATER, LOW_WATER = 65536, 16384  # bytes; asyncio's own defaults


class Mark(Enum):
    """What travels in a stream beside bytes."""

    EOF = "eof"
    RESET = "reset"


class Carrier(Protocol):
    """The network, as an end sees it."""

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop."""
        ...

    def carry(self, source: Pipe, what: bytes | Mark) -> None:
        """Take something to the other end, in order."""
        ...

    def forget(self, end: Pipe) -> None:
        """The end is closed for good."""
        ...


class Pipe(asyncio.Transport):
    """One end of a stream. What arrives before a protocol is attached, or while reading is paused, waits."""

    other: Pipe
    protocol: asyncio.BaseProtocol
    _extra: dict[str, Any]

    def __init__(self, carrier: Carrier, number: int, process: Process, context: Context, host: str) -> None:
        super().__init__()
        self.carrier, self.number, self.process, self.context, self.host = carrier, number, process, context, host
        self.newest = 0.0  # when the last thing sent arrives: the next one must not overtake it
        self.lost = False  # no callback of the protocol any more
        self._closing = self._ended = self._paused_writing = False
        self._reading = False
        self._waiting: deque[bytes | Mark] = deque()
        self._unread = 0  # bytes sent that the other end has not taken
        self._high, self._low = HIGH_WATER, LOW_WATER

    def describe(self, family: socket.AddressFamily, sockname: Any, peername: Any) -> None:
        """Set what `get_extra_info` answers; the other end must be known."""
        peer = self.other.process if family == socket.AF_UNIX else None
        self._extra.update(sockname=sockname, peername=peername, socket=SimSocket(family, sockname, peername, peer))
        if peer is not None:
            self._extra["peercred"] = credentials(peer)

    def attach(self, protocol: asyncio.BaseProtocol) -> Pipe:
        """Hand the connection to its protocol."""
        self.protocol = protocol
        protocol.connection_made(self)
        self.resume_reading()
        return self

    # asyncio's transport: writing

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send bytes."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"data: expecting a bytes-like instance, got {type(data).__name__}")
        if self._ended and not self._closing:
            raise RuntimeError("Cannot call write() after write_eof()")
        if self._closing or not data:
            return
        self._unread += len(data)
        self.carrier.carry(self, bytes(data))
        if self._unread > self._high and not self._paused_writing:
            self._paused_writing = True
            self.protocol.pause_writing()

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        """Send all of them as one."""
        self.write(b"".join(list_of_data))

    def write_eof(self) -> None:
        """Send no more; what the other end sends still arrives."""
        if not self._ended and not self._closing:
            self._ended = True
            self.carrier.carry(self, Mark.EOF)

    def can_write_eof(self) -> bool:
        """Yes."""
        return True

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Set the marks of `pause_writing` and `resume_writing`, in bytes."""
        self._high = HIGH_WATER if high is None and low is None else (4 * (low or 0) if high is None else high)
        self._low = self._high // 4 if low is None else low

    def get_write_buffer_limits(self) -> tuple[int, int]:
        """Low and high mark, in bytes."""
        return self._low, self._high

    def get_write_buffer_size(self) -> int:
        """Bytes that the other end has not taken yet."""
        return self._unread

    # asyncio's transport: reading and closing

    def is_reading(self) -> bool:
        """Whether what arrives is handed on."""
        return self._reading and not self._closing

    def pause_reading(self) -> None:
        """Let what arrives wait."""
        self._reading = False

    def resume_reading(self) -> None:
        """Hand on what has waited, and what comes."""
        self._reading = True
        if self._waiting:
            self.carrier.loop.call_soon(self._take_waiting, context=self.context)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Change the protocol."""
        self.protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        """The protocol."""
        return self.protocol

    def is_closing(self) -> bool:
        """Whether it is closed, or about to be."""
        return self._closing

    def close(self) -> None:
        """Close this end; what was written still arrives."""
        if self._closing:
            return
        self.write_eof()
        self._closing = True
        self.carrier.loop.call_soon(self._lose, None, context=self.context)

    def abort(self) -> None:
        """Close this end with a reset."""
        if not self._closing:
            self.carrier.carry(self, Mark.RESET)
            self._closing = True
            self.carrier.loop.call_soon(self._lose, None, context=self.context)

    def vanish(self) -> None:
        """The process is gone, or never got as far as a protocol: nobody is told on this side."""
        self.lost = self._closing = True
        self._waiting.clear()
        self.carrier.forget(self)

    # what the network does to it

    def arrive(self, what: bytes | Mark) -> None:
        """Something has come from the other end."""
        if self.lost or self._closing:
            if isinstance(what, bytes):
                self.carrier.carry(self, Mark.RESET)  # as a kernel answers data for a closed socket
            return
        self._waiting.append(what)
        self._take_waiting()

    def _take_waiting(self) -> None:
        while self._waiting and self._reading and not self._closing:
            self._take(self._waiting.popleft())

    def _take(self, what: bytes | Mark) -> None:
        if isinstance(what, bytes):
            self.other.taken(len(what))
            assert_stream(self.protocol).data_received(what)
        elif what is Mark.RESET:
            self._lose(ConnectionResetError(f"the connection to {self.other.host} was reset"))
        elif not assert_stream(self.protocol).eof_received():
            self.close()

    def taken(self, amount: int) -> None:
        """The other end has taken so many bytes."""
        self._unread -= amount
        if self._paused_writing and self._unread <= self._low and not self.lost:
            self._paused_writing = False
            self.carrier.loop.call_soon(self._resume_writing, context=self.context)

    def _resume_writing(self) -> None:
        if not self.lost:
            self.protocol.resume_writing()

    def _lose(self, error: Exception | None) -> None:
        if not self.lost:
            self.vanish()
            self.protocol.connection_lost(error)


def assert_stream(protocol: asyncio.BaseProtocol) -> asyncio.Protocol:
    """The protocol, if streams can be handed to it. Raises TypeError for a BufferedProtocol, which is not simulated."""
    if isinstance(protocol, asyncio.BufferedProtocol):
        raise TypeError(f"{type(protocol).__name__} is a BufferedProtocol; the simulated network hands bytes to data_received alone")
    return protocol  # type: ignore[return-value]  # asyncio too goes by the method, not by the class
