"""Tools that are asked about one device at a time. A device that hangs costs only itself; a tool that is missing is told of once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec

from supernoded.plugin import NODE, Clock, Command, Reading, State, WireError
from supernoded_fabric.asking import RefusedError, Ways
from supernoded_fabric.making import LONGEST_NOTE, clip, make

Devices = Callable[[], Awaitable[Mapping[str, str]]]  # device -> subject
Parse = Callable[[str, float, str], Sequence[Reading]]

AT_ONCE = 32  # runs; a machine has some dozens of devices
REST = 600.0  # seconds for which a device is not asked what its driver does not know; ours
SLACK = 5.0  # seconds beyond the runs themselves

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
    why: str = ""


class ToolSensor:
    """Asks every device every question, devices side by side."""

    scope = NODE

    def __init__(
        self, name: str, period: float, within: float, devices: Devices, questions: Sequence[Question], commands: Commands, clock: Clock
    ) -> None:
        self.name, self.period = name, period
        self.timeout = 2 * within * len(questions) + SLACK  # each in two forms at most
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
            return [make(self._commands.node, f"x.{self.name}", None, "text", self._clock.now(), str(failures[0]))]
        return [reading for one in told if not isinstance(one, WireError) for reading in one]

    async def _ask_device(self, device: str, subject: str) -> Sequence[Reading] | WireError:
        """All its readings; the error of the first question as long as the tool is not known to run."""
        found: list[Reading] = []
        for number, question in enumerate(self._questions):
            answer = self._answers.setdefault((device, number), _Answer())
            if answer.rests_until <= self._clock.now():
                try:
                    async with self._runs:
                        text = await question.ways.ask(self._commands.of(device), *self._commands.words(device), within=self._within)
                except RefusedError as error:
                    self._is_known = True
                    self._refuse(answer, question, subject, str(error))
                except WireError as error:
                    if not self._is_known:
                        return error
                    self._fail(answer, question, subject, str(error))
                else:
                    self._is_known = True
                    self._take(answer, question, subject, text)
            else:
                answer.readings = [msgspec.structs.replace(one, at=self._clock.now()) for one in answer.readings]  # as true as it was
            found += answer.readings
        return found

    def _take(self, answer: _Answer, question: Question, subject: str, text: str) -> None:
        readings = question.parse(text, self._clock.now(), subject)
        if readings:
            answer.readings = readings
        else:
            self._fail(answer, question, subject, f"it said nothing of this: {clip(text.strip())}")

    def _refuse(self, answer: _Answer, question: Question, subject: str, why: str) -> None:
        """An absent module is an answer; what a driver does not know it will not know in a minute either."""
        at = self._clock.now()
        if _ABSENT.search(why):
            answer.readings = [make(subject, "link.present", 0.0, "1", at, why)]
            return
        self._fail(answer, question, subject, why)
        if _FOR_GOOD.search(why):
            answer.rests_until = at + REST

    def _fail(self, answer: _Answer, question: Question, subject: str, why: str) -> None:
        """What it used to tell is UNKNOWN now, and why."""
        at = self._clock.now()
        before = answer.readings or [make(subject, question.quantity, None, question.unit, at)]
        note = why[:LONGEST_NOTE]
        answer.readings = [msgspec.structs.replace(one, value=None, state=State.UNKNOWN, at=at, note=note) for one in before]


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
