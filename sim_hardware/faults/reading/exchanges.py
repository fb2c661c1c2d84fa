"""One request and its answer over Modbus, on TCP or on a line."""

from __future__ import annotations

import asyncio

from sim_hardware.bus import Line
from sim_hardware.bus.rtu import decode_frame, encode_frame
from sim_hardware.devices.modbus import SerialDevice, TcpDevice
from sim_hardware.devices.modbus.mbap import MbapError, Stream, TcpAdu, encode_tcp
from sim_hardware.faults.reading.problems import LIMIT, GarbledError, NoAnswerError, ReadingError, connected
from sim_hardware.rig import Rig

_QUIET_S = 0.02  # of silence before we speak, so that nobody else's exchange is spoilt (ours)
_ECHOED = (5, 6)  # function codes: write one coil, one register
_PATIENCE = 10  # times that we wait for such a silence


async def exchange(rig: Rig, device: str, request: bytes) -> bytes:
    """The PDU that answers a PDU. Raises ReadingError."""
    found = rig.devices.get(device)
    if isinstance(found, TcpDevice):
        return await _exchange_tcp(rig, found, request)
    if isinstance(found, SerialDevice):
        return await _exchange_serial(found, request)
    raise ReadingError(f"{device}: does not speak Modbus")


async def _exchange_tcp(rig: Rig, device: TcpDevice, request: bytes) -> bytes:
    stream = Stream()
    async with connected(rig, device.name) as (reader, writer):
        writer.write(encode_tcp(TcpAdu(1, device.number, request)))
        while True:
            data = await reader.read(300)
            if not data:
                raise EOFError
            try:
                frames = stream.feed(data)
            except MbapError as error:
                raise GarbledError(f"{device.name}: {error}") from error
            for frame in frames:
                return frame.pdu


async def _exchange_serial(device: SerialDevice, request: bytes) -> bytes:
    frame = encode_frame(device.number, request)
    echo = b"" if request[0] in _ECHOED else frame  # the answer to these is the request, so that an echo cannot be told from it
    heard = Ear()
    port = await listen(device.line, heard)
    try:
        port.write(frame)
        async with asyncio.timeout(LIMIT):
            while True:
                answer = decode_frame(heard.data.removeprefix(echo))
                if answer is not None and answer.unit == device.number:
                    return answer.pdu
                await heard.wait()
    except TimeoutError as error:
        if heard.data.removeprefix(echo):
            raise GarbledError(f"{device.name}: {heard.data.hex()} is no answer") from error
        raise NoAnswerError(f"{device.name}: no answer within {LIMIT:g} s") from error
    finally:
        port.close()


class Ear(asyncio.Protocol):
    """Hears what passes, and when."""

    def __init__(self) -> None:
        self.chunks: list[tuple[float, bytes]] = []
        self._news = asyncio.Event()

    @property
    def data(self) -> bytes:
        """All that was heard."""
        return b"".join(data for _, data in self.chunks)

    def data_received(self, data: bytes) -> None:
        """Called by the port."""
        self.chunks.append((asyncio.get_running_loop().time(), data))
        self._news.set()

    async def wait(self) -> None:
        """Until something more is heard."""
        self._news.clear()
        await self._news.wait()


async def listen(line: Line, ear: Ear) -> asyncio.WriteTransport:
    """Open a line, once it has been silent for a moment or does not come to rest."""
    for _ in range(_PATIENCE):
        pieces = line.record.pieces
        if not pieces or pieces[-1].end < asyncio.get_running_loop().time() - _QUIET_S:
            break
        await asyncio.sleep(_QUIET_S)
    return line.connect(ear)
