"""Sensors of temperature that contradict each other, the heat, or their own unit."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from supernoded.plugin import View, find_least, find_most, is_read, say_why
from supernoded_thermal.coolant.rule import Look, LoopRule, Memory, Track
from supernoded_thermal.coolant.seeing import (
    ALARM,
    CARD_POWER,
    FLOW,
    RETURN,
    SECOND,
    SUPPLY,
    find_flags,
    find_range,
    list_past,
    list_supplies,
)
from supernoded_thermal.coolant.site import Loop

WATER = 69.2  # W for a L/min and a kelvin: 0.993 kg/L, 4180 J/kg K, 25 C
LEAST_SHARE, MOST_SHARE = 0.5, 2.0  # of the cards' watts that coolant may carry: air takes some, and what is no card brings some (ours)
STEADY_S = 120.0  # that a contradiction must last: coolant is on its way for half a minute
LEAST_W = 2000.0  # of cards, below which the balance says nothing
SHIFTS = 1.0  # K within a minute, beyond which no balance is made (ours)
WRONG = "wrong"  # by the balance of heat, and not seen to be right since
LONGEST = 300.0  # s, the most of `frozen_s`
MOVED = 0.2  # share by which heat must have moved
STANDS = 0.05  # K within which a temperature stands still: half of the coarsest step


class SensorRule(LoopRule):
    """Raises two sensors in one pipe that differ, one that its unit flags, and temperatures that no balance of heat explains."""

    kind = "coolant.sensor"
    advice = "find out which is right; till then the warmer one is cooled on and the colder one kept above dew"
    watches: Mapping[str, float] = {SUPPLY: 60.0, SECOND: 60.0, RETURN: 60.0, FLOW: 60.0, ALARM: 60.0, CARD_POWER: STEADY_S}

    every_s = 3.0

    @property
    def after_s(self) -> float:
        """They may differ for a while."""
        return self._set.sensor_s

    def look(self, seen: View, memory: Memory) -> tuple[Mapping[str, Look], Mapping[str, float]]:
        """The unit, where its supply was ever read."""
        if not is_read(seen, SUPPLY, self._cdu):
            return {}, memory.known
        flags = sorted(flag for flag in find_flags(seen, self._cdu) if any(word in flag for word in ("sensor", "temp-")))
        flags = [flag for flag in flags if "leak" not in flag]
        if flags:
            text = f"{self._cdu} says {', '.join(flags)}: what that sensor shows is no good, whatever it reads"
            return {self._cdu: Look(trouble=True, text=text, after_s=self._set.settle_s)}, memory.known
        compared = self._compare(seen)
        if compared is not None:
            return {self._cdu: compared}, memory.known
        look = self._balance(seen)
        if look.trouble is None and not (WRONG in memory.known and memory.tracks.get(self._cdu, Track()).raised):
            look = msgspec.structs.replace(look, trouble=False)  # nothing speaks against them
        return {self._cdu: look}, memory.known if look.trouble is None else {WRONG: 1.0} if look.trouble else {}

    def _compare(self, seen: View) -> Look | None:
        supplies, most = list_supplies(seen, self._cdu), self._set.sensors_apart_c
        if not supplies:
            return Look(trouble=None, text=f"the supply of {self._cdu} cannot be seen: {say_why(seen, SUPPLY, self._cdu)}")
        apart = find_range(supplies)
        if apart <= most:
            return None
        told = " and ".join(f"{value:.2f}" for value in (min(supplies), max(supplies)))
        return Look(trouble=True, text=f"sensors in the supply of {self._cdu} show {told} C, {apart:.2f} K apart, the limit is {most:g}")

    def _balance(self, seen: View) -> Look:
        """Supply and return against the heat of the cards; `trouble` None = it cannot be made now, which clears nothing."""
        supply, back, flow = find_most(seen, SUPPLY, self._cdu), find_most(seen, RETURN, self._cdu), find_least(seen, FLOW, self._cdu)
        watts = sum_cards(seen, self._loop)
        if supply is None or back is None or flow is None or flow <= 0.0 or watts is None or watts < LEAST_W:
            few = "no balance can be made" if watts is None or watts >= LEAST_W else f"{watts / 1e3:.1f} kW are too few for a balance"
            return Look(trouble=None, text=f"no two sensors of {self._cdu} contradict each other, and {few}")
        carried = WATER * flow * (back - supply)
        text = f"coolant of {self._cdu} carries {carried / 1e3:.1f} kW by {supply:.1f} and {back:.1f} C and {flow:.0f} L/min"
        text = f"{text}, its cards draw {watts / 1e3:.1f} kW"
        if self._is_moving(seen):
            return Look(trouble=None, text=f"{text}, while temperatures move, which says nothing")
        if LEAST_SHARE * watts <= carried <= MOST_SHARE * watts:
            return Look(trouble=False, text=text)
        return Look(trouble=True, text=f"{text}: one of these sensors is wrong", after_s=STEADY_S)

    def _is_moving(self, seen: View) -> bool:
        """Coolant that warms up or cools down keeps heat, or gives it."""
        return any(find_range([value for _, value in list_past(seen, quantity, self._cdu)]) > SHIFTS for quantity in (SUPPLY, RETURN))


class FrozenRule(LoopRule):
    """Raises a return temperature that stands still while heat moves. Never asked of the supply, which is held still on purpose."""

    kind = "coolant.frozen"
    advice = "look at the sensor in the return; till then the loop goes by power"
    watches: Mapping[str, float] = {RETURN: LONGEST, CARD_POWER: LONGEST, FLOW: LONGEST}
    every_s = 10.0

    def look(self, seen: View, memory: Memory) -> tuple[Mapping[str, Look], Mapping[str, float]]:
        """The unit, where its return was ever read."""
        if not is_read(seen, RETURN, self._cdu):
            return {}, memory.known
        return {self._cdu: self._look(seen)}, memory.known

    def _look(self, seen: View) -> Look:
        span = self._set.frozen_s
        past = list_past(seen, RETURN, self._cdu, within=span)
        if not past or seen.now - past[-1][0] > span / 6.0:
            return Look(trouble=None, text=f"the return of {self._cdu} cannot be seen: {say_why(seen, RETURN, self._cdu)}")
        moves = find_range([value for _, value in past])
        text = f"the return of {self._cdu} moved by {moves:.2f} K within {span:g} s"
        if moves > STANDS:
            return Look(trouble=False, text=text)
        if past[-1][0] - past[0][0] < 0.9 * span:
            return Look(
                trouble=None, text=f"whether the return sensor of {self._cdu} is frozen is not known until it is watched for {span:g} s"
            )
        shift = self._find_shift(seen, span)
        if shift is None or not self._is_flow_steady(seen, span):
            return Look(trouble=None, text=f"{text}, and whether heat moved cannot be told")
        if abs(shift) <= MOVED:
            return Look(trouble=None, text=f"{text}, and heat by {shift:+.0%}: too little to tell")
        return Look(trouble=True, text=f"{text} while the heat of its cards moved by {shift:+.0%}: it is frozen")

    def _find_shift(self, seen: View, span: float) -> float | None:
        """By what share the cards' heat moved, early enough in the window to have come back since."""
        early, later = 0.0, 0.0
        for card in self._loop.cards:
            past = list_past(seen, CARD_POWER, card, within=span)
            ripe = [value for at, value in past if at <= seen.now - span / 3.0]
            if len(ripe) < 2:
                return None
            early, later = early + ripe[0], later + ripe[-1]
        return (later - early) / early if early > 0.0 else None

    def _is_flow_steady(self, seen: View, span: float) -> bool:
        flows = [value for _, value in list_past(seen, FLOW, self._cdu, within=span)]
        return bool(flows) and find_range(flows) <= 0.1 * max(flows)


def sum_cards(seen: View, loop: Loop) -> float | None:
    """W of all its cards; None unless each is read."""
    watts = [find_most(seen, CARD_POWER, card) for card in loop.cards]
    found = [one for one in watts if one is not None]
    return sum(found) if found and len(found) == len(watts) else None
