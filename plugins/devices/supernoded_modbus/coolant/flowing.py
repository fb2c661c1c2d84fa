"""Performs `coolant.flow`: another pressure difference over the branches, judged by what is asked for and by what comes of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from supernoded.plugin import Action, Effect, Sight, WireError
from supernoded_modbus.coolant.coolant import DIRECT
from supernoded_modbus.coolant.pressure import Pressure
from supernoded_modbus.coolant.pumps import Pumps

NEAR, NEAR_KPA = 0.05, 2.0  # share of what was asked for, and kPa, within which a pressure difference has followed; ours
FLOWS = 1.0  # L/min: with less nothing flows, whatever pressure shows; ours
FULL, ALL_OUT = 100.0, 98.0  # %: full speed, and from where on pumps give what they have; ours


class CoolantFlow:
    """See `supernoded.plugin.Actuator`. An amount is the pressure difference to be held, kPa; none puts back what stood before our first.

    The record is of this daemon. Under direct control the CDU's pump loop is idle: then the duty pumps are sped up as the root of the
    pressure, unless a loop of ours turns them.
    """

    kinds = frozenset({"coolant.flow"})

    def __init__(self, pressures: Mapping[str, tuple[Pressure, Pumps | None]]) -> None:
        self.targets: Sequence[str] = tuple(pressures)
        self._pressures = pressures

    async def apply(self, action: Action) -> None:
        """Raises WireError, NotHeldError."""
        pressure, pumps = self._pressures[action.step.target]
        await pressure.engagement.recall()
        amount = action.step.amount
        if amount is None:
            amount = pressure.engagement.kept.pressure_before
            sight = await pressure.restore(action.scope)
            if sight.effect is not Effect.PRESENT:
                raise WireError(sight.text)
        else:
            await pressure.ask(action.scope, amount)
        if pumps is not None and amount is not None:
            await _speed_up(pressure, pumps, action.scope, amount)

    async def observe(self, action: Action) -> Sight:
        """By what it is asked for, then by what it shows. Raises WireError."""
        pressure, _ = self._pressures[action.step.target]
        asked = await pressure.look()
        if action.step.amount is None:
            return judge_restored(pressure, asked)
        if not pressure.is_at(asked, action.step.amount):
            change = pressure.find_change(asked)
            return Sight(effect=Effect.UNKNOWN if change else Effect.ABSENT, text=change or f"it is asked for {asked:g} kPa")
        cdu = pressure.cdu
        return judge_flow(asked, await cdu.see("pressure_difference"), await cdu.see("flow"), await cdu.see_speed())


async def _speed_up(pressure: Pressure, pumps: Pumps, scope: str, kilopascals: float) -> None:
    """Pressure goes with the square of speed."""
    look = await pressure.cdu.look()
    now = await pressure.cdu.see("pressure_difference")
    if look.control != DIRECT or not now > 0.0:
        return
    if pumps.turned:
        return  # its loop is told by `coolant.pressure_asked`
    told = await pumps.look()
    await pumps.turn(scope, min(max(told.values()) * math.sqrt(kilopascals / now), FULL), told)


def judge_restored(pressure: Pressure, asked: float) -> Sight:
    """PRESENT: nothing of ours stands."""
    kept = pressure.engagement.kept
    if kept.damaged:
        text = f"{kept.damaged}; it is asked for {asked:g} kPa, and who has asked is not known: look, and remove the file"
        return Sight(effect=Effect.UNKNOWN, text=text)
    if kept.pressure_before is None:
        return Sight(effect=Effect.PRESENT, text=f"nothing that we asked for stands; it is asked for {asked:g} kPa")
    change = pressure.find_change(asked)
    if change and not pressure.is_at(asked, kept.pressure_before):
        return Sight(effect=Effect.UNKNOWN, text=change)
    return Sight(effect=Effect.ABSENT, text=f"it is asked for {asked:g} kPa, and {kept.pressure_before:g} kPa stood before")


def judge_flow(asked: float, shown: float, flow: float, speed: float = math.nan) -> Sight:
    """PRESENT: the pressure difference has followed, or the pumps give all they have, and coolant flows. NaN = it is not shown."""
    if math.isnan(shown) and math.isnan(flow):
        return Sight(effect=Effect.UNKNOWN, text=f"it is asked for {asked:g} kPa, and shows neither pressure nor flow")
    if flow < FLOWS:
        return Sight(effect=Effect.UNKNOWN, text=f"it is asked for {asked:g} kPa, and {flow:g} L/min flow")
    if shown < asked and speed >= ALL_OUT:
        return Sight(
            effect=Effect.PRESENT, text=f"it gives {shown:g} kPa at {speed:g} % of speed, all it has; it is asked for {asked:g} kPa"
        )
    if abs(shown - asked) > max(NEAR * asked, NEAR_KPA):
        return Sight(effect=Effect.UNKNOWN, text=f"it is asked for {asked:g} kPa, and shows {shown:g} kPa")
    told = ", ".join(f"{value:.6g} {unit}" for value, unit in ((shown, "kPa"), (flow, "L/min")) if not math.isnan(value))
    return Sight(effect=Effect.PRESENT, text=f"it is asked for {asked:g} kPa, and shows {told}")
