"""Questions to one device, one after another: what it does not answer is UNKNOWN with the reason, and nobody waits for it for ever."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

import msgspec

from supernoded.plugin import Clock, Reading, WireError, make_reading
from supernoded_ascend.asking import BusyError, GoneError, is_absent
from supernoded_ascend.making import fail

SLACK = 2.0  # seconds of a sensor's time beyond what its runs may take, ours
COSTLY = 1.0  # seconds after which a failure has kept the other devices waiting, ours
REST = 30.0  # seconds for which a device whose failure was costly is not asked again, ours


class Rest(NamedTuple):
    """Until when a device is left alone, and why."""

    until: float
    trouble: WireError


class Question(msgspec.Struct, frozen=True):
    """The words that ask, who understands the answer (text, time, subject), and the quantity that is UNKNOWN where none ever came.

    The same answer is the same readings, at another time.
    """

    words: tuple[str, ...]
    parse: Callable[[str, float, str], list[Reading]]
    quantity: str
    unit: str = "1"


class Told(NamedTuple):
    """A text, and the readings that it gave."""

    text: str
    readings: list[Reading]


Run = Callable[[Sequence[str]], Awaitable[str]]  # words in, text out; raises WireError
Answers = tuple[list[Reading], WireError | None]  # what one device gave, and why it gave no more, or nothing at all


class Questioner:
    """Asks one sensor's questions, and remembers what each gave, so that a failure has subjects."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._before: dict[tuple[str, tuple[str, ...]], Told] = {}
        self._resting: dict[str, Rest] = {}

    async def ask(self, device: str, run: Run, asked: Sequence[tuple[str, Question]]) -> Answers:
        """Ask a device about its subjects. What it refuses costs that question; what ends the matter costs those that follow, too."""
        found: list[Reading] = []
        rest = self._resting.get(device)
        end = rest.trouble if rest is not None and self._clock.now() < rest.until else None
        last, answered = end, False
        for subject, question in asked:
            begun = self._clock.now()
            try:
                if end is None:
                    found += await self._ask_one(run, subject, question)
                    answered = True
                    continue
            except WireError as error:
                last = error
                end = error if self._ends_it(device, error, begun) else None
            found += self._fail(subject, question, str(last))
        return found, end if answered else last

    def _ends_it(self, device: str, error: WireError, begun: float) -> bool:
        """No such program, no such card, or a wait that the other devices had to share: that one is left alone for a while."""
        now = self._clock.now()
        if isinstance(error, BusyError):
            return False
        if now - begun > COSTLY:
            self._resting[device] = Rest(now + REST, error)
            return True
        return is_absent(error) or isinstance(error, GoneError)

    async def _ask_one(self, run: Run, subject: str, question: Question) -> list[Reading]:
        text, at, key = await run(question.words), self._clock.now(), (subject, question.words)
        known = self._before.get(key)
        if known is not None and known.text == text:
            return [msgspec.structs.replace(one, at=at) for one in known.readings]
        readings = question.parse(text, at, subject)
        self._before[key] = Told(text, readings)
        return readings

    def _fail(self, subject: str, question: Question, why: str) -> list[Reading]:
        at = self._clock.now()
        known = self._before.get((subject, question.words))
        before = known.readings if known is not None else ()
        return [fail(one, at, why) for one in before or [make_reading(subject, question.quantity, None, question.unit, at, why)]]
