"""One task per sensor: read within its time, mark what could not be read, weigh what was, hand it on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence

import msgspec

from supernoded.clock import Clock
from supernoded.errors import WireError
from supernoded.history import FORGET_AFTER
from supernoded.model import Reading, State
from supernoded.parts import Sensor
from supernoded.quantities import as_unknown, find_fault, find_jump
from supernoded.supervisor import Health, HungError, bounded
from supernoded.vetting import vet_reading

Key = tuple[str, str, str]  # subject, quantity, source
Take = Callable[[Sequence[Reading], float], None]  # readings, and for how many seconds they count as fresh

FRESH_PERIODS = 2.5  # a reading is STALE after so many periods and one timeout


class Scale:
    """Weighs readings: a GOOD one that the vocabulary rules out, or that jumps faster than it can, becomes UNKNOWN.

    A jump that the next reading confirms is believed: the world did change, or the first value was the wrong one.
    """

    def __init__(self) -> None:
        self._good: dict[Key, Reading] = {}
        self._doubted: dict[Key, Reading] = {}

    def weigh(self, readings: Iterable[Reading]) -> list[Reading]:
        """The same readings with their state as far as one can tell."""
        return [self._weigh_one(reading) for reading in readings]

    def _weigh_one(self, reading: Reading) -> Reading:
        if reading.state is not State.GOOD:
            return reading
        key = reading.subject, reading.quantity, reading.source
        before = self._good.get(key)
        if before is None or before.value != reading.value or before.unit != reading.unit:  # else it is as plausible as it was
            fault = find_fault(reading)
            if fault is not None:
                return as_unknown(reading, fault)
            jump = find_jump(before, reading) if before is not None else None
            if jump is not None:
                doubted = self._doubted.get(key)
                if doubted is None or find_jump(doubted, reading) is not None:
                    self._doubted[key] = reading
                    return as_unknown(reading, jump)
        self._doubted.pop(key, None)
        self._good[key] = reading
        return reading

    def forget(self, key: Key) -> None:
        """It is no longer reported."""
        self._good.pop(key, None)
        self._doubted.pop(key, None)


class Sampler:
    """Reads one sensor for as long as it runs. `known` = what it has read before, so that a failure has subjects."""

    def __init__(self, sensor: Sensor, clock: Clock, health: Health, take: Take) -> None:
        self.sensor = sensor
        self._clock, self._health, self._take = clock, health, take
        self._name = f"sensor {sensor.name}"
        self._scale = Scale()
        self._known: dict[Key, Reading] = {}
        self._hung: asyncio.Task[object] | None = None

    async def run(self) -> None:
        """Read every period; a read that took longer than a period is not made up for."""
        due = self._clock.now()
        while True:
            await self.sample()
            due = max(due + self.sensor.period, self._clock.now())
            await self._clock.sleep(due - self._clock.now())

    async def sample(self) -> None:
        """One read, whatever comes of it."""
        if self._hung is not None and not self._hung.done():
            self._fail("the last read still hangs; no new one is begun")
            return
        try:
            readings = await bounded(self._read(), self.sensor.timeout, self._name)
        except HungError as error:
            self._hung = error.task
            self._fail(str(error))
        except WireError as error:
            self._fail(str(error))
        else:
            self._health.report(self._name, "")
            self.accept(readings)

    async def _read(self) -> Sequence[Reading]:
        readings = await self.sensor.read()
        now = self._clock.now()
        return [vet_reading(reading, now, self.sensor.name) for reading in readings]

    def accept(self, readings: Sequence[Reading]) -> None:
        """Weigh what was read and hand it on; also what used to be read and is now missing, as UNKNOWN, until it is forgotten."""
        weighed = self._scale.weigh(readings)
        seen = {(r.subject, r.quantity, r.source): r for r in weighed}
        at = max((r.at for r in weighed), default=self._clock.now())
        gone = [_missing(old, at, "no longer reported by its source") for key, old in self._known.items() if key not in seen]
        self._known |= seen
        for key in [key for key, old in self._known.items() if old.at < at - FORGET_AFTER]:
            del self._known[key]
            self._scale.forget(key)
        self._hand_on([*weighed, *gone])

    def _fail(self, why: str) -> None:
        self._health.report(self._name, why)
        self._hand_on([_missing(old, self._clock.now(), why) for old in self._known.values()])

    def _hand_on(self, readings: Sequence[Reading]) -> None:
        if readings:
            self._take(readings, FRESH_PERIODS * self.sensor.period + self.sensor.timeout)


def _missing(reading: Reading, at: float, why: str) -> Reading:
    return msgspec.structs.replace(reading, value=None, state=State.UNKNOWN, at=at, note=why)
