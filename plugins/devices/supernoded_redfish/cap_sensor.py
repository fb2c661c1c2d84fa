"""What limits the cards of a node have, and what they draw, by its BMC."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import NODE, Clock, Reading, make_reading
from supernoded_redfish.cards import WITHIN, Cards
from supernoded_redfish.limits import Limit

TIMEOUT = 30.0 * WITHIN  # seconds (ours): a first read asks systems, processors, and twice each card


class CapSensor:
    """`card.power_cap` and `card.power`. A card without a limit is held by none but its own: its highest one is shown."""

    scope, timeout = NODE, TIMEOUT

    def __init__(self, name: str, cards: Cards, clock: Clock, period: float) -> None:
        self.name, self.period = f"redfish.{name}.caps", period
        self._cards, self._clock = cards, clock

    async def read(self) -> Sequence[Reading]:
        """Raises WireError when the BMC does not tell."""
        return [reading for card, limit in (await self._cards.read()).items() for reading in self._tell(card, limit)]

    def _tell(self, card: str, limit: Limit) -> tuple[Reading, Reading]:
        now, cap = self._clock.now(), limit.cap if limit.cap is not None else limit.high
        note = "" if limit.stands else "no limit of its own stands" if cap is not None else "the BMC tells neither a limit nor the highest"
        drawn = make_reading(card, "card.power", limit.drawn, "W", now, "" if limit.drawn is not None else "PowerWatts has no number")
        return make_reading(card, "card.power_cap", cap, "W", now, note), drawn
