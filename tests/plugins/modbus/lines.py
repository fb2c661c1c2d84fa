"""A line in memory with one unit on it, for tests of what is said on it."""

from __future__ import annotations

from collections.abc import Callable

from sim_hardware.bus.rtu import decode_frame, encode_frame
from supernoded.plugin import Clock, WireError
from supernoded.testing import MemoryWires
from supernoded.testing.memory_lines import MemoryLine
from supernoded_modbus.bus import Bus, Pace
from supernoded_modbus.maps import RegisterMap
from supernoded_modbus.member import Member
from supernoded_modbus.places import lay_out
from supernoded_modbus.unit import Unit
from tests.plugins.modbus.torture import Bank

URL = "serial:///dev/test?baud=115200"
SCOPE = "feed/A"
Spoil = Callable[[int, bytes], bytes | None]  # unit, PDU -> what it says instead; None = what it would say


class Played:
    """Banks behind a memory line. `spoil` may answer in their place, b"" for silence; `asked` is every PDU, with its unit."""

    def __init__(self, wires: MemoryWires, numbers: tuple[int, ...] = (1,)) -> None:
        self.line: MemoryLine = wires.line(URL)
        self.line.answer = self._answer
        self.banks = {number: Bank(number) for number in numbers}
        self.spoil: Spoil = lambda unit, pdu: None
        self.asked: list[tuple[int, bytes]] = []

    def _answer(self, request: bytes) -> bytes | WireError:
        adu = decode_frame(request)
        assert adu is not None, request.hex()
        self.asked.append((adu.unit, adu.pdu))
        said = self.spoil(adu.unit, adu.pdu)
        if said is not None:
            return encode_frame(adu.unit, said) if said else b""
        if not adu.unit:
            for bank in self.banks.values():
                bank.answer(0, adu.pdu)
            return b""
        reply = self.banks[adu.unit].answer(adu.unit, adu.pdu) if adu.unit in self.banks else None
        return encode_frame(adu.unit, reply.pdu) if reply is not None else b""


def make_unit(bus: Bus, register_map: RegisterMap, clock: Clock, number: int = 1, serial: str = "", subject: str = "") -> Unit:
    member = Member(number, subject or f"pdu/{number}", register_map)
    bus.join(member)
    return Unit(member, register_map, lay_out(register_map, member.subject, (1, 2)), bus, clock, serial)


def make_bus(played: Played, clock: Clock) -> Bus:
    return Bus(played.line, Pace(115200), clock)
