"""The speed of all duty pumps, where we turn valve and pumps ourselves."""

from __future__ import annotations

import math

from supernoded.plugin import LapsedError, Setpoint, Sight, WireError, YieldedError
from supernoded_modbus.coolant.coolant import DIRECT
from supernoded_modbus.coolant.engaging import Engagement
from supernoded_modbus.values import find_step, fit

AT_WORK = ("starting", "running")
TURNS = 1.0  # %: a pump that turns faster is at work, where the device has no word for it; ours
MOST_UNSEEN = 8  # values of one that were written and not seen to arrive; ours
VALVE_FIRST_S, LOOK_S = 3.0, 0.5  # seconds in which the valve's loop takes the CDU, and between two looks whether it has; ours
STALE_S = 10.0  # after which a loop that put nothing turns the pumps no more; ours


class Pumps:
    """All of one CDU. Which are on duty is the CDU's business (safety rule 17): a standby is neither started nor stopped by us."""

    def __init__(self, engagement: Engagement) -> None:
        self.engagement, self.cdu = engagement, engagement.coolant
        self._ours: dict[int, tuple[float, ...]] = {}  # what may show, by pump
        self._put_at = -math.inf

    @property
    def turned(self) -> bool:
        """Whether a loop turns them now."""
        return self.cdu.clock.now() - self._put_at < STALE_S

    async def look(self) -> dict[int, float]:
        """What each duty pump was told, in %. Raises WireError."""
        states = await self._list_duty()
        seen = await self.cdu.unit.read([("pump_set", number) for number in states], urgent=True) if states else {}
        told = {number: told.number for (_, number), told in seen.items()}
        blind = [number for number, value in told.items() if math.isnan(value)]
        if blind or not told:
            raise WireError(f"{self.cdu.subject}: {f'the command of pump {blind[0]} cannot be read' if blind else 'no pump is at work'}")
        return told

    async def _list_duty(self) -> list[int]:
        unit, numbers = self.cdu.unit, self.cdu.list_numbers("pump_set")
        row = "pump_state" if self.cdu.list_numbers("pump_state") else "pump_speed"
        seen = await unit.read([(row, number) for number in numbers if (row, number) in unit.places], urgent=True)
        return [number for (_, number), told in seen.items() if told.value in AT_WORK or told.number > TURNS]

    def forget(self) -> None:
        """A new engagement begins."""
        self._ours, self._put_at = {}, -math.inf

    async def turn(self, scope: str, percent: float, told: dict[int, float]) -> None:
        """Each duty pump to this speed, read back. Raises WireError, NotHeldError."""
        if not percent > 0.0:
            raise WireError(f"{self.cdu.subject}: a pump speed of {percent:g} %; duty pumps are not stopped")
        for number, shown in told.items():
            row = self.cdu.unit.places["pump_set", number].row
            wanted = fit(percent, row)
            before = self._ours.get(number, ())
            if abs(shown - wanted) > find_step(row) / 2 + 1e-6 or len(before) > 1:
                self._ours[number] = (wanted, *(before or (shown,)))[:MOST_UNSEEN]
                await self.cdu.unit.write(scope, ("pump_set", number), wanted, cyclic=True)
            self._ours[number] = (wanted,)

    def find_change(self, told: dict[int, float]) -> str:
        """Who else has turned one; empty = nobody."""
        for number, shown in told.items():
            step, ours = find_step(self.cdu.unit.places["pump_set", number].row), self._ours.get(number, ())
            if ours and all(abs(shown - value) > step / 2 + 1e-6 for value in ours):
                return f"{self.cdu.subject}: pump {number} reads {shown:g} %, and we had written {ours[0]:g}"
        return ""

    def note_put(self) -> None:
        """A loop has turned them."""
        self._put_at = self.cdu.clock.now()


class PumpHandle:
    """See `supernoded.plugin.Handle`. No heartbeat: it turns pumps only while the valve's handle has the CDU."""

    quantity = "coolant.pump_speed"

    def __init__(self, pumps: Pumps) -> None:
        self.target = f"{pumps.cdu.subject}/pump"
        self._pumps = pumps
        self._number = 0  # of the engagement that it was taken under

    async def now_at(self) -> Setpoint | None:
        """The highest command of a duty pump. Raises WireError as long as the valve's loop has not taken the CDU."""
        self._pumps.forget()
        await self._wait_for_valve()
        self._number = self._pumps.engagement.number
        told = await self._pumps.look()
        return Setpoint(target=self.target, quantity=self.quantity, value=max(told.values()), unit="%")

    async def put(self, setpoint: Setpoint, scope: str) -> None:
        """Raises WireError, YieldedError, NotHeldError; LapsedError where the CDU was taken anew: its own control has had the pumps."""
        await self._check_engaged()
        if self._number != self._pumps.engagement.number:
            raise LapsedError(f"{self.target}: the CDU has been taken anew since the pumps were looked at")
        told = await self._pumps.look()
        change = self._pumps.find_change(told)
        if change:
            why = f"{change}; another hand is on it and it is yielded: hand it back (mode observe, then act) when he has gone"
            await self._pumps.engagement.give_up(scope, why)
        self._pumps.note_put()
        await self._pumps.turn(scope, setpoint.value, told)

    async def _wait_for_valve(self) -> None:
        """Both loops begin at the same moment, and the valve's takes the CDU first. Raises WireError when it does not."""
        clock = self._pumps.cdu.clock
        end = clock.now() + VALVE_FIRST_S
        while True:
            try:
                return await self._check_engaged()
            except WireError:
                if clock.now() >= end:
                    raise
            await clock.sleep(LOOK_S)

    async def _check_engaged(self) -> None:
        engagement = self._pumps.engagement
        if engagement.yielded:
            raise YieldedError(engagement.yielded)
        look = await self._pumps.cdu.look()
        if not engagement.engaged or look.control != DIRECT or not engagement.is_ours(look):
            raise WireError(f"{self.target} waits until the loop of {self._pumps.cdu.subject}/valve has the CDU: {look}")

    async def hand_back(self, scope: str) -> Sight:
        """Valve and pumps go back together. Raises WireError, NotHeldError."""
        return await self._pumps.engagement.give_back(scope)
