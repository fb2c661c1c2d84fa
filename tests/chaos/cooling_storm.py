"""A storm over the coolant, drawn from one seed: a load that never rests, and one sensor after another that lies in one way.

One way to lie is one storm: dead, frozen, noisy, drifting, off, sentinel, late. An eighth, `plant`, has faults of the CDU itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from random import Random
from types import MappingProxyType

import msgspec

from sim_hardware.pathology import Absent, Drift, Freeze, Late, NotANumber, Pathology, UnitSlip
from tests.chaos.power_storm import Strike

BEGINS = 90.0  # s: by then the CDU is ours, and the loop at rest
HALF_HOUR, DAY = 1800.0, 86_400.0
SICK_S, WELL_S = (50.0, 95.0), (30.0, 50.0)  # of one sensor, and between two
LONG_SICK_S, LONG_WELL_S = (50.0, 500.0), (60.0, 400.0)  # over a day: shorter than a small leak may last (safety rule 20)
MOST_SLOW = 98.0  # % by which one card holds up the others; what the cards draw is then a third

SUPPLY, SECOND, RETURN = "coolant.supply_temperature", "coolant.supply_temperature.2", "coolant.return_temperature"
PRIMARY, FLOW, VALVE, DEW = "coolant.primary_temperature", "coolant.flow", "coolant.valve", "air.dew_point"
LEVEL, LEAK, PRESSURE, SPEED, DIE = "coolant.level", "coolant.leak", "coolant.pressure_difference", "pump.speed", "card.temperature"
SENSORS = (
    ("cdu/0", SUPPLY),
    ("cdu/0", SECOND),
    ("cdu/0", RETURN),
    ("cdu/0", FLOW),
    ("cdu/0", VALVE),
    ("cdu/0", PRIMARY),
    ("cdu/0", DEW),
    ("cdu/0", LEVEL),
    ("cdu/0", LEAK),
    ("cdu/0", PRESSURE),
    ("cdu/0/pump0", SPEED),
    ("n0/card3", DIE),
)
# so wrong one may be, in the sensor's unit: from not to be seen to absurd
SIZES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        **dict.fromkeys((SUPPLY, SECOND, RETURN, PRIMARY), (0.3, 6.0)),
        FLOW: (0.5, 8.0),
        VALVE: (3.0, 40.0),
        DEW: (0.5, 9.0),
        LEVEL: (1.0, 60.0),
        LEAK: (1.0, 1.0),
        PRESSURE: (2.0, 80.0),
        SPEED: (3.0, 60.0),
        DIE: (3.0, 60.0),
    }
)
SENTINELS = (-3276.8, -1.0, 0.0, 6553.5, 850.0, 3.4e38)  # of registers, of drivers, of thermometers whose wire is off


class Noise(msgspec.Struct, frozen=True, tag="noise"):
    """Each second something else: the truth, and so much beside it (one sigma), in its own unit."""

    sigma: float


class Offset(msgspec.Struct, frozen=True, tag="offset"):
    """The truth, and so much more."""

    more: float


Lie = Pathology | Noise | Offset


class Ill(msgspec.Struct, frozen=True):
    """One sensor that lies from `at` on for `lasts` seconds."""

    at: float
    lasts: float
    subject: str
    quantity: str
    lie: Lie

    @property
    def ends(self) -> float:
        """When it is well again."""
        return self.at + self.lasts


class Storm(msgspec.Struct, frozen=True):
    """What is played. `loads` are times and per cent by which one card holds up its job."""

    seed: int
    way: str
    rack: str
    seconds: float
    ills: tuple[Ill, ...] = ()
    strikes: tuple[Strike, ...] = ()
    loads: tuple[tuple[float, float], ...] = ()


def _draw_dead(chance: Random, quantity: str) -> Lie:
    del quantity
    return chance.choice((Absent(), NotANumber()))


def _draw_frozen(chance: Random, quantity: str) -> Lie:
    return Freeze(1.0 if quantity == LEAK and chance.random() < 0.5 else None)


def _draw_noisy(chance: Random, quantity: str) -> Lie:
    return Noise(_draw_size(chance, quantity) / 3.0)


def _draw_drifting(chance: Random, quantity: str) -> Lie:
    return Drift(_draw_size(chance, quantity) * chance.choice((-1.0, 1.0)) * 3600.0 / SICK_S[0])


def _draw_off(chance: Random, quantity: str) -> Lie:
    return Offset(_draw_size(chance, quantity) * chance.choice((-1.0, 1.0)))


def _draw_sentinel(chance: Random, quantity: str) -> Lie:
    if quantity == LEAK:
        return NotANumber()  # a bit has no other
    return UnitSlip(chance.choice(("fahrenheit", "milli"))) if chance.random() < 0.25 else Freeze(chance.choice(SENTINELS))


def _draw_late(chance: Random, quantity: str) -> Lie:
    del quantity
    return Late(round(_draw_log(chance, 3.0, 60.0), 1))


def _draw_log(chance: Random, least: float, most: float) -> float:
    return math.exp(chance.uniform(math.log(least), math.log(most)))


def _draw_size(chance: Random, quantity: str) -> float:
    return round(_draw_log(chance, *SIZES[quantity]), 2)


WAYS: Mapping[str, Callable[[Random, str], Lie]] = MappingProxyType(
    {
        "dead": _draw_dead,
        "frozen": _draw_frozen,
        "noisy": _draw_noisy,
        "drifting": _draw_drifting,
        "off": _draw_off,
        "sentinel": _draw_sentinel,
        "late": _draw_late,
    }
)


def draw_storm(way: str, seed: int, rack: str = "direct-1x8", seconds: float = HALF_HOUR) -> Storm:
    """The storm of a way to lie and a seed."""
    chance = Random(f"cooling storm {way} {seed}")
    ills = () if way == "plant" else tuple(_draw_ills(chance, WAYS[way], seconds))
    strikes = tuple(_draw_strikes(chance, seconds)) if way == "plant" else ()
    return Storm(seed, way, rack, seconds, ills, strikes, tuple(_draw_loads(chance, seconds)))


def _draw_ills(chance: Random, draw: Callable[[Random, str], Lie], seconds: float) -> Iterator[Ill]:
    """All sensors in some order, and again, each well for a while before the next is sick."""
    sick, well = (SICK_S, WELL_S) if seconds <= HALF_HOUR else (LONG_SICK_S, LONG_WELL_S)
    at, waiting = BEGINS, list[tuple[str, str]]()
    while True:
        waiting = waiting or chance.sample(SENSORS, len(SENSORS))
        subject, quantity = waiting.pop()
        ill = Ill(round(at, 1), round(chance.uniform(*sick), 1), subject, quantity, draw(chance, quantity))
        if ill.ends + well[0] > seconds:
            return
        yield ill
        at = ill.ends + chance.uniform(*well)


def _draw_strikes(chance: Random, seconds: float) -> Iterator[Strike]:
    """Faults of the CDU, one after the other, in some order and again."""
    at, waiting = BEGINS, list[Callable[[Random], tuple[str, str, Mapping[str, float | str]]]]()
    while True:
        waiting = waiting or chance.sample(_FAULTS, len(_FAULTS))
        fault, target, how = waiting.pop()(chance)
        strike = Strike(round(at, 1), round(chance.uniform(5.0, 150.0), 1), fault, target, how)
        if strike.ends + 2.0 * WELL_S[1] > seconds:
            return
        yield strike
        at = strike.ends + chance.uniform(60.0, 140.0)


def _fault(name: str, target: str, **how: tuple[float, float]) -> Callable[[Random], tuple[str, str, Mapping[str, float | str]]]:
    return lambda chance: (name, target, {key: round(chance.uniform(*span), 2) for key, span in how.items()})


_FAULTS = (
    _fault("device.silent", "cdu/0"),
    _fault("device.stale", "cdu/0"),
    _fault("device.slow", "cdu/0", seconds=(0.1, 3.0)),
    _fault("cdu.two_masters", "cdu/0", celsius=(18.0, 30.0)),
    _fault("cdu.pump_fail", "cdu/0/pump0"),
    _fault("cdu.pump_fail", "cdu/0/pump1"),
    _fault("cdu.run_signal_missing", "cdu/0/pump0"),
    _fault("cdu.valve_stuck", "cdu/0", percent=(5.0, 95.0)),
    _fault("cdu.primary_shift", "cdu/0", kelvin=(1.0, 12.0)),
    _fault("cdu.primary_lost", "cdu/0"),
    _fault("cdu.fouling", "cdu/0", share=(0.05, 0.5)),
    _fault("room.humid", "cdu/0", celsius=(15.0, 24.0)),
)


def _draw_loads(chance: Random, seconds: float) -> Iterator[tuple[float, float]]:
    """Squares, ramps and bursts, one after another, with rests between."""
    at = 20.0
    while at < seconds:
        lot = chance.random()
        high, low = round(chance.uniform(0.0, 20.0), 1), round(chance.uniform(50.0, MOST_SLOW), 1)
        if lot < 0.4:
            half = chance.choice((20.0, 40.0, 60.0, 90.0, 120.0)) / 2.0
            steps = [(half, low if turn % 2 else high) for turn in range(chance.randint(3, 7))]
        elif lot < 0.7:
            slope = [high + (low - high) * step / 8.0 for step in range(9)]
            pace = chance.uniform(2.0, 15.0)
            steps = [(pace, round(percent, 1)) for percent in (slope if chance.random() < 0.5 else slope[::-1])]
        else:
            steps = [(chance.uniform(1.0, 6.0), low), (chance.uniform(1.0, 20.0), high)] * chance.randint(1, 4)
        for lasts, percent in (*steps, (chance.uniform(10.0, 90.0), chance.choice((high, low)))):
            yield round(at, 1), percent
            at += lasts
