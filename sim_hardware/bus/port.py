"""A master's end of a line, as an asyncio transport."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from contextvars import copy_context
from typing import Protocol, TypeVar

from sim_hardware.bus.faults import LineFaults
from sim_hardware.bus.record import Record

T = TypeVar("T")

_PACKET = 62  # bytes of payload in a packet of FTDI's adapters: a full one does not wait for the latency timer


class Medium(Protocol):
    """The line, as a port sees it."""

    record: Record

    @property
    def faults(self) -> LineFaults:
        """What is wrong with it."""
        ...

    def say(self, talker: str, data: bytes) -> float:
        """Say bytes; see `Wire.say`."""
        ...

    def forget(self, port: LinePort) -> None:
        """The port is closed."""
        ...


class LinePort(asyncio.Transport):
    """Says what is written, hands on what is heard. What a killed process has written is still said; nothing is handed on to it."""

    def __init__(self, line: Medium, name: str, protocol: asyncio.BaseProtocol) -> None:
        super().__init__({"serial": name})
        self.name = name
        self._line, self._protocol, self._context = line, protocol, copy_context()
        self._loop = asyncio.get_running_loop()
        self._closing = self._paused = False
        self._held = bytearray()  # in the adapter, or unread
        self._flush: asyncio.TimerHandle | None = None

    # asyncio's transport

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Say bytes, behind those that are not out yet."""
        if not self._closing and data:
            self._line.say(self.name, bytes(data))

    def can_write_eof(self) -> bool:
        """No: a line has no end."""
        return False

    def is_closing(self) -> bool:
        """Whether it is closed."""
        return self._closing

    def close(self) -> None:
        """Close this end; what was written is still said."""
        if not self._closing:
            self._closing = True
            self._line.forget(self)
            self._call(self._protocol.connection_lost, None)

    def abort(self) -> None:
        """The same: a line knows no reset."""
        self.close()

    def get_protocol(self) -> asyncio.BaseProtocol:
        """The protocol."""
        return self._protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        """Change the protocol."""
        self._protocol = protocol

    def is_reading(self) -> bool:
        """Whether what is heard is handed on."""
        return not self._paused and not self._closing

    def pause_reading(self) -> None:
        """Let what is heard wait."""
        self._paused = True

    def resume_reading(self) -> None:
        """Hand on what has waited, and what comes."""
        self._paused = False
        self._release()

    # what the line does to it

    def hear(self, data: bytes) -> None:
        """Bytes have passed on the line."""
        self._held += data
        period = self._line.faults.usb_ms / 1000.0
        if not period or len(self._held) >= _PACKET:
            self._release()
        elif self._flush is None:
            turn = (math.floor(self._loop.time() / period) + 1) * period  # the adapter's timer runs free
            self._flush = self._loop.call_at(turn, self._release_burst)

    def _release_burst(self) -> None:
        self._line.record.counts["bursts.usb"] += 1
        self._release()

    def _release(self) -> None:
        if self._flush is not None:
            self._flush.cancel()
            self._flush = None
        if self._held and not self._paused and not self._closing:
            data = bytes(self._held)
            self._held.clear()
            self._call(self._take, data)

    def _take(self, data: bytes) -> None:
        if isinstance(self._protocol, asyncio.Protocol) and not self._closing:
            self._protocol.data_received(data)

    def _call(self, call: Callable[[T], object], argument: T) -> None:
        self._loop.call_soon(call, argument, context=self._context)
