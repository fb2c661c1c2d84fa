"""The pumps under `direct`: they hold the pressure difference over the branches, whatever the supply's temperature is (safety rule 17).

Temperature is the valve's business: coolant that is slowed down is warmer at the cards. Takeover of a lost pump is the unit's own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from supernoded.plugin import Setpoint, View
from supernoded_thermal.control.sensing import FLOW
from supernoded_thermal.control.settings import ControlSettings

PRESSURE, SPEED = "coolant.pressure_difference", "coolant.pump_speed"
BAND = 0.01  # of the pressure, that is let be
LOW = 0.8  # of the pressure, below which a pump has been lost
LONGEST = 5.0  # s that a step counts for at most
WELL, WELL_FOR = 1.3, 600.0  # times its floor that every node must have, and for how long, until less pressure is held again (ours)
LITRES = 60.0  # L/min in a L/s


class PumpMemory(msgspec.Struct, frozen=True):
    """What the loop remembers."""

    speed: float | None = None  # %, put last
    at: float | None = None
    target: float = 0.0  # kPa that is held
    changed_at: float = -math.inf  # when that was changed
    well_since: float | None = None  # since when every node has more than it needs
    low_since: float | None = None


class PumpLoop:
    """Turns `cdu/0/pump`: the speed of all duty pumps."""

    period = 1.0
    watches: Mapping[str, float] = {PRESSURE: 60.0, FLOW: 60.0}

    def __init__(self, cdu: str, cards: Mapping[str, int], settings: ControlSettings) -> None:
        """`cards` of each node on the loop."""
        self.name, self.scope, self.target = f"pumps of {cdu}", cdu, f"{cdu}/pump"
        self._cdu, self._set = cdu, settings
        per_card = settings.floor_w / (settings.joules_per_litre_k * settings.floor_rise_k) * LITRES
        self._floors = {node: per_card * number for node, number in cards.items() if number}

    def start(self, now_at: Setpoint | None) -> PumpMemory:
        """From the speed they have."""
        return PumpMemory(None if now_at is None else now_at.value, target=self._set.pressure_kpa)

    def steer(self, seen: View, memory: PumpMemory) -> tuple[PumpMemory, Setpoint | None]:
        """The next speed; without pressure the last one."""
        seconds = 0.0 if memory.at is None else max(0.0, min(LONGEST, seen.now - memory.at))
        memory, speed = replace(memory, at=seen.now), memory.speed
        if speed is None:
            return memory, None
        pressure = seen.number(PRESSURE, self._cdu)
        if pressure is None:
            return memory, self._say(memory, "at the last speed: the pressure difference is unknown")
        memory = self._reallocate(seen, memory)
        memory = replace(memory, low_since=(memory.low_since or seen.now) if pressure < LOW * memory.target else None)
        if memory.low_since is not None and seen.now - memory.low_since < self._set.takeover_s:
            return memory, self._say(memory, "at the last speed: the unit's own takeover of a lost pump is let be")
        memory = replace(memory, speed=self._move(speed, pressure, memory.target, seconds))
        return memory, self._say(memory, "")

    def hold(self, seen: View, memory: PumpMemory, value: float) -> tuple[PumpMemory, Setpoint | None]:
        """By hand, but never slower than the least speed."""
        held = replace(memory, at=seen.now, speed=max(self._set.least_speed_percent, min(100.0, value)))
        return held, self._say(held, "")

    def _move(self, speed: float, pressure: float, target: float, seconds: float) -> float:
        """Pressure goes with the square of speed; half the way there, and not faster than pipes like."""
        if abs(pressure - target) <= BAND * target:
            return speed
        wish = speed * math.sqrt(target / max(pressure, 0.1 * target))
        most = self._set.pump_slew_percent_s * seconds
        return max(self._set.least_speed_percent, min(100.0, speed + max(-most, min(most, 0.5 * (wish - speed)))))

    def _reallocate(self, seen: View, memory: PumpMemory) -> PumpMemory:
        """More pressure when a node has less flow than its floor; less again when all have had enough for long."""
        shares = [flow / floor for node, floor in self._floors.items() if (flow := seen.number(FLOW, node)) is not None]
        least = min(shares, default=WELL)
        memory = replace(memory, well_since=(memory.well_since or seen.now) if least >= WELL else None)
        if seen.now - memory.changed_at < self._set.reallocate_s:
            return memory
        target = memory.target
        if 0.0 < least < 1.0:
            target = min(self._set.most_pressure_kpa, target / max(least, 0.5) ** 2)
        elif memory.well_since is not None and seen.now - memory.well_since >= WELL_FOR:
            target = self._set.pressure_kpa
        return memory if target == memory.target else replace(memory, target=target, changed_at=seen.now)

    def _say(self, memory: PumpMemory, note: str) -> Setpoint:
        return Setpoint(target=self.target, quantity=SPEED, value=memory.speed or self._set.least_speed_percent, unit="%", note=note)
