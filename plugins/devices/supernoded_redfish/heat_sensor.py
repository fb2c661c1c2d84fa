"""What a node's BMC shows of heat: air, fans, coolant, cards, and the parts that no liquid cools."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import NODE, Clock, Reading
from supernoded_redfish.ageing import Ages
from supernoded_redfish.chassis import Heat
from supernoded_redfish.facts import tell_facts
from supernoded_redfish.pages import ROUND, WITHIN


class HeatSensor:
    """Reads one BMC."""

    scope, timeout = NODE, ROUND + WITHIN

    def __init__(self, name: str, heat: Heat, clock: Clock, period: float) -> None:
        self.name, self.period = f"redfish.{name}.heat", period
        self._heat, self._clock, self._ages = heat, clock, Ages()

    async def read(self) -> Sequence[Reading]:
        """Raises WireError when nothing can be had."""
        facts = await self._heat.read()
        return list(tell_facts(facts, self._ages, self._clock.now(), self.period))
