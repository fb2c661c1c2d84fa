"""A CDU behind one unit: its words for control, watchdog and heartbeat, and one look at all of them."""

from __future__ import annotations

import math
from typing import NamedTuple

from supernoded.plugin import CoolantLoop, WireError
from supernoded_modbus.coolant.record import CoolantRecord
from supernoded_modbus.unit import Key, Unit
from supernoded_modbus.values import Told

AUTO, SETPOINT, DIRECT = "auto", "setpoint", "direct"
NO_BEAT = -1.0  # a heartbeat that stands for no value
_HANDS = ("control", "watchdog", "watchdog_left", "heartbeat")


class Look(NamedTuple):
    """What a CDU shows at one moment. NaN = its map has no such row; a heartbeat that stands for no value is `NO_BEAT`."""

    control: str
    watchdog_s: float
    left_s: float
    beat: float
    shown: float = math.nan  # of the row that was asked for beside

    def __str__(self) -> str:
        """For people."""
        left = "" if math.isnan(self.left_s) else f", and its watchdog has {self.left_s:g} s left"
        return f"control is {self.control}{left}"


class Coolant:
    """The CDU of a loop of the topology."""

    def __init__(self, unit: Unit, loop: CoolantLoop, nodes: tuple[str, ...], record: CoolantRecord, scope: str) -> None:
        self.unit, self.loop, self.nodes, self.record, self.scope = unit, loop, nodes, record, scope
        self.subject = unit.subject
        self.clock = unit.clock

    @property
    def authority(self) -> str:
        """How far it may be turned: `setpoint` or `direct`."""
        return self.loop.authority.value

    async def look(self, row: str = "") -> Look:
        """Who has it, and what one row shows. Raises WireError, also for what stands for no value: then nobody knows whose it is.

        Every second, by loops; so one that has long been silent is left to the probes that it gets (safety rule 25).
        """
        keys = [(name, -1) for name in (*_HANDS, *([row] if row else [])) if self.unit.has(name)]
        seen = await self.unit.read(keys, urgent=not self.unit.member.dormant)
        told = {name: told for (name, _), told in seen.items()}
        control = told.get("control", Told(AUTO))
        self._refuse_blind({"control": control, **told}, *_HANDS[:3])
        if "heartbeat" in told and told["heartbeat"].value is None:
            told["heartbeat"] = Told(NO_BEAT)
        numbers = [told.get(name, Told(None)).number for name in (*_HANDS[1:], row)]
        return Look(str(control.value), *numbers)

    def _refuse_blind(self, told: dict[str, Told], *names: str) -> None:
        for name in names:
            if name in told and told[name].value is None:
                raise WireError(f"{self.subject}: its {name} cannot be read: {told[name].note}")

    async def see(self, row: str, number: int = -1) -> float:
        """A number, NaN where it shows none or the map has no such row. Raises WireError."""
        key: Key = (row, number)
        if key not in self.unit.places:
            return math.nan
        return (await self.unit.read([key], urgent=True))[key].number

    async def see_speed(self) -> float:
        """Of the fastest pump, in %; NaN where none is shown. Raises WireError."""
        keys = [("pump_speed", number) for number in self.list_numbers("pump_speed")]
        seen = await self.unit.read(keys, urgent=True) if keys else {}
        return max((told.number for told in seen.values() if told.value is not None), default=math.nan)

    def list_numbers(self, row: str) -> list[int]:
        """Those that a row has: of pumps, of branches."""
        return sorted(number for name, number in self.unit.places if name == row)
