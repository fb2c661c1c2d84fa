"""The ports of all cards, as `hccn_tool` shows them: one program per card, the cards side by side."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import msgspec

from supernoded.plugin import NODE, Clock, Command, Reading
from supernoded_ascend.asking import BusyError, ask, is_absent
from supernoded_ascend.devices import Devices
from supernoded_ascend.making import select_device
from supernoded_ascend.questions import SLACK, Answers, Question, Questioner

GRACE = 1.0  # seconds that a killed program is given to end


class Cards:
    """The commands of `hccn_tool`: one per card, shared by all who ask it."""

    def __init__(self, make_command: Callable[[int], Command], second_port: Sequence[str], within: float) -> None:
        self._make, self.within = make_command, within
        self.ports = ((), tuple(second_port)) if second_port else ((),)  # further words for each port
        self._commands: dict[int, Command] = {}
        self._turns: dict[int, asyncio.Lock] = {}
        self.longest = 2.0 * within + GRACE  # seconds of one answer: the wait for the turn, the run, and its end

    async def ask(self, device: int, words: Sequence[str]) -> str:
        """One answer of one card, without what is said of another. Waiting for one's turn takes nothing from the run. Raises WireError."""
        if device not in self._commands:
            self._commands[device], self._turns[device] = self._make(device), asyncio.Lock()
        async with self._take_turn(device):
            return select_device(await ask(self._commands[device], *words, within=self.within), device)

    @asynccontextmanager
    async def _take_turn(self, device: int) -> AsyncIterator[None]:
        turn = self._turns[device]
        try:
            async with asyncio.timeout(self.within):
                await turn.acquire()
        except TimeoutError as error:
            raise BusyError(f"card {device} was still answering another question after {self.within:g} s") from error
        try:
            yield
        finally:
            turn.release()


class PortSensor:
    """Asks every card the same questions. A card that does not answer costs its own readings alone."""

    scope = NODE

    def __init__(self, name: str, period: float, questions: Sequence[Question], devices: Devices, cards: Cards, clock: Clock) -> None:
        self.name, self.period = name, period
        self.timeout = cards.within + cards.longest * len(questions) * len(cards.ports) + SLACK
        self._questions, self._devices, self._cards = questions, devices, cards
        self._questioner = Questioner(clock)

    async def read(self) -> Sequence[Reading]:
        """All cards. Raises WireError when there is no such tool, or nobody can tell which cards there are."""
        answers = await asyncio.gather(*(self._read_card(device) for device in await self._devices.list_devices()))
        for _, trouble in answers:
            if trouble is not None and is_absent(trouble):
                raise trouble
        return [reading for readings, _ in answers for reading in readings]

    async def _read_card(self, device: int) -> Answers:
        card = self._devices.naming.card(device)
        asked = [
            (f"{card}/port{number}", msgspec.structs.replace(question, words=(*question.words, *words)))
            for number, words in enumerate(self._cards.ports)
            for question in self._questions
        ]
        return await self._questioner.ask(card, lambda words: self._cards.ask(device, words), asked)
