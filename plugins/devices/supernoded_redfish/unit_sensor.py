"""What a cooling unit shows."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import Reading
from supernoded_redfish.ageing import Ages
from supernoded_redfish.facts import tell_facts
from supernoded_redfish.pages import ROUND, WITHIN
from supernoded_redfish.unit import CoolingUnit
from supernoded_redfish.unit_reading import UnitReading

TIMEOUT = ROUND + WITHIN  # seconds; a round ends by itself before


class UnitSensor:
    """Reads one unit; its scope is the role of its loop."""

    timeout = TIMEOUT

    def __init__(self, unit: CoolingUnit, period: float) -> None:
        self.name, self.scope, self.period = f"redfish.{unit.cdu}", unit.cdu, period
        self._reading, self._clock, self._ages = UnitReading(unit), unit.clock, Ages()

    async def read(self) -> Sequence[Reading]:
        """Raises WireError when the unit cannot be found, or nothing of it can be had."""
        facts = await self._reading.read()
        return list(tell_facts(facts, self._ages, self._clock.now(), self.period))
