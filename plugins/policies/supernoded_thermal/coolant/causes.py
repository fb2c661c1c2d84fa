"""One trouble, one incident: what explains that the supply is not held. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from supernoded.plugin import View, find_least, find_most
from supernoded_thermal.coolant import water
from supernoded_thermal.coolant.seeing import BRANCH, COMMAND, FLOW, PRESSURE, PRIMARY, VALVE, find_range, list_past
from supernoded_thermal.coolant.site import Loop
from supernoded_thermal.coolant.water import Water
from supernoded_thermal.settings import ThermalSettings

LONGEST = 180.0  # s, the most of `follow_s`
SHORT_S = 8.0  # for which a position stands still that is about to be told as such (ours)
STILL = 0.6  # % that a position may twitch: registers have steps of up to half a per cent (ours)
WATCHES: Mapping[str, float] = {
    **water.WATCHES,
    **dict.fromkeys((FLOW, BRANCH, COMMAND), LONGEST),
    **dict.fromkeys((PRESSURE, PRIMARY, VALVE), 60.0),
}


def say_primary_lost(seen: View, cdu: str, settings: ThermalSettings) -> str:
    """That there is no primary water; empty when there is, or nobody tells."""
    pressure = find_most(seen, PRESSURE, cdu)
    if pressure is None or pressure >= settings.primary_low_kpa:
        return ""
    return f"{cdu} has lost its primary water: {pressure:.0f} kPa, the limit is {settings.primary_low_kpa:g}"


def say_primary_warm(seen: View, cdu: str, setpoint: float, settings: ThermalSettings) -> str:
    """That the primary water cannot cool to the setpoint; empty when it can, or nobody tells."""
    warm, most = find_least(seen, PRIMARY, cdu), setpoint - settings.primary_near_c
    if warm is None or warm <= most:
        return ""
    return f"the primary water of {cdu} is at {warm:.1f} C, and to cool to {setpoint:.1f} C it must be below {most:.1f}"


def explain(seen: View, loop: Loop, now: Water, setpoint: float, settings: ThermalSettings, *, far: bool = False) -> str:
    """The kind and the sentence of what keeps the supply from being held; empty when nothing is known to.

    A supply that is `far` off is explained by what is told as a trouble itself, and not by something that has just moved.
    """
    primary = say_primary_lost(seen, loop.subject, settings) or say_primary_warm(seen, loop.subject, setpoint, settings)
    if primary:
        return f"coolant.primary ({primary})"
    moved = _say_moved(seen, loop, settings)
    if now.fault and (moved or now.is_short(settings.low_flow_percent / 100.0)):  # one that was taken over explains nothing more
        return f"coolant.pump ({now.fault})"
    if now.is_gone(settings.no_flow_percent / 100.0):
        return f"coolant.flow (flow is {now.flow or 0.0:.0f} L/min)"
    return ("" if far else moved) or _say_valve_off(seen, loop.subject, settings)


def _say_moved(seen: View, loop: Loop, settings: ThermalSettings) -> str:
    """That flow broke in a while ago, or a branch was closed or opened: the supply needs that long to be where it was."""
    flows = [value for _, value in list_past(seen, FLOW, loop.subject, within=settings.follow_s)]
    if flows and min(flows) < settings.low_flow_percent / 100.0 * max(flows):
        return f"coolant.flow (flow went between {max(flows):.0f} and {min(flows):.0f} L/min within {settings.follow_s:g} s)"
    turned = [node for node in loop.nodes if len({value for _, value in list_past(seen, BRANCH, node, within=settings.follow_s)}) > 1]
    return f"a branch that was closed or opened ({', '.join(turned)})" if turned else ""


def _say_valve_off(seen: View, cdu: str, settings: ThermalSettings) -> str:
    """That the valve stands still beside its command."""
    past = [value for _, value in list_past(seen, VALVE, cdu, within=SHORT_S)]
    told = [value for _, value in list_past(seen, COMMAND, cdu)]
    if len(past) < 2 or not told or find_range(past) > STILL:
        return ""
    command, least = told[-1], settings.valve_off_percent
    if abs(command - past[-1]) <= least or find_range(told) <= least:  # a register that nobody writes is no command
        return ""
    return f"coolant.valve (it is at {past[-1]:.0f} %, told to go to {command:.0f} %)"
