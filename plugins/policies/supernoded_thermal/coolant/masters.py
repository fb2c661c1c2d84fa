"""Two who steer one unit (safety rules 1 and 16)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from supernoded.plugin import State, View, find_most, is_read, say_why
from supernoded_thermal.coolant.rule import Look, LoopRule, Memory
from supernoded_thermal.coolant.seeing import ASKED, COMMAND, CONTROL, DEW, YIELDED, list_past

WITHIN_S = 120.0  # in which values must come and go (ours)
FOREIGN, ABOVE, FOREIGN_S = 1.0, 3.0, 20.0  # K below and above what may be held here, and for how long, to be somebody else's (ours)
RETURNS = 3  # to what was before: a person who changes their mind returns once
YIELDED_ADVICE = "when he has gone, hand it back (mode observe, then act), and it is taken again"
STEPS: Mapping[str, float] = {ASKED: 0.3, COMMAND: 5.0}  # K and %, below which a change is no other master's


class MastersRule(LoopRule):
    """Raises a unit that was yielded to another hand, or whose setpoint, valve command or control goes back and forth: two write it.

    A person who holds our own loop by hand is no other master: what is put for him was put by this daemon. Only where no device says
    whether it was yielded is a setpoint that we would not ask for taken for somebody else's.
    """

    kind = "coolant.masters"
    advice = "find who else writes it and take one of the two off; nothing here fights"
    watches: Mapping[str, float] = {ASKED: WITHIN_S, COMMAND: WITHIN_S, CONTROL: WITHIN_S, YIELDED: 60.0, DEW: 600.0}

    @property
    def after_s(self) -> float:
        """At once: it is seen over time."""
        return 0.0

    @property
    def clear_s(self) -> float:
        """What has returned must be out of sight."""
        return 30.0

    def look(self, seen: View, memory: Memory) -> tuple[Mapping[str, Look], Mapping[str, float]]:
        """The unit, where anything that is written to it was ever read back."""
        if not any(is_read(seen, quantity, self._cdu) for quantity in (*STEPS, CONTROL, YIELDED)):
            return {}, memory.known
        known = self._remember(seen, memory.known)
        fought = [self._say_numbers(seen, quantity, least) for quantity, least in STEPS.items() if not self._is_ours(seen, quantity)]
        fought = [text for text in (*fought, self._say_control(seen)) if text]
        if fought:
            return {self._cdu: Look(trouble=True, text=f"two masters at {self._cdu}: {'; '.join(fought)}")}, known
        return {self._cdu: self._look_for_a_hand(seen, known)}, known

    def _remember(self, seen: View, known: Mapping[str, float]) -> Mapping[str, float]:
        """What setpoint was asked of the unit when its valve became ours: from then on none of ours is."""
        asked, control = find_most(seen, ASKED, self._cdu), seen.text(CONTROL, self._cdu)
        if control is None or asked is None or (control == "direct" and ASKED in known):
            return known
        return {ASKED: asked} if control == "direct" else {}

    def _look_for_a_hand(self, seen: View, known: Mapping[str, float]) -> Look:
        if find_most(seen, YIELDED, self._cdu):
            text = f"{self._cdu} is in another hand, seen when a value was put: nothing of ours steers it, and it is not fought over"
            return Look(trouble=True, text=text, advice=YIELDED_ADVICE)
        before, now = known.get(ASKED), find_most(seen, ASKED, self._cdu)
        if before is not None and now is not None and abs(now - before) >= STEPS[ASKED]:
            text = f"{now:.1f} C are asked of {self._cdu}, {before:.1f} before, while its valve is turned from here"
            return Look(trouble=True, text=f"{text}: by somebody else; it counts as soon as the unit falls back")
        if is_read(seen, YIELDED, self._cdu):
            told = find_most(seen, YIELDED, self._cdu) is not None
            why = "" if told else f"whether {self._cdu} was yielded to another hand cannot be seen: {say_why(seen, YIELDED, self._cdu)}"
            return Look(trouble=False if told else None, text=why or f"{self._cdu} has one master")
        foreign = self._say_foreign(seen)
        return Look(trouble=bool(foreign), text=foreign or f"{self._cdu} has one master", after_s=FOREIGN_S if foreign else None)

    def _is_ours(self, seen: View, quantity: str) -> bool:
        """Whether it is our own loop's word: that goes to and fro with loads and noise, and another's is found out when the next is put."""
        return quantity == COMMAND and seen.text(CONTROL, self._cdu) == "direct" and find_most(seen, YIELDED, self._cdu) == 0.0

    def _say_numbers(self, seen: View, quantity: str, least: float) -> str:
        for source in seen.sources(quantity, self._cdu):
            jumps = list_jumps([value for _, value in list_past(seen, quantity, self._cdu, source)], least)
            if count_returns(jumps, least) >= RETURNS:
                before, after = jumps[-1]
                return f"{quantity} went back and forth between {before:.1f} and {after:.1f} within {WITHIN_S:g} s"
        return ""

    def _say_foreign(self, seen: View) -> str:
        """Who writes right behind us is never seen to go back and forth: what stands is theirs."""
        asked = find_most(seen, ASKED, self._cdu)
        if asked is None or seen.text(CONTROL, self._cdu) != "setpoint":
            return ""
        ours = self._set.control
        floors = [value + ours.dew_margin_k for subject in (self._cdu, *self._loop.nodes) for _, value in list_past(seen, DEW, subject)]
        most = max((ours.setpoint_c, ours.floor_c, *floors))
        if ours.setpoint_c - FOREIGN <= asked <= most + ABOVE:
            return ""
        held = f"{ours.setpoint_c:g} C, or up to {most + ABOVE:.1f} in a humid hall, are asked here"
        return f"{asked:.1f} C are asked of {self._cdu} where {held}: by somebody else, or by a hand that is laid on our loop"

    def _say_control(self, seen: View) -> str:
        for source in seen.sources(CONTROL, self._cdu):
            past = [str(one.value) for one in seen.window(CONTROL, self._cdu, source) if one.state is State.GOOD]
            words = [past[0], *(after for before, after in pairwise(past) if after != before)] if past else []
            if sum(first == third for first, third in zip(words, words[2:], strict=False)) >= RETURNS:
                text = f"control went back and forth between {words[-2]} and {words[-1]} within {WITHIN_S:g} s"
                return f"{text}, by another hand, or as our heartbeat lapses again and again"
        return ""


def list_jumps(values: Sequence[float], least: float) -> list[tuple[float, float]]:
    """From where to where the value jumped from one reading to the next. A loop of ours goes to and fro with the load, but in no jumps."""
    return [(before, after) for before, after in pairwise(values) if abs(after - before) >= least]


def count_returns(jumps: Sequence[tuple[float, float]], least: float) -> int:
    """How often running a jump led back at once to where the one before had begun: who follows a load turns back at its ends only."""
    most = running = 0
    for first, second in pairwise(jumps):
        running = running + 1 if abs(first[0] - second[1]) < least / 2.0 else 0
        most = max(most, running)
    return most
