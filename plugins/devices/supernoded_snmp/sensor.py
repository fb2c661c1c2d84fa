"""One sensor per device: all its columns in one read."""

from __future__ import annotations

from collections.abc import Sequence

from supernoded.plugin import Clock, Reading, WireError, make_reading
from supernoded_snmp.cells import Table
from supernoded_snmp.device import Device
from supernoded_snmp.interpret import interpret
from supernoded_snmp.manager import TRIES
from supernoded_snmp.totals import Totals
from supernoded_snmp.ups import LINK, STATUS

READS = 8.0  # times the patience of one exchange that a whole read may take (ours)


class SnmpSensor:
    """What was shown before and is not now is UNKNOWN, with the reason; a table that breaks off costs its missing rows alone."""

    def __init__(self, device: Device, clock: Clock, scope: str, period: float, within: float) -> None:
        self.name, self.scope, self.period = f"snmp.{device.subject}", scope, period
        self.timeout = READS * TRIES * within
        self._device, self._clock, self._totals = device, clock, Totals()
        first = {(device.subject, STATUS): "flags"} if device.subject.startswith("ups/") else {}
        self._known: dict[tuple[str, str], str] = first  # subject and quantity -> unit

    async def read(self) -> Sequence[Reading]:
        """Raises WireError when the agent of a PDU cannot be read at all; a UPS is told as silent then."""
        try:
            profile, speech = await self._device.meet()
            table = await self._device.collect(profile, speech)
        except WireError as error:
            self._device.forget()
            if not self._device.subject.startswith("ups/"):
                raise
            silent = make_reading(self._device.subject, LINK, "silent", "text", self._clock.now(), str(error))
            return [silent, *self._lose([silent], str(error))]
        place = profile.find_place(self._device.address.place)
        readings = interpret(profile, profile.columns, table, self._device.subject, place, self._clock.now())
        readings = self._totals.go_on(readings, frozenset(column.quantity for column in profile.columns if column.wraps))
        return [*readings, *self._lose(readings, _tell_partial(table))]

    def _lose(self, readings: Sequence[Reading], why: str) -> list[Reading]:
        seen = {(reading.subject, reading.quantity): reading.unit for reading in readings}
        lost = {key: unit for key, unit in self._known.items() if key not in seen}
        self._known = seen | (lost if why else {})  # of a table that is whole, what is gone is told once as gone
        now, told = self._clock.now(), why or "the device shows it no more"
        return [make_reading(subject, quantity, None, unit, now, told) for (subject, quantity), unit in lost.items()]


def _tell_partial(table: Table) -> str:
    return next((f"only a part of its tables was read: {walked.more}" for walked in table.values() if walked.more), "")
