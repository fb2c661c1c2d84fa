"""What is handed in for each CDU that takes orders: as much as its map has, and the topology's authority allows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from supernoded.plugin import Actuator, ClosedHandle, Handle, Sensor
from supernoded_modbus.coolant.branches import Branches, has_branches
from supernoded_modbus.coolant.coolant import DIRECT, Coolant
from supernoded_modbus.coolant.engaging import Engagement
from supernoded_modbus.coolant.flowing import CoolantFlow
from supernoded_modbus.coolant.handles import SETPOINT, VALVE, Kind, LeadHandle
from supernoded_modbus.coolant.pressure import ROW as PRESSURE
from supernoded_modbus.coolant.pressure import Pressure, PressureHandle
from supernoded_modbus.coolant.pumps import PumpHandle, Pumps
from supernoded_modbus.coolant.telling import FallbackSensor, YieldedSensor


class Cdu:
    """The parts of one CDU, which share its engagement."""

    def __init__(self, coolant: Coolant) -> None:
        self.coolant, self.engagement = coolant, Engagement(coolant)
        unit, direct = coolant.unit, coolant.authority == DIRECT
        self._lead = VALVE if direct else SETPOINT
        needed = ("control", self._lead.row, *(("watchdog", "watchdog_left", "heartbeat") if direct else ()))
        self._lacking = [row for row in needed if not unit.has(row)]
        self.turns = not self._lacking
        self.pumps = Pumps(self.engagement) if direct and self.turns and coolant.list_numbers("pump_set") else None
        self.pressure = Pressure(self.engagement) if unit.has(PRESSURE) else None

    def list_handles(self) -> Iterator[Handle]:
        """Of `direct` valve and pumps, of `setpoint` its temperature and pressure difference."""
        if self.turns:
            yield LeadHandle(self.engagement, self._lead)
        elif self.coolant.unit.has("control"):
            yield self._close(self._lead)
        if self.pumps is not None:
            yield PumpHandle(self.pumps)
        if self.pressure is not None and self.coolant.authority != DIRECT:
            yield PressureHandle(self.pressure)

    def _close(self, lead: Kind) -> Handle:
        """What half a map does not allow is refused by the handle itself, which says why; one that only reads leaves it to others."""
        why = f"its register map has no {', '.join(self._lacking)}, which authority = {self.coolant.authority} needs"
        return ClosedHandle(f"{self.coolant.subject}/{lead.name}", lead.quantity, f"{why}; complete the map, or change the authority")

    def list_sensors(self, name: str) -> Iterator[Sensor]:
        """Of its engagement."""
        if self.turns:
            yield YieldedSensor(name, self.engagement)
        if self.coolant.unit.has("setpoint"):
            yield FallbackSensor(name, self.engagement)


def list_coolant_actuators(cdus: Sequence[Cdu]) -> Iterator[Actuator]:
    """Flow of loops, and branches of nodes."""
    pressures = {cdu.coolant.subject: (cdu.pressure, cdu.pumps) for cdu in cdus if cdu.pressure is not None}
    if pressures:
        yield CoolantFlow(pressures)
    branched = [cdu.coolant for cdu in cdus if has_branches(cdu.coolant)]
    if branched:
        yield Branches(branched)
