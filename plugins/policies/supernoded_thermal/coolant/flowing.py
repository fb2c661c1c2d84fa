"""Flow and pumps: what runs, and what it gives."""

from __future__ import annotations

from collections.abc import Mapping

from supernoded.plugin import Severity, View, find_most, is_read, say_why
from supernoded_thermal.coolant import water
from supernoded_thermal.coolant.pumps import Pump
from supernoded_thermal.coolant.rule import Look, LoopRule, Memory, Track
from supernoded_thermal.coolant.seeing import FLOW, LEVEL, SPEED, list_past
from supernoded_thermal.coolant.water import Water, learn, look_at_water

LOST_S = 1.0  # that there must be no flow: a die without coolant rises by a kelvin a second (ours)
TRIPPED_S = 1.0
RUNS_DOWN = 20.0  # % of speed: units run their pumps at no less (ours)
RUN_DOWN_S = 10.0  # for which they may (ours): one without power stands after five
GONE = "gone"  # since when there is no flow
STARTS = "starts "  # since when a pump says that it starts, and stands
FAILED = "failed "  # of a pump that has not run since it was called
RESET = "reset "  # of one whose drive has said that it resets: when it is off after that, it stands by


class FlowRule(LoopRule):
    """Raises flow that is gone, runs backwards, or is less than speed and pressure should give (safety rule 17)."""

    kind = "coolant.flow"
    advice = "look at valves, strainers, check valves and the flow meter"
    watches: Mapping[str, float] = {**water.WATCHES, LEVEL: 60.0}

    def look(self, seen: View, memory: Memory) -> tuple[Mapping[str, Look], Mapping[str, float]]:
        """The unit, where its flow was ever read."""
        known = learn(seen, self._loop, memory.known)
        if not is_read(seen, FLOW, self._cdu):
            return {}, known
        return {self._cdu: self._look(seen, look_at_water(seen, self._loop, known, self._set))}, known

    def _look(self, seen: View, now: Water) -> Look:
        if now.flow is None:
            return Look(trouble=None, text=f"the flow of {self._cdu} cannot be seen: {say_why(seen, FLOW, self._cdu)}")
        cause = f"coolant.pump ({now.fault})" if now.fault else self._say_slow(seen, now)
        usual = f", {now.rated:.0f} is usual" if now.rated is not None else ""
        text = f"flow of {self._cdu} is {now.flow:.0f} L/min{usual}"
        if now.is_gone(self._set.no_flow_percent / 100.0):
            what = "runs backwards" if now.flow < 0.0 else "is gone"
            text = f"{text}: it {what}, the limit is {self._set.no_flow_percent:g} %"
            return Look(trouble=True, text=text, severity=Severity.CRITICAL, after_s=LOST_S, explained=cause)
        short = now.list_short(self._set.low_flow_percent / 100.0)
        text = f"{text}; every branch is closed" if now.closed else text
        low = self._say_low(seen)  # for which nobody cools: it explains no flow that is gone
        return Look(trouble=bool(short), text=f"{text}{self._say_short(now, short)}", explained=cause or low)

    def _say_short(self, now: Water, short: list[str]) -> str:
        if not short:
            return ""
        limit = f"the limit is {self._set.low_flow_percent:g} %"
        if short == ["speed"] and now.by_lift is not None:
            return f"; pumps at {now.speed or 0.0:.0f} % should give {now.by_speed or 0.0:.0f}, {limit}: coolant runs back through a pump"
        wanted = now.by_lift if now.by_lift is not None and "pressure" in short else now.by_speed
        return f"; by {' and '.join(short)} there should be {wanted or 0.0:.0f}, {limit}: something is closed or blocked"

    def _say_slow(self, seen: View, now: Water) -> str:
        """Pumps that run down: a moment later it is known whether they were told to. Ones that turn slowly all the time explain nothing."""
        slow = [pump.subject for pump in now.pumps if pump.turns and (pump.speed or 0.0) < RUNS_DOWN and ran(seen, pump.subject)]
        return (
            f"coolant.pump ({', '.join(slow)} runs down)"
            if slow and not any((pump.speed or 0.0) >= RUNS_DOWN for pump in now.pumps)
            else ""
        )

    def _say_low(self, seen: View) -> str:
        level = find_most(seen, LEVEL, self._cdu)
        low = level is not None and level < self._set.level_low_percent
        return f"coolant.level (its reservoir is at {level:.0f} %)" if low else ""


class PumpRule(LoopRule):
    """Raises pumps that do not run as they are told: of the unit while flow suffers, then of the pump itself till it turns again.

    Takeover is the unit's own; it is confirmed when flow and pressure agree with speed (safety rule 17).
    """

    kind = "coolant.pump"
    advice = "look at its drive; till it runs again there may be no standby"
    watches = water.WATCHES

    def look(self, seen: View, memory: Memory) -> tuple[Mapping[str, Look], Mapping[str, float]]:
        """The unit and each pump, where anything of its pumps was ever read."""
        known = learn(seen, self._loop, memory.known)
        now = look_at_water(seen, self._loop, known, self._set)
        if not now.pumps:
            return {}, known
        self._remember(memory, now, known, seen.now)
        unit = self._look(seen, now, known)
        suffers = bool(unit.trouble) or memory.tracks.get(self._cdu, Track()).raised
        return {self._cdu: unit, **{pump.subject: self._look_at(pump, now, known, suffers=suffers) for pump in now.pumps}}, known

    def _remember(self, memory: Memory, now: Water, known: dict[str, float], at: float) -> None:
        """Since when there is no flow, and what pumps have failed and not turned since: a unit takes their run signal away."""
        if now.is_gone(self._set.no_flow_percent / 100.0):
            known[GONE] = min(known.get(GONE, at), at)
        else:
            known.pop(GONE, None)
        told = any(track.raised for track in memory.tracks.values())
        for pump in now.pumps:
            starts, name = f"{STARTS}{pump.subject}", f"{FAILED}{pump.subject}"
            if pump.state == "starting" and pump.stands:
                known[starts] = min(known.get(starts, at), at)
            else:
                known.pop(starts, None)
            if pump.state == "resetting":
                known[f"{RESET}{pump.subject}"] = at
            if (pump.turns and not pump.fault) or (pump.state == "off" and f"{RESET}{pump.subject}" in known):
                known.pop(name, None)
                known.pop(f"{RESET}{pump.subject}", None)
            elif pump.fault and (pump.state == "tripped" or (told and not self._is_starting(pump, known, at))):
                known.setdefault(name, at)

    def _look(self, seen: View, now: Water, known: Mapping[str, float]) -> Look:
        if all(pump.speed is None and pump.rpm is None and pump.state is None for pump in now.pumps):
            why = say_why(seen, "pump.speed", now.pumps[0].subject)
            return Look(trouble=None, text=f"the pumps of {self._cdu} cannot be seen: {why}")
        told = now.fault or "; ".join(_say_failed(pump) for pump in now.pumps if f"{FAILED}{pump.subject}" in known)
        text = f"{told}; {_say_turning(now)}; {self._say_flow(now)}" if told else f"{_say_turning(now)} as told"
        trouble = bool(told) and (GONE in known or now.is_short(self._set.low_flow_percent / 100.0))
        severity = Severity.CRITICAL if trouble and self._is_lost(seen, now, known) else Severity.WARNING
        return Look(trouble=trouble, text=text, severity=severity, after_s=self._find_after(now, known))

    def _look_at(self, pump: Pump, now: Water, known: Mapping[str, float], *, suffers: bool) -> Look:
        failed = pump.fault or (_say_failed(pump) if f"{FAILED}{pump.subject}" in known else "")
        if not failed:
            return Look(trouble=False, text=f"nothing is told to be wrong with {pump.subject}")
        cause = f"coolant.pump of {self._cdu}" if suffers else ""
        text = f"{failed}; {_say_turning(now)}; {self._say_flow(now)}"
        return Look(trouble=True, text=text, after_s=max(self._set.settle_s, self._find_after(now, known)), explained=cause)

    def _find_after(self, now: Water, known: Mapping[str, float]) -> float:
        tripped = any(pump.state == "tripped" for pump in now.pumps)
        return TRIPPED_S if tripped else LOST_S if GONE in known else self._set.start_s

    def _is_lost(self, seen: View, now: Water, known: Mapping[str, float]) -> bool:
        """Whether nothing flows, and no standby is waited for any more, or there is none."""
        ready = [pump for pump in now.pumps if self._is_ready(pump, known, seen.now)]
        if now.flow is None:
            return not any(pump.turns for pump in ready)
        return GONE in known and (not ready or seen.now - known[GONE] >= self._set.takeover_s)

    def _is_ready(self, pump: Pump, known: Mapping[str, float], now: float) -> bool:
        """Whether it may still bring flow."""
        return f"{FAILED}{pump.subject}" not in known and (not pump.fault or self._is_starting(pump, known, now))

    def _is_starting(self, pump: Pump, known: Mapping[str, float], now: float) -> bool:
        """One that starts stands for a moment."""
        return pump.state == "starting" and now - known.get(f"{STARTS}{pump.subject}", now) < self._set.start_s

    def _say_flow(self, now: Water) -> str:
        if now.flow is None:
            return "flow cannot be seen"
        usual = f" of {now.rated:.0f} L/min" if now.rated is not None else ""
        if now.is_gone(self._set.no_flow_percent / 100.0):
            return f"flow is {now.flow:.0f}{usual}: gone"
        short = now.is_short(self._set.low_flow_percent / 100.0)
        agrees = "not what speed and pressure should give" if short else "which agrees with speed and pressure"
        return f"flow is {now.flow:.0f}{usual}, {agrees}"


def ran(seen: View, pump: str) -> bool:
    """Whether it has run as pumps do a moment ago."""
    return any(speed >= RUNS_DOWN for _, speed in list_past(seen, SPEED, pump, within=RUN_DOWN_S))


def _say_failed(pump: Pump) -> str:
    return f"{pump.subject} has not run since it failed"


def _say_turning(now: Water) -> str:
    turning = [pump.subject for pump in now.pumps if pump.turns and not pump.fault]
    return f"{', '.join(turning)} {'runs' if len(turning) == 1 else 'run'}" if turning else "no pump runs"
