"""Tools that are asked about one device at a time. A device that hangs costs only itself; a tool that is missing is told of once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Clock, Command, Reading, WireError, make_reading, quote
from supernoded_fabric.adapters import LOOK
from supernoded_fabric.asking import RefusedError, Ways

Devices = Callable[[], Awaitable[Mapping[str, str]]]  # device -> subject
Parse = Callable[[str, float, str], Sequence[Reading]]

AT_ONCE = 32  # runs; a machine has some dozens of devices
REST = 600.0  # seconds for which a device is not asked what its driver does not know; ours
COSTLY = 1.0  # seconds after which a failure has kept the other devices waiting; ours
SHORT_REST = 30.0  # seconds for which a device whose failure was costly is not asked again; ours
GRACE = 1.0  # seconds that a killed program is given to end

_FOR_GOOD = re.compile(r"not supported|not available|no stat|bad command|unknown|invalid option", re.IGNORECASE)
_ABSENT = re.compile(r"no module|no cable|unplugged|module (?:is )?(?:not present|absent|missing)", re.IGNORECASE)


class Question(msgspec.Struct, frozen=True):
    """One thing that a tool is asked: in which ways, what its answer means, and which quantity stands for it when there is none."""

    ways: Ways
    parse: Parse
    quantity: str
    unit: str = "1"


class _Answer(msgspec.Struct):
    """The last answer to one question of one device."""

    readings: Sequence[Reading] = ()
    rests_until: float = 0.0
    form: int = 0  # in which the device is asked


class ToolSensor:
    """Asks every device every question, devices side by side."""

    scope = NODE

    def __init__(
        self, name: str, period: float, within: float, devices: Devices, questions: Sequence[Question], commands: Commands, clock: Clock
    ) -> None:
        self.name, self.period = name, period
        self.timeout = LOOK + sum((within + GRACE) * len(question.ways.forms) for question in questions)
        self._devices, self._questions, self._commands, self._clock, self._within = devices, questions, commands, clock, within
        self._answers: dict[tuple[str, int], _Answer] = {}
        self._runs = asyncio.Semaphore(AT_ONCE)
        self._is_known = False  # whether the tool ever ran

    async def read(self) -> Sequence[Reading]:
        """Nothing where there is no device. As long as the tool cannot be run at all, one reading that says why. Raises WireError."""
        devices = await self._devices()
        self._answers = {key: answer for key, answer in self._answers.items() if key[0] in devices}
        told = await asyncio.gather(*(self._ask_device(device, subject) for device, subject in devices.items()))
        failures = [one for one in told if isinstance(one, WireError)]
        if failures and len(failures) == len(told) and not self._is_known:
            return [make_reading(self._commands.node, f"x.{self.name}", None, "text", self._clock.now(), str(failures[0]))]
        return [reading for one in told if not isinstance(one, WireError) for reading in one]

    async def _ask_device(self, device: str, subject: str) -> Sequence[Reading] | WireError:
        """All its readings; the error of the first question as long as the tool is not known to run."""
        found: list[Reading] = []
        for number, question in enumerate(self._questions):
            answer = self._answers.setdefault((device, number), _Answer())
            if answer.rests_until <= self._clock.now():
                begun = self._clock.now()
                try:
                    text, answer.form = await self._ask(device, question, answer.form)
                except RefusedError as error:
                    self._is_known = True
                    self._refuse(answer, question, subject, str(error))
                except WireError as error:
                    if not self._is_known:
                        return error
                    self._fail(answer, question, subject, str(error))
                    if self._clock.now() - begun > COSTLY:
                        answer.rests_until = self._clock.now() + SHORT_REST
                else:
                    self._is_known = True
                    self._take(answer, question, subject, text)
            else:
                answer.readings = [msgspec.structs.replace(one, at=self._clock.now()) for one in answer.readings]  # as true as it was
            found += answer.readings
        return found

    async def _ask(self, device: str, question: Question, form: int) -> tuple[str, int]:
        async with self._runs:
            return await question.ways.ask(self._commands.of(device), *self._commands.words(device), within=self._within, first=form)

    def _take(self, answer: _Answer, question: Question, subject: str, text: str) -> None:
        readings = question.parse(text, self._clock.now(), subject)
        if readings:
            answer.readings = readings
        else:
            self._fail(answer, question, subject, f"it said nothing of this: {quote(text.strip())}")

    def _refuse(self, answer: _Answer, question: Question, subject: str, why: str) -> None:
        """An absent module is an answer; what a driver does not know it will not know in a minute either."""
        at = self._clock.now()
        if _ABSENT.search(why):
            answer.readings = [make_reading(subject, "link.present", 0.0, "1", at, why)]
            return
        self._fail(answer, question, subject, why)
        if _FOR_GOOD.search(why):
            answer.rests_until = at + REST

    def _fail(self, answer: _Answer, question: Question, subject: str, why: str) -> None:
        """What it used to tell is UNKNOWN now, and why."""
        at = self._clock.now()
        before = answer.readings or [make_reading(subject, question.quantity, None, question.unit, at)]
        answer.readings = [make_reading(one.subject, one.quantity, None, one.unit, at, why) for one in before]


class Commands:
    """A tool's command objects, one a device, so that no device is asked twice at a time; where the device's name is last, it is a word."""

    def __init__(self, node: str, make_command: Callable[[Sequence[str]], Command], argv: Sequence[str], flag: str = "") -> None:
        self.node = node
        self._make, self._argv, self._flag = make_command, tuple(argv), flag
        self._open: dict[str, Command] = {}

    def of(self, device: str) -> Command:
        """The one of this device."""
        if device not in self._open:
            self._open[device] = self._make((*self._argv, self._flag, device) if self._flag else self._argv)
        return self._open[device]

    def words(self, device: str) -> tuple[str, ...]:
        """What is still to be said to name the device."""
        return () if self._flag else (device,)
