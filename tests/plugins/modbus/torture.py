"""A line with two units and every fault that it can have: what is read must be right or nothing, what is called written must be so.

Used by tests/plugins, tests/protocol and tests/long, in virtual time and on real device paths.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sim_hardware.bus import Line as Bus
from sim_hardware.bus import LineFaults, Reply
from sim_hardware.devices.modbus.requests import BitTable, Code, RefusalError, WordTable, respond
from supernoded.plugin import Clock, Line, WireError
from supernoded_modbus.bus import Bus as Owner
from supernoded_modbus.bus import Pace, RefusedError
from supernoded_modbus.maps import RegisterMap, read_map
from supernoded_modbus.member import Member
from supernoded_modbus.places import lay_out, make_blocks
from supernoded_modbus.unit import Key, Unit

UNITS = (1, 2)
SCOPE = "feed/A"
ANSWER_S, LATEST_S = 0.06, 0.25  # of these units
COUNTS = 12  # registers, each alone, so that all answers to them are of one shape
SIZE = 900  # registers of a unit; it refuses to be asked for more
MISSING = "x"
ROWS = "\n".join(
    [
        *(f'{{name = "r{place}", address = {10 * place}, quantity = "x.t.r{place}"}},' for place in range(COUNTS)),
        *(f'{{name = "d{place}", address = {500 + 10 * place}, kind = "u32", quantity = "x.t.d{place}"}},' for place in range(4)),
        f'{{name = "{MISSING}", address = {SIZE + 10}, quantity = "x.t.x"}},',
        '{name = "w", address = 800, high = 60000, writable = true},',
        '{name = "c", address = 5, table = "coil", kind = "bits", words = {off = 0, on = 1}, writable = true},',
    ]
)
MAP = f'text = "torture"\nanswer_s = {ANSWER_S}\nlatest_s = {LATEST_S}\nrows = [\n{ROWS}\n]\n'


def make_map() -> RegisterMap:
    return read_map(MAP.encode(), "torture")


def expect_word(unit: int, address: int) -> int:
    """What stands in a register: no two of a site are alike."""
    return (unit * 7919 + address * 31 + 17) % 60000


class Memory(Protocol):
    """What a unit really holds."""

    unit: int

    async def see_words(self, address: int, count: int) -> Sequence[int]: ...

    async def see_coil(self, address: int) -> bool: ...


class Served(Memory, Protocol):
    """A unit that answers, whoever serves it."""

    def answer(self, unit: int, pdu: bytes) -> Reply | None: ...


@dataclass
class Bank:
    """One unit's memory; see `sim_hardware.devices.modbus.requests.Bank`."""

    unit: int
    words: dict[int, int] = field(default_factory=dict)
    coils: dict[int, bool] = field(default_factory=dict)

    def read_bits(self, table: BitTable, address: int, count: int) -> list[bool]:
        return [self.coils.get(place, False) for place in range(address, address + count)]

    def read_words(self, table: WordTable, address: int, count: int) -> list[int]:
        if address >= SIZE:
            raise RefusalError(Code.ADDRESS)
        return [self.words.get(place, expect_word(self.unit, place)) for place in range(address, address + count)]

    def write_bits(self, address: int, bits: Sequence[bool]) -> None:
        self.coils |= {address + place: bit for place, bit in enumerate(bits)}

    def write_words(self, address: int, words: Sequence[int]) -> None:
        self.words |= {address + place: word for place, word in enumerate(words)}

    def identify(self) -> dict[int, bytes]:
        return {}

    async def see_words(self, address: int, count: int) -> Sequence[int]:
        return self.read_words("holding", address, count)

    async def see_coil(self, address: int) -> bool:
        return self.coils.get(address, False)

    def answer(self, unit: int, pdu: bytes) -> Reply | None:
        answer = respond(self, pdu)
        return None if answer is None or not unit else Reply(answer)


def make_units(line: Line, baud: int, clock: Clock) -> tuple[Owner, list[Unit]]:
    owner, register_map, units = Owner(line, Pace(baud), clock), make_map(), list[Unit]()
    for number in UNITS:
        member = Member(number, f"pdu/{number}", register_map)
        owner.join(member)
        units.append(Unit(member, register_map, lay_out(register_map, f"pdu/{number}"), owner, clock))
    return owner, units


def list_faults() -> Iterator[LineFaults]:
    """Each fault by itself, then pairs of those that a poor line has together. Answers are never later than the units say."""
    yield LineFaults()
    yield LineFaults(drop_bytes=0.02)
    yield LineFaults(drop_frames=0.3)
    yield LineFaults(flip=0.02)
    yield LineFaults(split_s=0.01)
    yield LineFaults(duplicate=0.6)
    yield LineFaults(late_s=0.1, late_share=0.4)
    yield LineFaults(late_s=0.2, late_share=0.7)
    yield LineFaults(usb_ms=16.0)
    yield LineFaults(no_crc=1.0)
    yield LineFaults(silent=frozenset({1}))
    yield LineFaults(wrong_unit=frozenset({1}))
    yield LineFaults(wrong_unit=frozenset({1, 2}), late_s=0.1, late_share=0.5)
    yield LineFaults(twins=frozenset({2}))
    yield LineFaults(stuck="held")
    yield LineFaults(stuck="babble")
    yield LineFaults(echo=True)
    yield LineFaults(duplicate=0.5, drop_bytes=0.01, flip=0.005)
    yield LineFaults(late_s=0.15, late_share=0.5, duplicate=0.5, drop_frames=0.1)
    yield LineFaults(split_s=0.01, usb_ms=16.0, flip=0.01)


@dataclass
class Toll:
    """What came of it."""

    right: int = 0
    wrong: list[str] = field(default_factory=list)
    refused: int = 0
    failed: int = 0
    written: int = 0
    unwritten: int = 0
    kinds: Counter[str] = field(default_factory=Counter)


class Torture:
    """Asks and writes at random, and compares with what the units really hold."""

    def __init__(self, units: Sequence[Unit], banks: Sequence[Memory], seed: int) -> None:
        self.units, self.banks = units, banks
        self.toll = Toll()
        self._dice = random.Random(seed)

    async def turn(self) -> None:
        """One read or write."""
        place, chance = self._dice.randrange(len(self.units)), self._dice.random()
        unit, bank = self.units[place], self.banks[place]
        if chance < 0.15:
            await self._write(unit, bank)
        elif chance < 0.2:
            await self._miss(unit, bank)
        else:
            await self._read(unit, bank)

    async def _miss(self, unit: Unit, bank: Memory) -> None:
        """Ask for a register that is not there."""
        (block,) = make_blocks([unit.places[MISSING, -1]], unit.map)
        try:
            values = await unit.read_block(block, urgent=True)
        except RefusedError as error:
            self.toll.refused += 1
            self.toll.wrong += [] if error.code == Code.ADDRESS else [f"unit {bank.unit} has no such register, and {error}"]
        except WireError:
            self.toll.failed += 1
        else:
            self.toll.wrong.append(f"unit {bank.unit} has no such register, and it is read as {values}")

    async def _read(self, unit: Unit, bank: Memory) -> None:
        keys: list[Key] = [(self._dice.choice([f"r{self._dice.randrange(COUNTS)}", f"d{self._dice.randrange(4)}"]), -1)]
        for block in make_blocks([unit.places[key] for key in keys], unit.map):
            try:
                values = await unit.read_block(block, urgent=True)
            except WireError:
                self.toll.failed += 1
                continue
            words = await bank.see_words(block.address, block.size)
            due = float(words[0] if block.size == 1 else words[0] << 16 | words[1])
            told = values[keys[0]].value
            self.toll.right += told == due
            self.toll.wrong += [] if told == due else [f"{keys[0]} of unit {bank.unit} is {due}, read as {told}"]

    async def _write(self, unit: Unit, bank: Memory) -> None:
        coil = self._dice.random() < 0.5
        value: float | str = self._dice.choice(["on", "off"]) if coil else float(self._dice.randrange(60000))
        try:
            await unit.write(SCOPE, ("c" if coil else "w", -1), value)
        except WireError:
            self.toll.unwritten += 1
            return
        done = (await bank.see_coil(5) is (value == "on")) if coil else (await bank.see_words(800, 1))[0] == value
        self.toll.written += done
        self.toll.wrong += [] if done else [f"unit {bank.unit} was called written with {value}, and is not"]


async def torment(
    bus: Bus,
    line: Line,
    clock: Clock,
    exchanges: int,
    seed: int,
    *,
    turns: int = 40,
    faults: Callable[[], Iterator[LineFaults]] = list_faults,
    served: Sequence[Served] = (),
) -> Toll:
    """So many exchanges with two units, ours where no others are `served`, the faults changing every few turns."""
    banks: Sequence[Served] = served or [Bank(number) for number in UNITS]
    for bank in banks:
        bus.attach(bank.unit, bank.answer)
    owner, units = make_units(line, bus.pace.baud, clock)
    torture = Torture(units, banks, seed)
    while owner.counts["exchanges"] < exchanges:
        for fault in faults():
            bus.faults = fault
            for _ in range(min(turns, turns if fault.stuck == "" else 4)):
                await torture.turn()
    bus.faults = LineFaults()
    torture.toll.kinds = owner.counts
    return torture.toll
