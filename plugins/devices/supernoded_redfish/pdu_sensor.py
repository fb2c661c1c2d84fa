"""What a rack PDU shows: of itself, and of its outlets."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import Clock, Reading
from supernoded_redfish.outlet_words import tell_outlet, tell_pdu
from supernoded_redfish.rack_pdu import WITHIN, RackPdu

TIMEOUT = 30.0 * WITHIN  # seconds (ours): the PDU, its metrics and mains, and one answer per outlet


class PduSensor:
    """Of the outlets those that the topology names are read; all of them where it names none."""

    timeout = TIMEOUT

    def __init__(self, pdu: RackPdu, outlets: Sequence[int], clock: Clock, scope: str, period: float) -> None:
        self.name, self.scope, self.period = f"redfish.{pdu.pdu}", scope, period
        self._pdu, self._outlets, self._clock = pdu, outlets, clock

    async def read(self) -> Sequence[Reading]:
        """Raises WireError when the service cannot be read."""
        whole, outlets = await self._pdu.read_whole(), await self._pdu.read_outlets(self._outlets)
        now, subject = self._clock.now(), self._pdu.pdu
        told = [reading for number, body in outlets.items() for reading in tell_outlet(body, f"{subject}/outlet{number}", now)]
        return [*tell_pdu(*whole, subject, now), *told]
