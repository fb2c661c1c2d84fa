"""The cards as `npu-smi` shows them: the table of all, and each one singly, never both at a time."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence

from supernoded.plugin import NODE, Clock, Reading, WireError, make_reading
from supernoded_ascend.asking import GoneError, is_absent
from supernoded_ascend.card_readings import read_chip
from supernoded_ascend.closer_look import HEALTH, CloserLook
from supernoded_ascend.devices import Devices, Naming, Place
from supernoded_ascend.npu_smi import NpuSmi
from supernoded_ascend.npu_table import Chip, Table, parse_table
from supernoded_ascend.questions import SLACK, Answers, Question, Questioner

REST = 60.0  # seconds for which a table that did not come is not asked for again, as long as the cards answer singly; ours


class CardSensor:
    """Asks the same questions about each chip, side by side. `by_chip`: of the chip, else of the NPU that it is in."""

    scope = NODE

    def __init__(
        self, name: str, period: float, questions: Sequence[Question], npu_smi: NpuSmi, devices: Devices, clock: Clock, *, by_chip: bool
    ) -> None:
        self.name, self.period, self._by_chip = name, period, by_chip
        self.timeout = npu_smi.longest + SLACK
        self._questions, self._npu_smi, self._devices, self._clock = questions, npu_smi, devices, clock
        self._questioner = Questioner(clock)

    async def read(self) -> Sequence[Reading]:
        """All chips. Raises WireError when there is no such tool, or nobody can tell which chips there are."""
        places = await self._devices.list_places()
        async with self._npu_smi.turn:
            answers = await asyncio.gather(*(self._read_chip(place) for place in places))
        troubles = [trouble for _, trouble in answers]
        for trouble in troubles:
            if trouble is not None and is_absent(trouble):
                raise trouble
        told = [self._tell_presence(place, trouble, None in troubles) for place, trouble in zip(places, troubles, strict=True)]
        return [*told, *(reading for readings, _ in answers for reading in readings)]

    async def _read_chip(self, place: Place) -> Answers:
        which = ("-i", f"{place.npu}", *(("-c", f"{place.chip}") if self._by_chip else ()))
        asked = [(place.subject, question) for question in self._questions]
        return await self._questioner.ask(place.subject, lambda words: self._npu_smi.ask_one(which, words), asked)

    def _tell_presence(self, place: Place, trouble: WireError | None, others: bool) -> Reading:
        at = self._clock.now()
        if trouble is None:
            return make_reading(place.subject, "card.present", 1.0, "1", at)
        if isinstance(trouble, GoneError) and others:
            return make_reading(place.subject, "card.present", 0.0, "1", at, f"{trouble}, while others answer")
        return make_reading(place.subject, "card.present", None, "1", at, str(trouble))


class TableSensor:
    """`npu-smi info`. A card that is described, or was listed, and is not in a table that lists others, is not on the bus.

    One card that hangs keeps the whole table back: then they are asked `singly`. One whose word in it turns bad is looked at closely.
    """

    scope = NODE

    def __init__(self, period: float, npu_smi: NpuSmi, singly: CardSensor, naming: Naming, clock: Clock) -> None:
        self.name, self.period, self.timeout = singly.name, period, npu_smi.longest + SLACK
        self._npu_smi, self._singly, self._naming, self._clock = npu_smi, singly, naming, clock
        self._seen = {naming.card(number) for number in naming.described}
        self._closer = CloserLook(npu_smi, clock)
        self._rests_until = -math.inf

    async def read(self) -> Sequence[Reading]:
        """Every chip. Raises WireError when nothing, or nothing that is a table, was printed, and no card answers alone."""
        if self._clock.now() < self._rests_until:
            return await self._singly.read()
        try:
            named, readings = self._read_table(await self._npu_smi.ask_all())
        except WireError as trouble:
            if is_absent(trouble):
                raise
            readings = await self._singly.read()
            if all(reading.value is None for reading in readings):
                raise trouble from None
            self._rests_until = self._clock.now() + REST
            return readings
        codes = await self._closer.ask(named)
        return [codes.get(one.subject, one) if one.quantity == HEALTH.quantity else one for one in readings]

    def _read_table(self, text: str) -> tuple[Mapping[str, Chip], Sequence[Reading]]:
        at, table = self._clock.now(), parse_table(text)
        if not table.chips:
            why = f"not understood: {table.strange[0]}" if table.strange else "no card" if text.strip() else "nothing at all"
            raise WireError(f"npu-smi info printed {why}")
        named = {self._naming.chip(chip.npu, chip.chip, chip.physical): chip for chip in table.chips}
        missing = sorted(self._seen - named.keys())
        self._seen |= named.keys()
        readings = [
            *(reading for subject, chip in named.items() for reading in read_chip(chip, at, subject)),
            *(self._miss(subject, at, table, [name for name in named if "/npu" in name]) for subject in missing),
        ]
        return named, readings

    def _miss(self, subject: str, at: float, table: Table, strangers: Sequence[str]) -> Reading:
        """Gone for sure only where every line was understood and every chip is a card of ours."""
        if table.strange:
            return make_reading(subject, "card.present", None, "1", at, f"not listed, but a line is not understood: {table.strange[0]}")
        if not table.whole:
            return make_reading(subject, "card.present", None, "1", at, "not listed, but the table is cut short: no processes follow it")
        if strangers:
            return make_reading(subject, "card.present", None, "1", at, f"not listed, but {strangers[0]} is, which is mapped to no card")
        return make_reading(subject, "card.present", 0.0, "1", at, f"npu-smi lists {len(table.chips)} others, and not this one")
