"""What the health column of the table sums up, asked of the card itself at once: its codes say what is to be done, and that has no time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from supernoded.plugin import Clock, Reading
from supernoded_ascend.card_readings import ALARMS, parse_health
from supernoded_ascend.npu_smi import NpuSmi
from supernoded_ascend.npu_table import Chip
from supernoded_ascend.questions import Question, Questioner

LOOKS = 6  # tables in a row, from the first with another word on: after that the codes come as often as those of all cards (ours)
HEALTH = Question(("-t", "health"), parse_health, "card.health", "flags")


class CloserLook:
    """Asks each card whose word has turned bad for its codes, as often as the table comes, for a while."""

    def __init__(self, npu_smi: NpuSmi, clock: Clock) -> None:
        self._npu_smi, self._questioner = npu_smi, Questioner(clock)
        self._words: dict[str, tuple[str, int]] = {}  # subject -> its bad word, and at how many tables it was closely looked at

    async def ask(self, chips: Mapping[str, Chip]) -> dict[str, Reading]:
        """Subject -> its codes, of those that told them."""
        bad = {subject: word for subject, chip in chips.items() if (word := chip.values.get("health", "").strip().lower()) in ALARMS}
        before = self._words
        self._words = {
            subject: (word, before[subject][1] + 1 if before.get(subject, ("",))[0] == word else 1) for subject, word in bad.items()
        }
        wanted = [subject for subject, (_, looks) in self._words.items() if looks <= LOOKS]
        if not wanted:
            return {}
        async with self._npu_smi.turn:
            found = await asyncio.gather(*(self._ask(subject, chips[subject]) for subject in wanted))
        return {one.subject: one for one in found if one is not None}

    async def _ask(self, subject: str, chip: Chip) -> Reading | None:
        which = ("-i", f"{chip.npu}", "-c", f"{chip.chip}")
        readings, _ = await self._questioner.ask(subject, lambda words: self._npu_smi.ask_one(which, words), [(subject, HEALTH)])
        return next((one for one in readings if one.value is not None), None)
