"""One device under one map: it is read in blocks, proven before the first write, and every write is read back."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

from supernoded.plugin import Clock, NotHeldError, WireError
from supernoded_modbus.bus import ACCEPTED, Bus, RefusedError
from supernoded_modbus.doubts import distrust
from supernoded_modbus.frames import Question, ask_for, read_answer, tell_coil, tell_registers
from supernoded_modbus.maps import Probe, RegisterMap
from supernoded_modbus.member import Member
from supernoded_modbus.places import Block, Place, make_blocks
from supernoded_modbus.values import Told, find_step, tell, untell

Written = float | str | frozenset[str]
Key = tuple[str, int]  # name of a row, number of an outlet or pump (-1 = there is one alone)
ILLEGAL_ADDRESS = 2
DISABLED_AFTER = 2  # such answers in a row: a single one may be a stray
SETTLE_S = (0.0, 0.05, 0.25)  # seconds between two looks at what a write did; ours
IDENTITY = ("model", "serial")
ALARM = "alarm"  # the row of flags by which a device distrusts its own sensors
TINY = 1e-6  # of arithmetic
LOOK_AGAIN_S = 60.0  # at a device that is another one; ours


class Unit:
    """See above. `serial` is the declared one, empty where none is; then nothing is written."""

    def __init__(
        self, member: Member, register_map: RegisterMap, places: Sequence[Place], bus: Bus, clock: Clock, serial: str = ""
    ) -> None:
        self.member, self.map, self.bus, self.clock, self.serial = member, register_map, bus, clock, serial
        self.places: Mapping[Key, Place] = {place.key: place for place in places}
        self.subject = member.subject
        self._known_life = self._proven_life = -1
        self._judged_at = 0.0
        self._misses: Counter[tuple[str, int]] = Counter()  # blocks that it says it has not
        self._misses_life = 0
        self._written: dict[Key, float] = {}
        self._alarms = frozenset[str]()
        self._looking = asyncio.Lock()

    # reading

    async def read(self, keys: Iterable[Key], *, urgent: bool = False) -> Mapping[Key, Told]:
        """Values now. Raises WireError when one block cannot be read, and for a row that the map has not."""
        return self.doubt(await self._read_all(keys, urgent=urgent))

    async def _read_all(self, keys: Iterable[Key], *, urgent: bool) -> Mapping[Key, Told]:
        values: dict[Key, Told] = {}
        for block in make_blocks(self._find(keys), self.map):
            values |= await self.read_block(block, urgent=urgent)
        return values

    async def read_block(self, block: Block, *, urgent: bool = False) -> Mapping[Key, Told]:
        """What one read brings in. Raises WireError; RefusedError where the device has no such registers."""
        place = block.table, block.address
        self._forgive()
        if self._misses[place] >= DISABLED_AFTER and not urgent:
            raise RefusedError(f"{self.subject}: {block.table} {block.address} is not asked for any more", ILLEGAL_ADDRESS)
        try:
            answer = await self._ask_for(block, urgent=urgent)
        except RefusedError as error:
            if error.code == ILLEGAL_ADDRESS:
                self._misses[place] += 1
            raise
        self._misses.pop(place, None)
        words = read_answer(answer, block.size)
        if len(words) < block.size:
            raise WireError(f"{self.subject}: {len(words)} of {block.size} registers at {block.table} {block.address}")
        values = {one.key: tell(words[one.address - block.address :][: one.size], one.row) for one in block.places}
        if any((name, -1) in values for name in IDENTITY):
            self._judge({name: values[name, -1] for name in IDENTITY if (name, -1) in values})
        if (ALARM, -1) in values:
            self._alarms = values[ALARM, -1].names
        return values

    def doubt(self, values: Mapping[Key, Told]) -> Mapping[Key, Told]:
        """The same, without the values of sensors that the device itself does not trust, by its newest word."""
        if not self._alarms:
            return values
        return {key: distrust(told, self.places[key].row, self._alarms) for key, told in values.items()}

    async def _ask_for(self, block: Block, *, urgent: bool) -> bytes:
        """A poll comes again by itself; what an order waits for is asked for a second time."""
        question = ask_for(block.table, block.address, block.size)
        try:
            return await self.bus.ask(self.member, question, urgent=urgent)
        except RefusedError:
            raise
        except WireError:
            if not urgent:
                raise
        return await self.bus.ask(self.member, question, urgent=True)

    def has(self, *names: str) -> bool:
        """Whether the map has rows of these names for this device."""
        return set(names) <= {name for name, _ in self.places}

    def _find(self, keys: Iterable[Key]) -> list[Place]:
        try:
            return [self.places[key] for key in keys]
        except KeyError as error:
            raise WireError(f"{self.subject}: its register map has no {error.args[0]}") from error

    def _forgive(self) -> None:
        """A unit that has come back is asked for everything again."""
        if self._misses_life != self.member.life:
            self._misses_life = self.member.life
            self._misses.clear()

    # which device it is

    async def know(self, *, urgent: bool = False) -> None:
        """Look once in its life which device it is, and now and then at one that is another. Raises WireError when it is, or is silent."""
        async with self._looking:
            rows = [(name, -1) for name in IDENTITY if (name, -1) in self.places]
            again = self.member.refusal and self.clock.now() >= self._judged_at + LOOK_AGAIN_S
            if rows and (self._known_life != self.member.life or again):
                await self.read(rows, urgent=urgent)
        if self.member.refusal:
            raise WireError(f"{self.subject}: {self.member.refusal}")

    def _judge(self, seen: Mapping[str, Told]) -> None:
        """Whether it is the device it should be."""
        self._known_life, self._judged_at = self.member.life, self.clock.now()
        self.member.refusal = ""
        model, serial = seen.get("model"), seen.get("serial")
        models = self.map.models
        if model is not None and models and not any(fnmatchcase(str(model.value or ""), pattern) for pattern in models):
            self.member.refusal = f"its model is {model.value!r}, and this register map is for {', '.join(models)}"
        elif serial is not None and self.serial and serial.value != self.serial:
            self.member.refusal = (
                f"its serial number is {serial.value!r}, declared is {self.serial!r}: another device, or a wrong unit number"
            )

    async def prove(self) -> None:
        """What must hold before the first write (safety rule 25). Raises WireError saying what does not."""
        await self.know(urgent=True)
        if self._proven_life == self.member.life:
            return
        if ("serial", -1) in self.places and not self.serial:
            raise WireError(f"{self.subject}: no serial number is declared, so nothing is written; add serial=... to its wire")
        await self.probe()
        self._proven_life = self.member.life

    async def probe(self) -> None:
        """Whether what it shows can be so: words exchanged or a map that is off by one show here. Raises WireError."""
        for probe in self.map.probes:  # of what it shows, also where it warns of the sensor: the map is what is doubted here
            seen = await self._read_all([(probe.low, -1), (probe.high, -1)], urgent=True)
            fault = find_implausible(probe, seen[probe.low, -1].number, seen[probe.high, -1].number)
            if fault:
                why = seen[probe.low, -1].note or seen[probe.high, -1].note
                raise WireError(f"{self.subject}: {fault}{why and f' ({why})'}; is the register map right? Nothing is written")

    # writing

    async def write(self, scope: str, key: Key, value: Written, *, cyclic: bool = False) -> None:
        """Write one row and read it back; a write that got no answer is read back before it is sent again (safety rules 23, 24).

        `cyclic` = by a loop, again and again. Raises WireError, NotHeldError.
        """
        await self.write_together(scope, {key: value}, cyclic=cyclic)

    async def write_together(self, scope: str, values: Mapping[Key, Written], *, cyclic: bool = False) -> None:
        """The same for rows that stand side by side: one request."""
        await self.prove()
        places = sorted(self._find(values), key=lambda place: place.address)
        question = self._compose(places, values, cyclic=cyclic)
        await self._space_out(places)
        try:
            await self._send(scope, question, places)
        except NotHeldError:
            raise
        except RefusedError:
            raise
        except WireError:
            if await self._find_miss(places, values):
                await self._space_out(places)
                await self._send(scope, question, places)
        miss = await self._find_miss(places, values)
        if miss:
            raise WireError(f"{self.subject}: {miss}; it takes no such value, or shows it too late: look at its map and at what limits it")

    async def trigger(self, scope: str, key: Key) -> None:
        """Write a coil that shows nothing; what it did is for the caller to see. Never sent twice. Raises WireError, NotHeldError."""
        await self.prove()
        place = self._find([key])[0]
        await self._order(scope, tell_coil(place.address, on=True))

    def _compose(self, places: Sequence[Place], values: Mapping[Key, Written], *, cyclic: bool) -> Question:
        for place in places:
            if not place.row.writable:
                raise WireError(f"{self.subject}: {place.row.name} is not to be written")
            if cyclic and place.row.storage == "eeprom":
                raise WireError(f"{self.subject}: {place.row.name} is kept in EEPROM, which 28 h of writes at 1 Hz wear out; not by a loop")
        words = [word for place in places for word in self.untell(values[place.key], place)]
        first, last = places[0], places[-1]
        if len(words) != last.address + last.size - first.address:
            raise WireError(f"{self.subject}: {', '.join(place.row.name for place in places)} do not stand side by side")
        return tell_coil(first.address, on=bool(words[0])) if first.row.table == "coil" else tell_registers(first.address, words)

    def untell(self, value: Written, place: Place) -> tuple[int, ...]:
        """The registers that say it. Raises WireError with the limit for a value that the row does not take."""
        try:
            return untell(value, place)
        except ValueError as error:
            raise WireError(f"{self.subject}: {error}") from error

    async def _space_out(self, places: Sequence[Place]) -> None:
        """Wait for the least interval between two writes."""
        due = max(self._written.get(place.key, -1e9) + place.row.write_s for place in places)
        if due > self.clock.now():
            await self.clock.sleep(due - self.clock.now())

    async def _send(self, scope: str, question: Question, places: Sequence[Place]) -> None:
        self._written |= dict.fromkeys((place.key for place in places), self.clock.now())
        await self._order(scope, question)

    async def _order(self, scope: str, question: Question) -> None:
        """One that the device is still at work on is as good as one that it has answered: what it does is looked at in any case."""
        try:
            await self.bus.ask(self.member, question, scope)
        except RefusedError as error:
            if error.code != ACCEPTED:
                raise

    async def _find_miss(self, places: Sequence[Place], values: Mapping[Key, Written]) -> str:
        """What the rows that tell of it do not show of what was written; empty = they show it all."""
        wanted = {(place.row.confirm or place.row.name, place.number): values[place.key] for place in places}
        missed: list[str] = []
        for pause in SETTLE_S:
            await self.clock.sleep(pause)
            seen = await self.read(wanted, urgent=True)
            missed = [
                f"{key[0]} shows {seen[key].value if seen[key].value is not None else seen[key].note} where {value} was written"
                for key, value in wanted.items()
                if not _agrees(seen[key], value, self.places[key])
            ]
            if not missed:
                break
        return ", ".join(missed)


def _agrees(told: Told, value: Written, place: Place) -> bool:
    if isinstance(value, int | float):
        return abs(told.number - value) <= find_step(place.row) / 2 + TINY  # a device rounds to its own steps; NaN agrees with nothing
    return told.value == value


def find_implausible(probe: Probe, low: float, high: float) -> str:
    """Why two readings cannot be those of a working device; empty = they can. NaN = it was not read."""
    if probe.least <= low <= high + probe.slack and high <= probe.most and low <= probe.most:
        return ""
    return f"{probe.low} {low:g} and {probe.high} {high:g} where {probe.least:g} <= {probe.low} <= {probe.high} <= {probe.most:g} is due"
