"""What is told of a CDU's engagement: the setpoint that it goes back to by itself, and whether another hand was seen on it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from supernoded.plugin import Reading, make_reading
from supernoded_modbus.coolant.coolant import AUTO
from supernoded_modbus.coolant.engaging import Engagement

FALLBACK_S, YIELDED_S = 60.0, 1.0  # s between two looks; ours


class FallbackSensor:
    """`coolant.fallback`: what it holds while it has its own control (safety rule 15)."""

    period = timeout = FALLBACK_S

    def __init__(self, name: str, engagement: Engagement) -> None:
        self.name, self.scope = f"modbus.{name}.fallback", engagement.coolant.scope
        self._engagement = engagement
        self._celsius: float | None = None

    async def read(self) -> Sequence[Reading]:
        """Raises WireError."""
        cdu = self._engagement.coolant
        await cdu.unit.know()
        if (await cdu.look()).control == AUTO:
            celsius = await cdu.see("setpoint")
            self._celsius = None if math.isnan(celsius) else celsius
        elif self._celsius is None:
            await self._engagement.recall()
            self._celsius = self._engagement.kept.fallback
        note = "" if self._celsius is not None else "it has not been seen under its own control, or shows no setpoint"
        return [make_reading(cdu.subject, "coolant.fallback", self._celsius, "C", cdu.clock.now(), note)]


class YieldedSensor:
    """`coolant.yielded`: 1 from when another hand was seen until it is handed back. Nothing is asked for it."""

    period = timeout = YIELDED_S

    def __init__(self, name: str, engagement: Engagement) -> None:
        self.name, self.scope = f"modbus.{name}.yielded", engagement.coolant.scope
        self._engagement = engagement

    async def read(self) -> Sequence[Reading]:
        """From memory."""
        cdu = self._engagement.coolant
        return [make_reading(cdu.subject, "coolant.yielded", float(bool(self._engagement.yielded)), "1", cdu.clock.now())]
