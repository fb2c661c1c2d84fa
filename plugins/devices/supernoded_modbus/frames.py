"""Requests as frames, and where in what came the answer stands.

Serial frames are told by unit, function, length and CRC, those of Modbus TCP by their transaction id (safety rule 22).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pymodbus.framer import FramerRTU, FramerSocket
from pymodbus.pdu import DecodePDU, ModbusPDU
from pymodbus.pdu.bit_message import ReadCoilsRequest, ReadDiscreteInputsRequest, WriteSingleCoilRequest
from pymodbus.pdu.register_message import ReadHoldingRegistersRequest, ReadInputRegistersRequest, WriteMultipleRegistersRequest

from supernoded.plugin import WireError
from supernoded_modbus.maps import Table

MOST = 256  # bytes of a serial frame (Modbus over Serial Line V1.02, 2.3)
BROADCAST = 0
ALONE = (0, 255)  # numbers of a device that is no gateway (Modbus Messaging on TCP/IP V1.0b, 4.4.2); what it calls itself is its own
_EXCEPTION = 0x80  # bit of a function code
_HEAD = struct.Struct(">HHHB")  # of Modbus TCP: transaction, protocol 0, length, unit
_READS: dict[Table, type[ModbusPDU]] = {
    "holding": ReadHoldingRegistersRequest,
    "input": ReadInputRegistersRequest,
    "coil": ReadCoilsRequest,
    "discrete": ReadDiscreteInputsRequest,
}


class FrameError(WireError):
    """What came is no answer. `kind` is what it counts as."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Question(NamedTuple):
    """A request as a PDU, and what its answer must look like."""

    pdu: bytes
    begins: bytes  # the answer's PDU begins so ...
    length: int  # ... and is so long
    reads: bool


def ask_for(table: Table, address: int, count: int) -> Question:
    """A read of registers or bits."""
    pdu = _encode(_READS[table](address=address, count=count))
    size = 2 * count if table in ("holding", "input") else (count + 7) // 8
    return Question(pdu, bytes((pdu[0], size)), 2 + size, reads=True)


def tell_registers(address: int, words: Sequence[int]) -> Question:
    """A write of registers, in one request."""
    pdu = _encode(WriteMultipleRegistersRequest(address=address, registers=list(words)))
    return Question(pdu, pdu[:5], 5, reads=False)


def tell_coil(address: int, *, on: bool) -> Question:
    """A write of one coil."""
    pdu = _encode(WriteSingleCoilRequest(address=address, bits=[on]))
    return Question(pdu, pdu, 5, reads=False)


def _encode(request: ModbusPDU) -> bytes:
    return bytes((request.function_code,)) + request.encode()


class Finder(Protocol):
    """Finds one answer in what has come, and remembers what it has seen; see `supernoded.plugin.Find`."""

    @property
    def frame(self) -> bytes:
        """The request as it is sent."""
        ...

    @property
    def saw(self) -> bytes:
        """What had come when it was asked last."""
        ...

    def __call__(self, came: bytes) -> slice | None:
        """Where the answer stands; None = more must come. Raises FrameError for what can be no answer."""
        ...

    def cut(self, frame: bytes) -> bytes:
        """The PDU of an answer that was found."""
        ...

    def name_fault(self) -> str:
        """What the silence was that no answer was found in: `timeouts`, `crc_errors` or `strays`."""
        ...


class RtuFinder:
    """See `Finder`. Noise before a frame is passed over: whatever fits unit, function, length and CRC is the answer."""

    def __init__(self, unit: int, question: Question) -> None:
        self.frame: bytes = FramerRTU(DecodePDU(is_server=False)).encode(question.pdu, unit, 0)
        self.saw = b""
        self._unit, self._question = unit, question
        self._begins = bytes((unit,)) + question.begins
        self._refuses = bytes((unit, question.pdu[0] | _EXCEPTION))

    def __call__(self, came: bytes) -> slice | None:
        """See `Finder`."""
        self.saw = came
        if self._question.reads and came.startswith(self.frame):
            raise FrameError("echo_errors", "the line echoes what is sent: write echo=yes in its URL, or switch the adapter's echo off")
        for begin in range(len(came) - 4):
            end = begin + self._measure(came, begin)
            if begin < end <= len(came) and FramerRTU.check_CRC(came[begin : end - 2], int.from_bytes(came[end - 2 : end], "big")):
                return slice(begin, end)
        if len(came) > MOST + len(self.frame):
            raise FrameError("strays", f"{len(came)} bytes and no answer in them; a driver on the line does not let go")
        return None

    def _measure(self, came: bytes, begin: int) -> int:
        """Bytes of the frame that could begin here; 0 = none can."""
        if came.startswith(self._begins, begin):
            return self._question.length + 3
        return 5 if came.startswith(self._refuses, begin) else 0

    def cut(self, frame: bytes) -> bytes:
        """See `Finder`."""
        return frame[1:-2]

    def name_fault(self) -> str:
        """See `Finder`."""
        if not self.saw:
            return "timeouts"
        return "crc_errors" if self.saw[0] == self._unit else "strays"


class TcpFinder:
    """See `Finder`. Answers to other transactions are passed over; a gateway may put a late answer of another unit under ours."""

    def __init__(self, unit: int, question: Question, transaction: int) -> None:
        self.frame: bytes = FramerSocket(DecodePDU(is_server=False)).encode(question.pdu, unit, transaction)
        self.saw = b""
        self._unit, self._question, self._transaction = unit, question, transaction

    def __call__(self, came: bytes) -> slice | None:
        """See `Finder`."""
        self.saw, place = came, 0
        while len(came) - place >= _HEAD.size:
            transaction, protocol, length, unit = _HEAD.unpack_from(came, place)
            if protocol or not 3 <= length <= 254:
                raise FrameError("strays", f"no Modbus TCP: protocol {protocol}, length {length}")
            end = place + _HEAD.size - 1 + length
            if end > len(came):
                return None
            if transaction == self._transaction:
                self._check(unit, came[place + _HEAD.size : end])
                return slice(place, end)
            place = end
        return None

    def _check(self, unit: int, pdu: bytes) -> None:
        if unit != self._unit and self._unit not in ALONE:
            raise FrameError("strays", f"unit {self._unit} was asked, and transaction {self._transaction} is answered by unit {unit}")
        fits = pdu.startswith(self._question.begins) and len(pdu) == self._question.length
        if not fits and not (pdu[0] == self._question.pdu[0] | _EXCEPTION and len(pdu) == 2):
            raise FrameError("crc_errors", f"transaction {self._transaction} is answered by something else: {pdu[:8].hex(' ')}")

    def cut(self, frame: bytes) -> bytes:
        """See `Finder`."""
        return frame[_HEAD.size :]

    def name_fault(self) -> str:
        """See `Finder`."""
        return "strays" if self.saw else "timeouts"


def read_answer(pdu: bytes, count: int) -> list[int]:
    """The registers, or the bits as 0 and 1, of an answer that fits its question. Raises FrameError for one that pymodbus cannot read."""
    answer = DecodePDU(is_server=False).decode(pdu)
    if answer is None:
        raise FrameError("crc_errors", f"an answer that cannot be read: {pdu[:8].hex(' ')}")
    return [int(bit) for bit in answer.bits[:count]] if answer.bits else list(answer.registers[:count])
