"""The pressure difference that the CDU's own pump loop holds: asked for, and put back as it stood before."""

from __future__ import annotations

import math

from msgspec.structs import replace

from supernoded.plugin import Effect, Setpoint, Sight, WireError, YieldedError
from supernoded_modbus.coolant.engaging import Engagement
from supernoded_modbus.values import find_step, fit

ROW = "pressure_set"


class Pressure:
    """See above; shared by the handle and the action, so that neither takes the other for a second master."""

    def __init__(self, engagement: Engagement) -> None:
        self.engagement, self.cdu = engagement, engagement.coolant
        self._row = self.cdu.unit.places[ROW, -1].row
        self._unseen = False  # the last write was not seen to arrive: nobody knows what it makes of it
        self._seen = False  # one of this life was; before, a life that died between record and write may have left what stood

    async def look(self) -> float:
        """What is asked for now, kPa, in a CDU that no other hand is on. Raises WireError."""
        await self.engagement.recall()
        look = await self.cdu.look(ROW)
        self.engagement.refuse_stranger(look)
        if math.isnan(look.shown):
            raise WireError(f"{self.cdu.subject}: the pressure difference that it is asked for cannot be read")
        return look.shown

    def is_at(self, shown: float, kilopascals: float | None) -> bool:
        """Whether it shows this, in its own steps."""
        return kilopascals is not None and abs(shown - fit(kilopascals, self._row)) <= find_step(self._row) / 2 + 1e-6

    def find_change(self, shown: float) -> str:
        """Who else has asked for another one since we did; empty = nobody."""
        ours, before = self.engagement.kept.pressure_ours, self.engagement.kept.pressure_before
        if ours is None or self.is_at(shown, ours) or self._unseen or (not self._seen and self.is_at(shown, before)):
            return ""
        return (
            f"{self.cdu.subject}: it is asked for {shown:g} kPa, and we had written {ours:g}; another hand is on it and it is left to him"
        )

    async def ask(self, scope: str, kilopascals: float) -> None:
        """Ask for so much, remembering what stood before our first. Raises WireError, NotHeldError."""
        shown, kept = await self.look(), self.engagement.kept
        change = self.find_change(shown)
        if change:
            raise WireError(change)
        wanted = fit(kilopascals, self._row)
        if not self.is_at(wanted, kept.pressure_ours):
            before = shown if kept.pressure_before is None else kept.pressure_before
            await self._keep(scope, before, wanted)
        if not self.is_at(shown, wanted):
            await self._write(scope, wanted)
        self._seen = True

    async def _write(self, scope: str, kilopascals: float) -> None:
        self._unseen = True
        await self.cdu.unit.write(scope, (ROW, -1), kilopascals, cyclic=True)
        self._unseen = False

    async def restore(self, scope: str) -> Sight:
        """What stood before, where what stands is ours. Raises WireError, NotHeldError."""
        shown = await self.look()
        before = self.engagement.kept.pressure_before
        if before is None:
            return Sight(effect=Effect.PRESENT, text=f"nothing that we asked for stands; it is asked for {shown:g} kPa")
        if not self.is_at(shown, before):
            change = self.find_change(shown)
            if change:
                return Sight(effect=Effect.UNKNOWN, text=change)
            await self._write(scope, before)
        await self._keep(scope, None, None)
        return Sight(effect=Effect.PRESENT, text=f"it is asked for {before:g} kPa, as before")

    async def _keep(self, scope: str, before: float | None, ours: float | None) -> None:
        await self.engagement.keep(scope, lambda kept: replace(kept, pressure_before=before, pressure_ours=ours, damaged=""))


class PressureHandle:
    """See `supernoded.plugin.Handle`. It is no heartbeat, and leaves control as it is: the CDU's pump loop has its own in any."""

    quantity = "coolant.pressure_difference"

    def __init__(self, pressure: Pressure) -> None:
        self.target = f"{pressure.cdu.subject}/pressure"
        self._pressure = pressure
        self._yielded = ""

    async def now_at(self) -> Setpoint | None:
        """What is asked for. Raises WireError when another hand is on it."""
        self._yielded = ""
        await self._pressure.cdu.unit.prove()
        return Setpoint(target=self.target, quantity=self.quantity, value=await self._pressure.look(), unit="kPa")

    async def put(self, setpoint: Setpoint, scope: str) -> None:
        """Raises WireError, NotHeldError; YieldedError for a value that another has changed, until this is handed back."""
        if self._yielded:
            raise YieldedError(self._yielded)
        self._yielded = self._pressure.find_change(await self._pressure.look())
        if self._yielded:
            raise YieldedError(self._yielded)
        await self._pressure.ask(scope, setpoint.value)

    async def hand_back(self, scope: str) -> Sight:
        """As it stood before our first. Raises WireError, NotHeldError."""
        self._yielded = ""
        return await self._pressure.restore(scope)
