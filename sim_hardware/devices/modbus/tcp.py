"""A unit over Modbus TCP: several clients, any number of requests on their way, each answered under its own transaction id."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sim_hardware.bus.dice import Dice
from sim_hardware.devices.modbus.mbap import MbapError, Stream, TcpAdu, encode_tcp
from sim_hardware.devices.modbus.requests import Code
from sim_hardware.devices.modbus.unit import Unit
from sim_hardware.devices.panel import Impairment

_HEAD = 7  # bytes before the PDU
_MOST = 64  # answers of a client that wait, above which no more is read; ours
_ANY = frozenset({0, 255})  # unit ids that mean the device itself (Modbus Messaging on TCP/IP V1.0b, unit identifier)


class TcpDevice:
    """See `sim_hardware.devices.panel.Device`. A silent one neither answers nor acts."""

    def __init__(self, name: str, map_name: str, unit: Unit, number: int = 1, seed: int = 0) -> None:
        self._name, self.map_name, self.unit, self.number = name, map_name, unit, number
        self.dice = Dice(seed, f"modbus/{name}")
        self.clients: list[asyncio.Transport] = []

    @property
    def name(self) -> str:
        """Its key among the endpoints."""
        return self._name

    @property
    def impairment(self) -> Impairment:
        """How its answering is impaired."""
        return self.unit.impairment

    @asynccontextmanager
    async def serve(self, host: str, port: int = 0) -> AsyncIterator[str]:
        """Listen, and give the URL; port 0 takes a free one. Raises OSError."""
        server = await asyncio.get_running_loop().create_server(lambda: _Connection(self), host, port)
        try:
            address = server.sockets[0].getsockname()
            yield f"modbus://{address[0]}:{address[1]}?map={self.map_name}"
        finally:
            server.close()
            for client in tuple(self.clients):
                client.abort()

    def answer(self, request: TcpAdu) -> bytes | None:
        """The frame that answers a request; None when there is none. Another unit's requests are answered as by a gateway without it."""
        if self.impairment.silent:
            return None
        if request.unit != self.number and request.unit not in _ANY:
            pdu: bytes | None = bytes((request.pdu[0] | 0x80, Code.NO_TARGET))
        else:
            pdu = self.unit.answer(self.number, request.pdu)
        if pdu is None:
            return None
        frame = encode_tcp(request._replace(pdu=pdu))
        return self.dice.garble(frame, _HEAD) if self.dice.hits(self.impairment.garbled) else frame


class _Connection(asyncio.Protocol):
    """One client. Bytes that are no Modbus TCP end it, since no next frame can be found behind them."""

    def __init__(self, device: TcpDevice) -> None:
        self._device, self._stream = device, Stream()
        self._last = 0.0  # when the newest answer goes out: none overtakes another
        self._waiting = 0  # answers
        self._full = False  # the client takes no answers

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport
            self._device.clients.append(transport)
            if self._device.impairment.refusing:
                transport.abort()

    def data_received(self, data: bytes) -> None:
        try:
            requests = self._stream.feed(data)
        except MbapError:
            self._transport.close()
            return
        for request in requests:
            self._reply(self._device.answer(request))

    def _reply(self, frame: bytes | None) -> None:
        if frame is None or self._transport.is_closing():
            return
        loop = asyncio.get_running_loop()
        self._last = max(self._last, loop.time() + self._device.impairment.delay_s)
        if self._last <= loop.time():
            self._transport.write(frame)
        else:
            self._waiting += 1
            loop.call_at(self._last, self._send, frame)
        self._read_on()

    def _send(self, frame: bytes) -> None:
        self._waiting -= 1
        if not self._transport.is_closing():
            self._transport.write(frame)
            self._read_on()

    def _read_on(self) -> None:
        """Take further requests, or none for the present."""
        (self._transport.pause_reading if self._full or self._waiting >= _MOST else self._transport.resume_reading)()

    def pause_writing(self) -> None:
        """The client takes no answers."""
        self._full = True
        self._read_on()

    def resume_writing(self) -> None:
        """It takes them again."""
        self._full = False
        self._read_on()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._device.clients.remove(self._transport)
