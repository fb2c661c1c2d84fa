"""The primary valve under `direct`: feed-forward from the heat that arrives at the exchanger, and PI on the supply.

The wanted effectiveness is that at which the coolant which arrives now leaves at the setpoint; commissioning says which position of the
valve gives it. What the PI adds moves that aim, in kelvin, so its gain is the same at every load, flow and place of the valve's curve.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from supernoded.plugin import Setpoint, View
from supernoded_thermal.control.aiming import Aim, list_made, take_aim
from supernoded_thermal.control.commissioning import Commissioning
from supernoded_thermal.control.doubting import Doubt, doubt_supply
from supernoded_thermal.control.estimating import Estimate, Known, begin, judge, learn
from supernoded_thermal.control.exchanger import make_exchanger
from supernoded_thermal.control.floor import Floor, find_floor, find_guard, find_setpoint, say_raised
from supernoded_thermal.control.loading import sum_power
from supernoded_thermal.control.position import MOST_PLAY, Position, follow_position
from supernoded_thermal.control.regulating import Regulator, integrate, take_bump
from supernoded_thermal.control.sensing import VALVE, WATCHES, Water, discard_impossible, look
from supernoded_thermal.control.settings import ControlSettings
from supernoded_thermal.control.tracing import find_play

LONGEST = 5.0  # s that a step counts for at most: what was not seen is not integrated
DOUBTED = "against its supply sensor, which return, power and valve contradict"
MIDDLE = 50.0  # % where nobody knows where the valve stands, nor what it should (ours)


class ValveMemory(msgspec.Struct, frozen=True):
    """What the loop remembers from one second to the next."""

    known: Known
    output: float | None = None  # %, where the valve should be; None = not known where it is
    told: float | None = None  # %, put last: beyond it by the valve's play
    way: float = 0.0  # in which it moved last: 1 = opening, -1 = closing
    short: float = 0.0  # %, by which stroke and slew kept it from where it should be
    at: float | None = None  # of the last step
    floor: Floor | None = None
    position: Position = Position()
    regulator: Regulator = Regulator()
    doubt: Doubt = Doubt()
    plain: bool | None = None  # whether the regulator is in per cent of stroke; None = it has not begun


class Moment(msgspec.Struct, frozen=True):
    """What one step goes by."""

    water: Water
    estimate: Estimate
    floor: Floor
    aim: Aim
    seconds: float  # since the step before
    stagnant: bool  # nothing flows: thermometers tell of water that stands


class ValveLoop:
    """Turns `cdu/0/valve`. Without commissioning data it is a PI alone, and says so."""

    period = 1.0
    watches = WATCHES

    def __init__(
        self,
        cdu: str,
        cards: Sequence[str],
        rooms: Sequence[str],
        settings: ControlSettings,
        data: Commissioning | None = None,
        *,
        without: str = "no commissioning data",
    ) -> None:
        """`cards` make the heat; `rooms` may tell of the air's dew point; `without` says why there are no data.

        Raises PluginError on data that cannot be.
        """
        self.name, self.scope, self.target = f"valve of {cdu}", cdu, f"{cdu}/valve"
        self._cdu, self._cards, self._rooms, self._set, self._without = cdu, tuple(cards), tuple(rooms), settings, without
        self._exchanger = None if data is None else make_exchanger(data)
        self._usual = None if data is None else data.flow
        self._begin = begin(settings, data)
        self._play = 0.0 if data is None or data.trace is None else min(MOST_PLAY, find_play(data.trace))

    def start(self, now_at: Setpoint | None) -> ValveMemory:
        """From where the valve stands."""
        output = None if now_at is None else now_at.value
        return ValveMemory(self._begin, output, output, position=Position(self._play))

    def aim(self, memory: ValveMemory) -> float | None:
        """The supply temperature that it holds, C; None before its first look."""
        return None if memory.floor is None else find_setpoint(memory.floor, self._set.setpoint_c)

    def steer(self, seen: View, memory: ValveMemory) -> tuple[ValveMemory, Setpoint | None]:
        """The next position, or None when neither supply nor return can be told."""
        memory, moment = self._look(seen, memory)
        if moment is None:
            return memory, None
        if moment.stagnant:
            return turn(memory, memory.output), self._say(memory, moment)
        regulator = regulate(memory, moment, self._set)
        correction = regulator.find_correction(moment.aim.error, moment.aim.gain)
        wanted = moment.aim.find_position(correction)
        output = self._limit(memory, moment, wanted)
        after = replace(turn(memory, output), short=wanted - output, regulator=regulator, plain=moment.aim.exchanger is None)
        return after, self._say(after, moment)

    def hold(self, seen: View, memory: ValveMemory, value: float) -> tuple[ValveMemory, Setpoint | None]:
        """By hand: the value, but no more than the floor allows; the regulator follows, so that there is no bump afterwards."""
        memory, moment = self._look(seen, memory)
        if moment is None:
            return memory, None
        regulator = regulate(memory, moment, self._set, by_hand=True)
        lowest = take_aim(moment.estimate, moment.floor.celsius, self._exchanger, self._set)
        allowed = lowest.find_position(replace(regulator, bump=0.0).find_correction(lowest.error, lowest.gain))
        wished = min(value, allowed) if lowest.exchanger is not None or lowest.error < 0.0 else value
        output = self._limit(memory, moment, wished, still=0.0)
        followed = take_bump(regulator, moment.aim.error, moment.aim.gain, moment.aim.find_correction(output))
        after = replace(turn(memory, output), regulator=followed, plain=moment.aim.exchanger is None)
        return after, self._say(after, moment)

    def _look(self, seen: View, memory: ValveMemory) -> tuple[ValveMemory, Moment | None]:
        """The memory after what is seen, and what to go by; None when the loop is blind."""
        read, watts = discard_impossible(look(seen, self._cdu, self._set), self._usual), sum_power(seen, self._cards)
        water = replace(read, supply=None, coldest=None, notes=(*read.notes, DOUBTED)) if memory.doubt.doubted else read
        known = learn(memory.known, water, watts, seen.now, self._usual, self._set)
        estimate = judge(known, water, watts, seen.now, self._usual, self._set)
        floor = find_floor(seen, self._rooms, memory.floor, self._set)
        position = follow_position(memory.position, memory.told, water.valve, seen.now, self._set.follow_percent)
        seconds = 0.0 if memory.at is None else max(0.0, min(LONGEST, seen.now - memory.at))
        made = [] if self._exchanger is None else list_made(self._exchanger, memory.output, estimate)
        after = _doubt(replace(memory, known=known, floor=floor, position=position, at=seen.now), read, estimate, made, seen.now)
        if water.supply is None and water.returned is None:
            return after, None
        if after.output is None:
            after = replace(after, output=None if water.valve is None else water.valve.value)
        setpoint = find_setpoint(floor, self._set.setpoint_c) + find_guard(water.warmest, water.coldest, floor, self._set.disagree_k)
        aim = take_aim(estimate, setpoint, self._exchanger, self._set)
        return after, Moment(water, estimate, floor, aim, seconds, water.flow is not None and estimate.flow is None)

    def _limit(self, memory: ValveMemory, moment: Moment, wanted: float, still: float | None = None) -> float:
        """Within the stroke, the slew, and what is worth the valve's wear; and never more open while the supply is below the floor."""
        before, coldest = memory.output, moment.water.coldest
        cold = coldest is not None and coldest < moment.floor.celsius
        wanted = max(0.0 if cold else self._set.least_percent, min(100.0, wanted))
        if before is None:
            return wanted
        most = self._set.slew_percent_s * (moment.seconds or self.period)
        wanted = max(before - most, min(before if cold else before + most, wanted))
        return before if abs(wanted - before) < (self._set.still_percent if still is None else still) else wanted

    def _say(self, memory: ValveMemory, moment: Moment) -> Setpoint:
        plain = moment.aim.exchanger is None
        alone = "" if not plain else f"by PI alone: {self._without}" if self._exchanger is None else "by PI alone: no heat to go by"
        alone = "held: no coolant flows" if moment.stagnant else alone
        notes = (alone, *moment.estimate.notes, moment.floor.note, say_raised(moment.floor, self._set.setpoint_c), memory.position.note)
        value = memory.told if memory.told is not None else MIDDLE
        return Setpoint(target=self.target, quantity=VALVE, value=value, unit="%", note="; ".join(note for note in notes if note))


def _doubt(memory: ValveMemory, read: Water, estimate: Estimate, made: Sequence[float], now: float) -> ValveMemory:
    """The memory with its doubt of the supply's sensor. What a wrong one had the integral learn is forgotten, without a bump.

    Two that agree are believed: then it is the return that is wrong, by which power and valve seem to contradict them.
    """
    if read.agreed:
        return replace(memory, doubt=Doubt())
    learned = memory.regulator
    free = memory.plain is False and memory.output is not None and 0.0 < memory.output < 100.0  # at a stop it proves nothing
    doubt = doubt_supply(memory.doubt, read.warmest, estimate.balance, learned.integral if free else 0.0, now, made)
    if doubt.doubted and not memory.doubt.doubted:
        return replace(memory, doubt=doubt, regulator=Regulator(0.0, learned.bump + learned.integral))
    return replace(memory, doubt=doubt)


def turn(memory: ValveMemory, output: float | None) -> ValveMemory:
    """The memory with another position; what is told leads it by the valve's play, the way it moves."""
    if output is None:
        return memory
    before = output if memory.output is None else memory.output
    way = memory.way if output == before else 1.0 if output > before else -1.0
    told = max(0.0, min(100.0, output + way * memory.position.play))
    return replace(memory, output=output, told=told, way=way)


def regulate(memory: ValveMemory, moment: Moment, settings: ControlSettings, *, by_hand: bool = False) -> Regulator:
    """The regulator one step on; one that begins, or changes its unit, begins from where the valve is."""
    aim, output = moment.aim, memory.output
    plain = aim.exchanger is None
    if memory.plain is not plain:
        if plain:
            return Regulator((MIDDLE if output is None else output) - aim.gain * aim.error)
        return Regulator() if output is None else take_bump(Regulator(), aim.error, aim.gain, aim.find_correction(output))
    kept = abs(memory.short) > settings.still_percent and memory.short * aim.error > 0.0
    held = by_hand or kept or not memory.position.at_rest or (output is not None and is_at_stop(output, aim.error, settings))
    return integrate(memory.regulator, aim.error, 0.0 if held else aim.rate, moment.seconds, aim.most)


def is_at_stop(output: float, error: float, settings: ControlSettings) -> bool:
    """Whether the valve is at an end, and the error asks for more of the same."""
    return (output >= 100.0 and error > 0.0) or (output <= settings.least_percent and error < 0.0)
