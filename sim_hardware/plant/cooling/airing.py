"""Fans, their BMC, and the parts of a node that air alone cools: optics, NIC, regulators and DIMMs.

Limits: optics 75 C (case limit of QSFP-DD and OSFP modules is 70 C; ours above it), NIC and regulators 105 and 125 C (common silicon
limits), DIMM 85 C (JESD79-5: above it, refresh must be doubled). With fans off, optics at their usual 60 C gain about a third of a
kelvin a second: harmless for ten seconds, and past their limit within a minute or two (ours).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from sim_hardware.plant.cooling.orders import FanControl
from sim_hardware.plant.cooling.site import FANS, SUBSTEP, NodeSite
from sim_hardware.plant.words import Happening

FULL_RPM = 12000.0
FULL_FLOW = 90.0  # m3/h of one fan
_LAG = 2.0  # s
_STEP = 1.0 - math.exp(-SUBSTEP / _LAG)
_TURNS, _STANDS = 0.10, 0.05  # share of full speed
_STILL_AIR = 0.12  # what natural convection cools, of what full airflow does
_FILM = 0.8  # exponent of airflow in heat transfer
_LEAST, _MOST = 30.0, 100.0  # duty under the BMC, %
_EASE = 2.0  # least change of duty, %
_QUICK = 10.0  # most, % a second


class Part(msgspec.Struct, frozen=True):
    """A kind of part: how warm it is over the room and with what time constant, at full load and airflow."""

    name: str
    kelvin: float
    tau_s: float
    limit: float
    wish: float  # what the BMC aims below


PARTS = (
    Part("optics", 20.0, 60.0, 75.0, 58.0),
    Part("nic", 25.0, 50.0, 105.0, 85.0),
    Part("vrm", 30.0, 40.0, 125.0, 100.0),
    Part("dimm", 22.0, 90.0, 85.0, 68.0),
)
_TABLE = tuple((part.kelvin, part.tau_s) for part in PARTS)
_LIMITS = tuple(part.limit for part in PARTS)
_RELIEF = 3.0  # K below the limit, where overheating can be told again


class Air(msgspec.Struct, frozen=True):
    """The air side of a node. Speeds are shares of full speed, duties %."""

    speeds: tuple[float, ...]
    duties: tuple[float, ...]
    parts: tuple[float, ...]  # C, in the order of PARTS
    control: FanControl = "auto"
    stopped: frozenset[int] = frozenset()  # by a fault
    standing: frozenset[int] = frozenset()
    hot: frozenset[int] = frozenset()


def start_air(room: float, load: float) -> Air:
    """Air as it is when the BMC has held it for long."""
    duty = find_duty(room, load)
    speeds = (duty / 100.0,) * FANS
    return Air(speeds, (duty,) * FANS, tuple(room + part.kelvin * load / _film(duty / 100.0) for part in PARTS))


def find_duty(room: float, load: float) -> float:
    """The least duty, %, whole, at which all parts are at what the BMC aims for."""
    duties = (duty for duty in range(int(_LEAST), int(_MOST)) if all(_settles(part, room, load, duty) for part in PARTS))
    return float(next(duties, _MOST))


def _settles(part: Part, room: float, load: float, duty: float) -> bool:
    return room + part.kelvin * load / _film(duty / 100.0) <= part.wish


def _film(airflow: float) -> float:
    return float(airflow**_FILM + _STILL_AIR)


def step_air(air: Air, site: NodeSite, room: float, other_watts: float, live: bool, at: float, told: list[Happening]) -> Air:
    """One substep."""
    load = other_watts / site.other_watts if site.other_watts > 0.0 else 0.0
    speeds = _spin(air, live)
    film = _film(sum(speeds) / FANS)
    hotter = load / film
    parts = tuple(
        [
            old + (room + kelvin * hotter - old) * (1.0 - math.exp(-SUBSTEP * film / tau))
            for old, (kelvin, tau) in zip(air.parts, _TABLE, strict=True)
        ]
    )
    duties = _regulate(air, parts) if at % 1.0 == 0.0 else air.duties
    after = Air(speeds, duties, parts, air.control, air.stopped, air.standing, air.hot)
    if speeds is air.speeds and not air.hot and not _exceeds(parts):
        return after
    return _judge(after, site.name, at, told)


def _exceeds(parts: Sequence[float]) -> bool:
    return any(celsius >= limit for celsius, limit in zip(parts, _LIMITS, strict=True))


def _spin(air: Air, live: bool) -> tuple[float, ...]:
    """The speeds one substep on; the same tuple when nothing changes."""
    share = 0.01 if live else 0.0
    targets = tuple([duty * share for duty in air.duties])
    if air.stopped:
        targets = tuple([0.0 if fan in air.stopped else target for fan, target in enumerate(targets)])
    if targets == air.speeds:
        return air.speeds
    return tuple([_approach(now, target) for now, target in zip(air.speeds, targets, strict=True)])


def _approach(now: float, target: float) -> float:
    return target if -1e-6 < now - target < 1e-6 else now + (target - now) * _STEP


def _regulate(air: Air, parts: Sequence[float]) -> tuple[float, ...]:
    """The BMC's duties: so much more than now as the worst part is over its aim, in whole %, once a second."""
    if air.control == "manual":
        return air.duties
    if air.control == "full":
        return (100.0,) * FANS
    now = air.duties[0]
    worst = max(celsius - part.wish for celsius, part in zip(parts, PARTS, strict=True))
    change = worst * 0.5 if worst > 0.0 else (worst + 4.0) * 0.25 if worst < -4.0 else 0.0
    duty = round(max(_LEAST, min(_MOST, now + max(-_QUICK, min(_QUICK, change)))))
    return air.duties if abs(duty - now) < _EASE and _LEAST < duty < _MOST and len(set(air.duties)) == 1 else (float(duty),) * FANS


def _judge(air: Air, name: str, at: float, told: list[Happening]) -> Air:
    """The air with its edges, and what happened."""
    speeds, standing, parts = air.speeds, air.standing, air.parts
    stand = frozenset(fan for fan in range(FANS) if speeds[fan] < (_TURNS if fan in standing else _STANDS))
    hot = frozenset(
        place for place, celsius in enumerate(parts) if celsius >= (_LIMITS[place] - _RELIEF if place in air.hot else _LIMITS[place])
    )
    for fan in sorted(stand ^ standing):
        kind, text = ("fan.stopped", "stands") if fan in stand else ("fan.running", "turns again")
        told.append(Happening(at, kind, f"{name}/fan{fan}", f"{name}/fan{fan} {text}", speeds[fan] * FULL_RPM))
    for place in sorted(hot - air.hot):
        part = PARTS[place]
        text = f"{part.name} of {name} at {parts[place]:.1f} C, and {part.limit:.0f} C is the limit"
        told.append(Happening(at, "part.overheated", name, text, parts[place]))
    return Air(speeds, air.duties, parts, air.control, air.stopped, stand, hot)


def find_airflow(air: Air, place: int) -> float:
    """What the airflow sensor behind a fan shows, m3/h: mostly its own fan, a little of both neighbours."""
    speeds = air.speeds
    around = (speeds[max(0, place - 1)] + speeds[min(FANS - 1, place + 1)]) / 2.0
    return FULL_FLOW * (0.7 * speeds[place] + 0.3 * around)
