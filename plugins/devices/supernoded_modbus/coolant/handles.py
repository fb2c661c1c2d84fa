"""Setpoint and valve as handles: a value, confirmed, and then the heartbeat (safety rules 1, 15, 16)."""

from __future__ import annotations

import math
from typing import NamedTuple

from supernoded.plugin import Setpoint, Sight, WireError, YieldedError
from supernoded_modbus.coolant.coolant import AUTO, DIRECT, NO_BEAT, Look
from supernoded_modbus.coolant.engaging import Engagement
from supernoded_modbus.values import find_step, fit


class Kind(NamedTuple):
    """What a handle turns."""

    name: str
    row: str  # that is written, and shows what was
    quantity: str
    unit: str
    stands: str  # the row that shows where it is under its own control


MOST_UNSEEN = 8  # values that were written and not seen to arrive (ours)
VALVE = Kind("valve", "valve_set", "coolant.valve", "%", "valve")
SETPOINT = Kind("setpoint", "setpoint_asked", "coolant.setpoint", "C", "setpoint")


class LeadHandle:
    """See `supernoded.plugin.Handle`. Its puts are the heartbeat, so it is the one that takes the CDU.

    Where another value shows than was written last, or another control, another hand is on it: that is yielded, told, and not written
    over until this handle has been handed back and takes it again.
    """

    def __init__(self, engagement: Engagement, kind: Kind) -> None:
        self.quantity, self._kind, self._engagement = kind.quantity, kind, engagement
        self._cdu = engagement.coolant
        self.target = f"{self._cdu.subject}/{kind.name}"
        self._place = self._cdu.unit.places[kind.row, -1]
        self._row = self._place.row
        self._ours: tuple[float, ...] = ()  # what may show: the last value alone once it was seen, else also those before it

    async def now_at(self) -> Setpoint | None:
        """Where it stands. Raises WireError when it must not be taken: another hand, no watchdog, no fallback, not plausible."""
        self._ours = ()
        look = await self._engagement.inspect(self._kind.row)
        value = look.shown
        if look.control == AUTO:
            stands = await self._cdu.see(self._kind.stands)
            value = look.shown if math.isnan(stands) else stands
        if math.isnan(value):
            return None
        return Setpoint(target=self.target, quantity=self.quantity, value=value, unit=self._kind.unit)

    async def put(self, setpoint: Setpoint, scope: str) -> None:
        """Write it where it does not show yet, read it back, then beat. Raises WireError, YieldedError, LapsedError, NotHeldError."""
        if self._engagement.yielded:
            raise YieldedError(self._engagement.yielded)
        wanted = fit(setpoint.value, self._row)
        self._cdu.unit.untell(wanted, self._place)
        look = await self._cdu.look(self._kind.row)
        self._engagement.refuse_lapsed(look)
        if not self._engagement.engaged:
            self._engagement.refuse_stranger(look)
            await self._take(wanted, scope, look)
        else:
            await self._refuse_change(scope, look)
            await self._write(wanted, scope, look.shown)
        await self._engagement.beat(scope)

    async def _take(self, wanted: float, scope: str, look: Look) -> None:
        """A setpoint is written before the control that heeds it, a valve can be turned only after."""
        if self._engagement.control == DIRECT:
            await self._engagement.take(scope, look)
            await self._write(wanted, scope, look.shown)
        else:
            await self._write(wanted, scope, look.shown)
            await self._engagement.take(scope, look)

    async def _write(self, wanted: float, scope: str, shown: float) -> None:
        """Once a write was not seen to arrive, every value since may show, however late; so the next one is written in any case."""
        if not self._is(shown, wanted) or len(self._ours) > 1:
            self._ours = (wanted, *(self._ours or (shown,)))[:MOST_UNSEEN]
            await self._cdu.unit.write(scope, (self._kind.row, -1), wanted, cyclic=True)
        self._ours = (wanted,)

    async def _refuse_change(self, scope: str, look: Look) -> None:
        self._refuse_blind(look)
        told, subject = "", self._cdu.subject
        if look.control != self._engagement.control:
            told = f"{subject}: control is {look.control}, and we had set {self._engagement.control}"
        elif not self._engagement.is_ours(look):
            told = f"{subject}: its heartbeat reads {look.beat:g}, which is not ours: another hand keeps it"
        elif not self._may_show(look.shown):
            told = f"{subject}: its {self._kind.name} reads {look.shown:g} {self._kind.unit}, and we had written {self._ours[0]:g}"
        if told:
            why = f"{told}; another hand is on it and it is yielded: hand it back (mode observe, then act) when he has gone"
            await self._engagement.give_up(scope, why)
        if self._engagement.control == DIRECT:
            await self._engagement.refuse_unwatched(scope, look)

    def _refuse_blind(self, look: Look) -> None:
        """Raises WireError for what says nothing of another hand: a row that shows no value, and one that never showed ours."""
        subject, kind = self._cdu.subject, self._kind
        if look.beat == NO_BEAT and not self._engagement.is_ours(look) and look.control == self._engagement.control:
            raise WireError(f"{subject}: its heartbeat cannot be read now, so nobody knows whose it is; nothing is written")
        if self._may_show(look.shown):
            return
        if math.isnan(look.shown):
            raise WireError(f"{subject}: its {kind.row} cannot be read now; nothing is written")
        if len(self._ours) > 1 and look.control == self._engagement.control and self._engagement.is_ours(look):
            raise WireError(
                f"{subject}: its {kind.name} reads {look.shown:g} {kind.unit}, {self._ours[0]:g} was written and never seen: it takes no "
                "such value, or another hand is on it; nothing is written until it has its own control again"
            )

    def _may_show(self, shown: float) -> bool:
        return any(self._is(shown, value) or (math.isnan(shown) and math.isnan(value)) for value in self._ours)

    def _is(self, shown: float, value: float) -> bool:
        return abs(shown - value) <= find_step(self._row) / 2 + 1e-6

    async def is_left(self) -> bool:
        """Whether this daemon has engaged it, as far as its record goes. Raises WireError."""
        await self._engagement.recall()
        return self._engagement.kept.token > 0

    async def hand_back(self, scope: str) -> Sight:
        """Give it its own control, and look. Raises WireError, NotHeldError."""
        return await self._engagement.give_back(scope)
