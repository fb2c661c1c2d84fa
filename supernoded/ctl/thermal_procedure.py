"""Commissioning, step by step: the valve held at each position until nothing moves, then given back; and the silence test (safety 15).

Whoever runs it may die at any moment: the hand it lays on the valve stands for a few seconds only, and is renewed while it is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from supernoded.ctl.thermal_points import Moment, Point, Record
from supernoded.ctl.thermal_watch import Bounds, Look, is_steady, take_point
from supernoded.errors import AdminError
from supernoded.messages import CoolingUnit, LoopRow, Thermal

LOOK_EVERY = 1.0  # seconds
HAND_FOR = 10.0  # seconds for which a hand stands without being renewed (ours: as short as a hiccup of a second allows)
RENEW_EVERY = 3.0  # seconds
TELL_EVERY = 10.0  # seconds
BACK_WITHIN = 15.0  # seconds in which the loop must turn the valve again
OFF = 2.0  # % off the position it was told, from which on it is said: its loop keeps the valve from going below the dew point
FALL_SPARE = 10.0  # seconds beyond its own watchdog after which a unit that has not fallen back has failed


class Access(Protocol):
    """The daemon, as far as this asks it. Raises AdminError."""

    def look(self) -> Thermal:
        """What is known now."""
        ...

    def hold(self, target: str, value: float | None, seconds: float) -> None:
        """Lay a hand on, or renew it."""
        ...

    def release(self, target: str) -> None:
        """Take it off."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


@dataclass(frozen=True)
class Plan:
    """What is to be done with one unit."""

    cdu: str
    positions: tuple[float, ...]  # %
    settle: float  # seconds at most at each
    bounds: Bounds
    silence: bool = False

    @property
    def target(self) -> str:
        """What is held."""
        return f"{self.cdu}/valve"


class Commissioning:
    """One run of it. `tell` takes a line for whoever watches."""

    def __init__(self, access: Access, plan: Plan, tell: Callable[[str], None]) -> None:
        self._access, self._plan, self._tell = access, plan, tell
        self._now = self._renew_at = 0.0  # daemon's time

    def check(self) -> CoolingUnit:
        """Whether it may begin; nothing is touched. Raises AdminError."""
        look = self._look()
        unit, loop = look.unit, look.loop
        if not loop.engaged:
            raise AdminError(f"{loop.target} is not steered: {loop.idle_because}")
        if loop.by_hand:
            raise AdminError(f"{loop.target} is held by hand by {loop.hand_by}; `supernodectl thermal release {loop.target}` ends that")
        if not loop.can_be_held:
            raise AdminError(f"{loop.target} cannot be held by hand: its loop {loop.name} has no way to")
        if self._plan.silence and unit.watchdog is None:
            raise AdminError(f"the watchdog of {unit.subject} is not read: without it nobody knows when it should fall back (--silence)")
        self._plan.bounds.check(unit)
        return unit

    def run(self, record: Record) -> None:
        """All of it; what is known is in the record at every moment. Raises AdminError, with the valve given back."""
        with self._let_go_after():
            for position in self._plan.positions:
                record.points.append(self._measure(position, record.course))
                record.save()
        self._see_it_back(BACK_WITHIN)
        if self._plan.silence:
            with self._let_go_after():
                record.silence_s, record.fallback_c = self._fall_silent()
                record.save()
            self._see_it_back(BACK_WITHIN)

    @contextmanager
    def _let_go_after(self) -> Iterator[None]:
        """Whatever happens, Ctrl-C too. That it could not be said is told and hides nothing: the hand is gone within seconds then."""
        self._renew_at = 0.0
        try:
            yield
        finally:
            try:
                self._access.release(self._plan.target)
                self._tell(f"{self._plan.target} is given back to its loop")
            except AdminError as error:
                self._tell(f"it could not be said that the valve is let go, which it is by itself within {HAND_FOR:g} s: {error}")

    def _measure(self, position: float, course: list[Moment]) -> Point:
        """Hold one position until nothing moves, or the time is up; what is seen meanwhile goes to the course."""
        looks, began = list[Look](), self._look().at
        told, self._renew_at = began, began
        self._tell(f"valve to {position:g} %")
        while not is_steady(looks) and (not looks or looks[-1].at - began < self._plan.settle):
            looks.append(self._go_on(position))
            course += note_moment(looks[-1], position)
            if looks[-1].at - told >= TELL_EVERY:
                told = looks[-1].at
                self._tell(f"  {told - began:.0f} s: {say_unit(looks[-1].unit)}")
        steady = is_steady(looks)
        point = take_point(looks, steady=steady)
        moving = "" if steady else f", though it still moved after {self._plan.settle:g} s"
        kept = "" if abs(point.valve - position) <= OFF else f", not at the {position:g} % asked for"
        self._tell(f"  recorded{moving}{kept}: {say_point(point)}")
        return point

    def _go_on(self, value: float | None) -> Look:
        """Renew the hand, wait, look, judge. Raises AdminError when it must not go on."""
        if self._now >= self._renew_at:
            self._access.hold(self._plan.target, value, HAND_FOR)
            self._renew_at = self._now + RENEW_EVERY
        self._access.sleep(LOOK_EVERY)
        look = self._look()
        judge_look(look, value)
        self._plan.bounds.check(look.unit)
        return look

    def _fall_silent(self) -> tuple[float, float | None]:
        """For how long it must hear nothing until it turns itself, and at which setpoint it then is. Raises AdminError when it does not."""
        unit = self._look().unit
        patience = (unit.watchdog or 0.0) + FALL_SPARE
        self._tell(f"{unit.subject} hears nothing from now on; it should fall back by itself within {patience - FALL_SPARE:g} s")
        look = self._go_on(None)
        spoken = look.at - (look.loop.put_age or 0.0)
        while look.unit.control != "auto":
            if look.at - spoken > patience:
                control = look.unit.control or "unknown"
                raise AdminError(
                    f"{unit.subject} has not fallen back in {look.at - spoken:.0f} s of silence, its control is {control}: "
                    'do not leave it at authority = "direct" (safety 15)'
                )
            look = self._go_on(None)
        fallback = look.unit.setpoint if look.unit.setpoint is not None else look.unit.fallback
        self._tell(f"it fell back after {look.at - spoken:.0f} s of silence" + ("" if fallback is None else f", to {fallback:.2f} C"))
        return look.at - spoken, fallback

    def _see_it_back(self, seconds: float) -> None:
        """Wait until its loop turns it again. Raises AdminError when it does not."""
        look = self._look()
        end = look.at + seconds + (look.unit.watchdog or 0.0)
        while not look.loop.engaged or look.loop.by_hand or look.unit.control != "direct":
            if look.at > end:
                why = look.loop.idle_because or f"its control is {look.unit.control or 'unknown'}"
                raise AdminError(f"{look.loop.target} has not come back to its loop within {look.at - end + seconds:.0f} s: {why}")
            self._access.sleep(LOOK_EVERY)
            look = self._look()
        self._tell(f"its loop {look.loop.name} turns {look.loop.target} again")

    def _look(self) -> Look:
        told, plan = self._access.look(), self._plan
        self._now = told.now
        return Look(told.now, find_unit(told, plan.cdu), find_loop(told, plan.cdu, plan.target))


def judge_look(look: Look, value: float | None) -> None:
    """Raises AdminError when the hand is not ours, or the unit not in a state to be played with."""
    unit, loop = look.unit, look.loop
    if not loop.engaged:
        raise AdminError(f"{loop.target} is not steered any more: {loop.idle_because}")
    if not loop.by_hand or loop.hand_value != value:
        raise AdminError(
            f"{loop.target} is not as it was asked for: {f'{loop.hand_by} holds it' if loop.by_hand else 'the hand was taken off'}"
        )
    if unit.leak:
        raise AdminError(f"{unit.subject} leaks")
    if value is not None and unit.control not in ("", "direct"):
        raise AdminError(f"{unit.subject} is not turned by us any more, its control is {unit.control}")


def note_moment(look: Look, told: float) -> list[Moment]:
    """What is seen now; nothing where a sensor is missing."""
    unit = look.unit
    if unit.valve is None or unit.supply is None or unit.return_temperature is None:
        return []
    return [Moment(look.at, told, unit.valve, unit.supply, unit.return_temperature)]


def find_unit(told: Thermal, cdu: str) -> CoolingUnit:
    """The unit, which must be one whose valve we turn. Raises AdminError."""
    unit = next((unit for unit in told.units if unit.subject == cdu), None)
    if unit is None:
        known = ", ".join(unit.subject for unit in told.units) or "none"
        raise AdminError(f"there is no coolant unit {cdu!r} here; there are {known}")
    if unit.authority != "direct":
        remedy = 'authority = "direct" under its [[loops]] lets us, where the unit has a watchdog of 15 s at most'
        raise AdminError(f"{cdu} has authority {unit.authority or 'none'}: its own controller turns the valve, we may not; {remedy}")
    return unit


def find_loop(told: Thermal, cdu: str, target: str) -> LoopRow:
    """The loop that turns its valve. Raises AdminError."""
    loop = next((loop for loop in told.loops if loop.target == target), None)
    if loop is None:
        judge = next((unit.judged_by for unit in told.units if unit.subject == cdu), "")
        where = f"node {judge} has the role {cdu}, ask the daemon there" if judge else "`supernodectl plugins` says what there is"
        raise AdminError(f"no loop of this daemon turns {target}; {where}")
    return loop


def say_unit(unit: CoolingUnit) -> str:
    """What matters of it on the way."""
    shown = (
        ("supply", unit.supply, "C"),
        ("return", unit.return_temperature, "C"),
        ("primary", unit.primary, "C"),
        ("valve", unit.valve, "%"),
    )
    return ", ".join(f"{name} {'unknown' if value is None else f'{value:.2f} {of}'}" for name, value, of in shown)


def say_point(point: Point) -> str:
    """A point as a line."""
    return (
        f"valve {point.valve:.1f} %, supply {point.supply:.2f} C, return {point.return_temperature:.2f} C, "
        f"primary {point.primary:.2f} C, {point.flow:.0f} L/min"
    )
