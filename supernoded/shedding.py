"""Sheds that go outlet by outlet, of a PDU that has no group to arm: what was opened is written down, and only that is closed again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from supernoded.clock import Clock
from supernoded.errors import WireError
from supernoded.model import Action, Effect, Reading, Sight
from supernoded.outlets import Outlets, judge_outlet
from supernoded.reading import make_reading
from supernoded.state_file import StateFile
from supernoded.wire import Tree

PERIOD = 5.0  # seconds between two looks at a record (ours)
SHOWS_AFTER = 5.0  # seconds for which a PDU may still show what was before an order: APC's take 2.5 (ours)


class Firing(msgspec.Struct, frozen=True, kw_only=True):
    """What we have opened ourselves, as it is remembered over a restart."""

    incident: str = ""
    opened: tuple[int, ...] = ()
    at: float = 0.0
    restored: bool = True


@dataclass(frozen=True)
class ShedRecord:
    """The newest firing of one PDU, in the daemon's own folder."""

    pdu: str  # its subject
    state: Tree

    @property
    def _file(self) -> StateFile[Firing]:
        file = f"shed/{self.pdu.removeprefix('pdu/')}.json"
        return StateFile(self.state, file, Firing, "a firing", "look at the outlets and remove it")

    async def read(self) -> Firing:
        """What is written; a firing of nothing when nothing is. Raises WireError for what is no record."""
        return await self._file.read()

    async def write(self, scope: str, firing: Firing) -> None:
        """Raises WireError, NotHeldError."""
        await self._file.write(scope, firing)


class ShedSensor:
    """What a PDU with a record of its own would show of its newest firing: `pdu.event`, `pdu.opened` and `pdu.event_age`."""

    timeout = PERIOD

    def __init__(self, record: ShedRecord, clock: Clock, scope: str, period: float = PERIOD) -> None:
        self.name, self.scope, self.period = f"shed.{record.pdu}", scope, period
        self._record, self._clock = record, clock

    async def read(self) -> Sequence[Reading]:
        """Raises WireError."""
        firing, now, pdu = await self._record.read(), self._clock.now(), self._record.pdu
        event = "none" if not firing.incident else "restored" if firing.restored else "fired"
        told = [make_reading(pdu, "pdu.event", event, "text", now), make_reading(pdu, "pdu.opened", _name(firing), "flags", now)]
        if firing.incident:
            told.append(make_reading(pdu, "pdu.event_age", max(now - firing.at, 0.0), "s", now))
        return told


def _name(firing: Firing) -> frozenset[str]:
    return frozenset() if firing.restored else frozenset(map(str, firing.opened))


@dataclass(frozen=True)
class StagedShed:
    """Performs `power.shed` and `power.restore` outlet by outlet, where the PDU has no group that can be armed.

    What a firing opens is written down before the first order, and only that is closed again: an outlet that was off before stays off
    (safety rule 8). The record is of this daemon; another that takes over the feed finds none and closes nothing.
    """

    outlets: Outlets
    sheddable: Sequence[int]  # as the topology says
    record: ShedRecord
    kinds: frozenset[str] = frozenset({"power.shed", "power.restore"})

    @property
    def targets(self) -> Sequence[str]:
        """The PDU itself."""
        return (self.outlets.pdu,)

    async def apply(self, action: Action) -> None:
        """Open or close one after the other; one that refuses does not keep the others. Raises WireError, at the end."""
        await (self._open(action) if action.step.kind == "power.shed" else self._close(action))

    async def observe(self, action: Action) -> Sight:
        """Every outlet that should be open, or closed again. Raises WireError."""
        if action.step.kind == "power.shed":
            if not self.sheddable:
                return Sight(effect=Effect.UNKNOWN, text=f"no outlet of {self.outlets.pdu} is sheddable by the topology")
            return await self._judge(self.sheddable, on=False)
        firing = await self.record.read()
        if firing.restored:
            return Sight(effect=Effect.PRESENT, text="nothing that we opened is open") if firing.incident else await self._look_unrecorded()
        if 0.0 <= action.issued - firing.at < SHOWS_AFTER:  # a clock that was set back in between says nothing
            text = f"shed less than {SHOWS_AFTER:g} s before: its outlets may still show what they were"
            return Sight(effect=Effect.ABSENT, text=text)
        sight = await self._judge(firing.opened, on=True)
        if sight.effect is Effect.PRESENT:
            await self.record.write(action.scope, msgspec.structs.replace(firing, restored=True))
        return sight

    async def _look_unrecorded(self) -> Sight:
        """Without any record, as after another daemon has held the feed, nothing is closed, and nothing is told as closed."""
        seen = await self.outlets.look(self.sheddable) if self.sheddable else {}
        off = ", ".join(str(number) for number in self.sheddable if number not in seen or seen[number].state != "on")
        if not off:
            return Sight(effect=Effect.PRESENT, text="every outlet that may be shed is on")
        text = f"outlets {off} are not on, and this daemon has not opened them: look at who has, and close them there or by hand"
        return Sight(effect=Effect.UNKNOWN, text=text)

    async def _open(self, action: Action) -> None:
        if not self.sheddable:
            raise WireError(f"{self.outlets.pdu}: no outlet is sheddable by the topology; nothing was sent")
        seen, before = await self.outlets.look(self.sheddable), await self.record.read()
        ours = () if before.restored else before.opened
        closed = [number for number in self.sheddable if number in seen and seen[number].state == "on"]
        still = [number for number in ours if number in seen and seen[number].state == "off"]
        if not closed:
            return
        record = Firing(incident=action.incident, opened=tuple(sorted({*closed, *still})), at=action.issued, restored=False)
        await self.record.write(action.scope, record)
        await self._switch_all(action.scope, closed, on=False)

    async def _close(self, action: Action) -> None:
        firing = await self.record.read()
        if firing.restored:
            return
        await self._switch_all(action.scope, firing.opened, on=True)

    async def _switch_all(self, scope: str, numbers: Sequence[int], *, on: bool) -> None:
        refused: dict[int, WireError] = {}
        for number in numbers:
            try:
                await self.outlets.switch(scope, number, on=on)
            except WireError as error:
                refused[number] = error
        if refused:
            told = "; ".join(f"outlet {number}: {error}" for number, error in refused.items())
            raise WireError(f"{self.outlets.pdu}: {len(refused)} of {len(numbers)} outlets were not switched: {told}")

    async def _judge(self, numbers: Sequence[int], *, on: bool) -> Sight:
        """The worst of them: ABSENT before UNKNOWN before PRESENT."""
        seen = await self.outlets.look(numbers)
        sights = {number: judge_outlet(seen.get(number), on=on) for number in numbers}
        for effect in (Effect.ABSENT, Effect.UNKNOWN):
            told = [f"outlet {number}: {sight.text}" for number, sight in sights.items() if sight.effect is effect]
            if told:
                return Sight(effect=effect, text="; ".join(told))
        listed = ", ".join(map(str, numbers))
        return Sight(effect=Effect.PRESENT, text=f"outlets {listed} are {'on' if on else 'off'}")
