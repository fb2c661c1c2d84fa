"""The program `npu-smi`, for whoever asks it: never two at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from supernoded.plugin import Command
from supernoded_ascend.asking import ask, ask_card

RUNS = (
    11  # the table, a closer look, and the rounds of all three sensors twice, each of which loses the time of one run on a card that hangs
)


class NpuSmi:
    """The program as a whole, and once per card; whoever asks has it alone until all that he asks is answered."""

    def __init__(self, whole: Command, make_command: Callable[[Sequence[str]], Command], within: float) -> None:
        self.within, self.turn = within, asyncio.Lock()
        self.longest = within * RUNS  # seconds
        self._whole, self._make = whole, make_command
        self._commands: dict[tuple[str, ...], Command] = {}

    async def ask_all(self) -> str:
        """The table. Raises WireError."""
        async with self.turn:
            return await ask(self._whole, "info", within=self.within)

    async def ask_one(self, which: tuple[str, ...], words: Sequence[str]) -> str:
        """One card, by the words that name it; the caller holds the turn. Raises WireError."""
        if which not in self._commands:
            self._commands[which] = self._make(which)
        return await ask_card(self._commands[which], *words, within=self.within)
