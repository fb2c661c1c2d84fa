"""Whether the supply is held: within its band, without a swing, and with the valve not at its stop."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

import msgspec

from supernoded.plugin import Severity, View, find_most, is_read, say_why
from supernoded_thermal.coolant import causes, setpoint, water
from supernoded_thermal.coolant.causes import explain
from supernoded_thermal.coolant.rule import Look, LoopRule, Memory
from supernoded_thermal.coolant.seeing import ALARM, COMMAND, SECOND, SUPPLY, VALVE, list_supplies, list_supply_flags
from supernoded_thermal.coolant.setpoint import Span, find_setpoint
from supernoded_thermal.coolant.swinging import find_swing

WATCHES: Mapping[str, float] = {**causes.WATCHES, **setpoint.WATCHES, SUPPLY: 60.0, SECOND: 60.0, ALARM: 60.0}
SWING_S = 20.0  # longer than any cause takes to be told (ours)
FAR_C = 2.0  # K beside the setpoint, beyond which a supply is a trouble whatever has just moved (ours)
BACK_C = 0.05  # K that a temperature must be back within its limit (ours)
STOP = 97.0  # %, from which a valve is at its stop: positions are read to a per cent or two (ours)


class Scene(msgspec.Struct, frozen=True):
    """What rules about the supply look at."""

    seen: View
    supplies: list[float]  # C, by every sensor; one at least
    span: Span
    was_raised: bool


class HoldingRule(LoopRule):
    """What rules about the supply share: the setpoint, and what explains that it is not held."""

    watches = WATCHES

    def look(self, seen: View, memory: Memory) -> tuple[Mapping[str, Look], Mapping[str, float]]:
        """The unit, where its supply was ever read."""
        known = water.learn(seen, self._loop, memory.known)
        if not is_read(seen, SUPPLY, self._cdu) and not is_read(seen, SECOND, self._cdu):
            return {}, known
        span = find_setpoint(seen, self._cdu, self._set.control.setpoint_c, self._set.control.dew_margin_k, self._set.follow_s)
        supplies, flags = list_supplies(seen, self._cdu), list_supply_flags(seen, self._cdu)
        if not supplies:
            why = f"it says {', '.join(flags)}" if flags else say_why(seen, SUPPLY, self._cdu)
            return {self._cdu: Look(trouble=None, text=f"the supply of {self._cdu} cannot be seen: {why}")}, known
        was = self._cdu in memory.tracks and memory.tracks[self._cdu].raised
        look = self.weigh(Scene(seen, supplies, span, was))
        if look.trouble:
            now = water.look_at_water(seen, self._loop, known, self._set)
            far = max(max(supplies) - span.high, span.low - min(supplies)) > FAR_C
            cause = explain(seen, self._loop, now, span.now, self._set, far=far) or self.say_cause(seen, look)
            look = msgspec.structs.replace(look, explained=cause)
        return {self._cdu: look}, known

    def say_cause(self, seen: View, look: Look) -> str:
        """What else explains it; empty when nothing is known to."""
        del seen, look
        return ""

    @abstractmethod
    def weigh(self, scene: Scene) -> Look:
        """One look."""


class BandRule(HoldingRule):
    """Raises a supply that is outside its band around the effective setpoint (T5)."""

    kind = "coolant.band"
    advice = "look at the valve, the primary water and who holds the setpoint"

    def weigh(self, scene: Scene) -> Look:
        """By the sensor that is farthest out: which one is right is another rule's question."""
        span = scene.span
        worst = max(scene.supplies, key=lambda value: max(value - span.high, span.low - value))
        band = self._limits.band_c - (BACK_C if scene.was_raised else 0.0)
        off = worst - span.high if worst > span.high else worst - span.low if worst < span.low else 0.0
        text = f"the supply of {self._cdu} is at {worst:.2f} C, {worst - span.now:+.2f} K from its setpoint of {span.now:.2f}"
        return Look(trouble=abs(off) > band, text=f"{text}, the limit is {self._limits.band_c:g} K")

    def say_cause(self, seen: View, look: Look) -> str:
        """What moves by too much is told as that, and a valve at its stop, too; what stays off is told when it has come to rest."""
        del look
        return self._say_swing(seen) or self._say_stop(seen)

    def _say_stop(self, seen: View) -> str:
        valve, warm = find_most(seen, VALVE, self._cdu), max(list_supplies(seen, self._cdu), default=0.0)
        at_stop = valve is not None and valve >= STOP and warm > self._set.control.setpoint_c
        return f"coolant.capacity (the valve is at {valve:.0f} %)" if at_stop else ""

    def _say_swing(self, seen: View) -> str:
        """What moves by too much is told as that; what stays off is told when it has come to rest."""
        swing = find_swing(seen, self._cdu)
        return f"coolant.swing (it moved by {swing:.2f} K within 60 s)" if swing is not None and swing > self._limits.swing_c else ""


class SwingRule(HoldingRule):
    """Raises a supply that swings by too much within a minute (T6): cards change their clocks with it."""

    kind = "coolant.swing"
    advice = "look for a load that swings, a loop that hunts, or two masters"

    @property
    def after_s(self) -> float:
        """It is a minute's measure, so that there is time to see what explains it."""
        return SWING_S

    def weigh(self, scene: Scene) -> Look:
        """As every sensor sees it; what the setpoint has moved is no swing."""
        swing = find_swing(scene.seen, self._cdu)
        if swing is None:
            return Look(trouble=None, text=f"too few good readings of the supply of {self._cdu} to see a swing")
        size = max(0.0, swing - (scene.span.high - scene.span.low))
        most = self._limits.swing_c * (0.9 if scene.was_raised else 1.0)
        text = f"the supply of {self._cdu} moved by {size:.2f} K within 60 s, the limit is {self._limits.swing_c:g}"
        return Look(trouble=size > most, text=text, severity=Severity.CRITICAL)


class CapacityRule(HoldingRule):
    """Raises a unit that cannot give more: the valve at its stop, and the supply too warm."""

    kind = "coolant.capacity"
    advice = "look at primary water, strainer and exchanger (fouling), or lower the load"

    @property
    def after_s(self) -> float:
        """The time that the valve needs to help."""
        return self._set.capacity_s

    def weigh(self, scene: Scene) -> Look:
        """By the valve's position, or where it was told to go."""
        seen, span = scene.seen, scene.span
        valve = find_most(seen, VALVE, self._cdu)
        valve = find_most(seen, COMMAND, self._cdu) if valve is None else valve
        if valve is None:
            return Look(trouble=None, text=f"the valve of {self._cdu} cannot be seen: {say_why(seen, VALVE, self._cdu)}")
        warm = max(scene.supplies)
        most = span.high + self._limits.band_c - (BACK_C if scene.was_raised else 0.0)
        text = f"the valve of {self._cdu} is at {valve:.0f} % and the supply at {warm:.2f} C, the setpoint is {span.now:.2f}"
        trouble = valve >= STOP and warm > most
        return Look(trouble=trouble, text=text, severity=Severity.CRITICAL)
