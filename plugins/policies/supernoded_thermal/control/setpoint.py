"""The supply's setpoint under `setpoint`: the unit's own controller holds what we say, never below dew point and margin (safety rule 18).

To say it is the heartbeat, so it is said only while a thermometer tells that somebody is in control of something.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from supernoded.plugin import Setpoint, View
from supernoded_thermal.control.floor import Floor, find_floor, find_guard, find_setpoint, say_raised
from supernoded_thermal.control.sensing import WATCHES, Water, look
from supernoded_thermal.control.settings import ControlSettings

QUANTITY = "coolant.setpoint"
STEP = 0.1  # K that registers of setpoints have (facility 1.10)


class SetpointMemory(msgspec.Struct, frozen=True):
    """What the loop remembers."""

    floor: Floor | None = None


class SetpointLoop:
    """Turns `cdu/0/setpoint`."""

    period = 2.0  # s: units behind slow lines take a write a second, and their watchdogs have 15 s
    watches = WATCHES

    def __init__(self, cdu: str, rooms: Sequence[str], settings: ControlSettings) -> None:
        """`rooms` may tell of the air's dew point."""
        self.name, self.scope, self.target = f"setpoint of {cdu}", cdu, f"{cdu}/setpoint"
        self._cdu, self._rooms, self._set = cdu, tuple(rooms), settings

    def start(self, now_at: Setpoint | None) -> SetpointMemory:
        """What stands there does not matter: a setpoint may jump, the unit's controller follows at its own pace."""
        del now_at
        return SetpointMemory()

    def steer(self, seen: View, memory: SetpointMemory) -> tuple[SetpointMemory, Setpoint | None]:
        """The effective setpoint; None when nobody measures supply or return."""
        return self._put(seen, memory, self._set.setpoint_c)

    def hold(self, seen: View, memory: SetpointMemory, value: float) -> tuple[SetpointMemory, Setpoint | None]:
        """By hand, and never below the floor."""
        return self._put(seen, memory, value)

    def _put(self, seen: View, memory: SetpointMemory, wanted: float) -> tuple[SetpointMemory, Setpoint | None]:
        water = look(seen, self._cdu, self._set)
        floor = find_floor(seen, self._rooms, memory.floor, self._set)
        if water.supply is None and water.returned is None:
            return SetpointMemory(floor), None
        celsius = find_setpoint(floor, wanted) + find_guard(water.warmest, water.coldest, floor, self._set.disagree_k)
        notes = (*water.notes, _say_lost(water), floor.note, say_raised(floor, wanted))
        return SetpointMemory(floor), Setpoint(
            target=self.target,
            quantity=QUANTITY,
            value=round(math.ceil(celsius / STEP - 1e-6) * STEP, 6),
            unit="C",
            note="; ".join(note for note in notes if note),
        )


def _say_lost(water: Water) -> str:
    return "by the return alone: the supply's temperature is lost" if water.supply is None else ""
