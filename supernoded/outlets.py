"""Outlets that are switched one by one: the actuators of every PDU that has no armed group of its own.

A device plugin brings its `Outlets`: how they are looked at and switched. What counts as the effect of an order is decided here alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import msgspec

from supernoded.errors import WireError
from supernoded.model import Action, Effect, Sight
from supernoded.wire import Tree

SWITCH_KINDS = frozenset({"power.off", "power.on", "outlet.off", "outlet.on"})
LEAST_W = 2.0  # below this nothing is drawn: meters of outlets resolve one watt (ours)
LEAST_A = 0.05  # the same where only current is metered: they resolve a tenth of an ampere (PowerNet-MIB) or a hundredth (Sentry3-MIB)


class OutletSight(msgspec.Struct, frozen=True, kw_only=True):
    """What a PDU shows of one outlet."""

    state: str | None = None  # on, off; None = it does not tell
    drawing: bool | None = None  # whether current flows; None = it cannot be told now
    metered: bool = True  # False = this PDU does not meter its outlets, so that its word on the state is all there is
    note: str = ""


class Outlets(Protocol):
    """The outlets of one PDU."""

    @property
    def pdu(self) -> str:
        """Subject of the PDU, such as `pdu/A1`."""
        ...

    async def look(self, numbers: Sequence[int]) -> Mapping[int, OutletSight]:
        """What these outlets show; one that the PDU does not have is left out. Raises WireError."""
        ...

    async def switch(self, scope: str, number: int, *, on: bool) -> None:
        """Give the order, asking the pen for `scope`. Raises WireError; returning proves nothing."""
        ...


def judge_drawing(watts: float | None, amperes: float | None) -> bool | None:
    """Whether an outlet feeds anything, by watts before amperes; None when neither is known."""
    if watts is not None:
        return watts >= LEAST_W
    return None if amperes is None else amperes >= LEAST_A


def judge_outlet(sight: OutletSight | None, *, on: bool) -> Sight:
    """What an outlet shows of having been switched: by its state, and by current that flows or does not (safety rule 23)."""
    wanted = "on" if on else "off"
    if sight is None:
        return Sight(effect=Effect.UNKNOWN, text="the PDU shows no such outlet")
    if sight.state is None:
        return Sight(effect=Effect.UNKNOWN, text=sight.note or "its state is not told")
    if sight.state != wanted:
        return Sight(effect=Effect.ABSENT, text=f"it is {sight.state}")
    if not sight.metered:
        return Sight(effect=Effect.PRESENT, text=f"{wanted} by the PDU's word; it does not meter outlets")
    if sight.drawing is on:
        return Sight(effect=Effect.PRESENT, text=f"{wanted}, and {'current flows' if on else 'no current flows'}")
    if sight.drawing is None:
        return Sight(
            effect=Effect.UNKNOWN, text=f"{wanted} by the PDU's word; whether current flows is not known: {sight.note or 'no value'}"
        )
    return Sight(effect=Effect.UNKNOWN, text=f"{wanted} by the PDU's word, but {'no current flows yet' if on else 'current still flows'}")


@dataclass(frozen=True)
class OutletSwitch:
    """Performs `power.off`, `power.on`, `outlet.off` and `outlet.on` on the outlets of one PDU."""

    outlets: Outlets
    kinds: frozenset[str] = SWITCH_KINDS

    @property
    def targets(self) -> Sequence[str]:
        """Every outlet of the PDU."""
        return (f"{self.outlets.pdu}/outlet*",)

    async def apply(self, action: Action) -> None:
        """Switch it. Raises WireError."""
        await self.outlets.switch(action.scope, self._number(action), on=action.step.kind.endswith(".on"))

    async def observe(self, action: Action) -> Sight:
        """State and current. Raises WireError."""
        number = self._number(action)
        return judge_outlet((await self.outlets.look((number,))).get(number), on=action.step.kind.endswith(".on"))

    def _number(self, action: Action) -> int:
        number = action.step.target.removeprefix(f"{self.outlets.pdu}/outlet")
        if not number.isdecimal():
            raise WireError(f"{action.step.target}: no outlet; write {self.outlets.pdu}/outlet7")
        return int(number)


class Firing(msgspec.Struct, frozen=True, kw_only=True):
    """What we have opened ourselves, as it is remembered over a restart."""

    incident: str = ""
    opened: tuple[int, ...] = ()
    at: float = 0.0
    restored: bool = True


@dataclass(frozen=True)
class StagedShed:
    """Performs `power.shed` and `power.restore` outlet by outlet, where the PDU has no group that can be armed.

    What a firing opens is written down before the first order, and only that is closed again: an outlet that was off before stays off
    (safety rule 8). The record is of this daemon; another that takes over the feed finds none and closes nothing.
    """

    outlets: Outlets
    sheddable: Sequence[int]  # as the topology says
    state: Tree  # the daemon's own folder
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
        firing = await self._read()
        if firing.restored:
            return Sight(effect=Effect.PRESENT, text="nothing that we opened is open")
        sight = await self._judge(firing.opened, on=True)
        if sight.effect is Effect.PRESENT:
            await self._write(action.scope, msgspec.structs.replace(firing, restored=True))
        return sight

    async def _open(self, action: Action) -> None:
        if not self.sheddable:
            raise WireError(f"{self.outlets.pdu}: no outlet is sheddable by the topology; nothing was sent")
        seen, before = await self.outlets.look(self.sheddable), await self._read()
        ours = () if before.restored else before.opened
        closed = [number for number in self.sheddable if number in seen and seen[number].state == "on"]
        still = [number for number in ours if number in seen and seen[number].state == "off"]
        if not closed:
            return
        record = Firing(incident=action.incident, opened=tuple(sorted({*closed, *still})), at=action.issued, restored=False)
        await self._write(action.scope, record)
        await self._switch_all(action.scope, closed, on=False)

    async def _close(self, action: Action) -> None:
        firing = await self._read()
        if firing.restored:
            return
        seen = await self.outlets.look(firing.opened)
        await self._switch_all(
            action.scope, [number for number in firing.opened if number in seen and seen[number].state == "off"], on=True
        )

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

    @property
    def _file(self) -> str:
        return f"shed/{self.outlets.pdu.removeprefix('pdu/')}.json"

    async def _read(self) -> Firing:
        found = (await self.state.read_all([self._file])).get(self._file)
        if found is None:
            return Firing()
        if isinstance(found, WireError):
            raise found
        try:
            return msgspec.json.decode(found, type=Firing)
        except msgspec.DecodeError as error:
            raise WireError(
                f"{self._file} in the state folder is no record of a firing ({error}); look at the outlets and remove it"
            ) from error

    async def _write(self, scope: str, firing: Firing) -> None:
        await self.state.order(scope, self._file, msgspec.json.encode(firing).decode())
