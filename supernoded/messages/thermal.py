"""What is asked and answered about coolant and heat, and about holding a device by hand. None = not known, and never as cold."""

from __future__ import annotations

from typing import Annotated

import msgspec

from supernoded.messages.answers import Answer
from supernoded.messages.filters import Filter
from supernoded.model import Level, Severity, Verdict

LONGEST_HAND = 3600.0  # seconds that a device is held by hand without being asked again (ours)
DRAWN_FOR = 600.0  # seconds that are drawn unless more is asked for: what is in memory anyway


class LoopRow(msgspec.Struct, frozen=True, kw_only=True):
    """One loop of this daemon and the device that it turns."""

    name: str
    target: str
    quantity: str = ""  # that it puts
    scope: str
    policy: str
    engaged: bool
    idle_because: str = ""  # empty while it is engaged
    value: float | None = None  # put last
    unit: str = ""
    put_age: float | None = None  # s since it was put
    note: str = ""  # what it has to do without
    by_hand: bool = False
    hand_value: float | None = None  # at which it is held; None by hand = nothing is put at all
    hand_by: str = ""
    hand_reason: str = ""
    hand_left: float | None = None  # s
    can_be_held: bool = False


class Pump(msgspec.Struct, frozen=True, kw_only=True):
    """One pump of a unit."""

    subject: str
    state: str = ""
    speed: float | None = None  # %


class CoolingUnit(msgspec.Struct, frozen=True, kw_only=True):
    """One coolant distribution unit. `text` is the worst that a rule says of it."""

    subject: str
    name: str = ""  # of its loop in the topology: commissioning data are filed under it
    authority: str = ""  # how far we may turn it: setpoint or direct; empty = not described
    control: str = ""  # who turns it: auto, setpoint or direct
    watchdog: float | None = None  # s of silence after which it falls back by itself
    watchdog_left: float | None = None  # s
    fallback: float | None = None  # C, the setpoint that it goes back to by itself
    supply: float | None = None  # C, of the warmer transmitter
    supply_colder: float | None = None  # C, of the colder one
    setpoint: float | None = None  # C that is held now, by whoever turns it
    return_temperature: float | None = None  # C
    primary: float | None = None  # C, the building's water
    flow: float | None = None  # L/min
    pressure_difference: float | None = None  # kPa
    heat: float | None = None  # W
    valve: float | None = None  # %, where it stands
    valve_command: float | None = None  # %, where it was told to go
    pumps: tuple[Pump, ...] = ()
    level_percent: float | None = None
    leak: bool | None = None
    leak_sticky: bool | None = None  # it was wet since a person last cleared it
    dew_point: float | None = None  # C
    alarms: tuple[str, ...] | None = None  # in its own words
    band_margin: float | None = None  # K left to the edge of the band; below 0 = outside of it
    dew_margin: float | None = None  # K of the colder supply above dew point and margin
    valve_room: float | None = None  # % that the valve can still open
    level: Level = Level.UNSURE
    severity: Severity = Severity.INFO
    text: str = ""
    judged_by: str = ""  # the node that has its role, as far as is known


class CardHeat(msgspec.Struct, frozen=True, kw_only=True):
    """One card of the heat map."""

    temperature: float | None = None  # C
    power: float | None = None  # W
    throttled: bool | None = None


class Fan(msgspec.Struct, frozen=True, kw_only=True):
    """One fan of a node."""

    name: str
    speed: float | None = None  # rpm
    duty: float | None = None  # %


class NodeHeat(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the heat map: `cards` in the order of their slots."""

    node: str
    loop: str = ""  # the unit that cools it
    cards: tuple[CardHeat, ...] = ()
    hottest: float | None = None  # C, of the cards that are known
    hottest_card: str = ""
    fans: tuple[Fan, ...] = ()
    fan_control: str = ""  # auto, manual or full
    fan_duty: float | None = None  # %, of the node as a whole
    flow: float | None = None  # L/min through its branch
    branch_open: bool | None = None


class Thermal(Answer, frozen=True, kw_only=True):
    """Loops, units, heat map, and what the rules say of them: the raised first."""

    loops: tuple[LoopRow, ...] = ()
    units: tuple[CoolingUnit, ...] = ()
    nodes: tuple[NodeHeat, ...] = ()
    verdicts: tuple[Verdict, ...] = ()


class ThermalHistoryFilter(Filter, frozen=True, kw_only=True):
    """Of which unit, how far back, and at most how many points of each quantity."""

    loop: Annotated[str, msgspec.Meta(min_length=1)]
    seconds: Annotated[float, msgspec.Meta(gt=0, le=3600)] = DRAWN_FOR
    points: Annotated[int, msgspec.Meta(ge=2, le=3600)] = 600


class Track(msgspec.Struct, frozen=True, kw_only=True):
    """One quantity over time: pairs of time and value, oldest first; a value that could not be measured is null."""

    quantity: str
    unit: str = ""
    points: tuple[tuple[float, float | None], ...] = ()


class ThermalHistory(Answer, frozen=True, kw_only=True):
    """What a unit has shown lately."""

    loop: str
    since: float
    tracks: tuple[Track, ...] = ()


class HandOrder(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of `POST /v1/loops/<target>`. `value` null = let its unit hear nothing for so long, so that it must fall back by itself."""

    value: float | None
    seconds: Annotated[float, msgspec.Meta(gt=0, le=LONGEST_HAND)]
    reason: Annotated[str, msgspec.Meta(max_length=200)] = ""


class Handed(Answer, frozen=True, kw_only=True):
    """A device that is held by hand from now on, or (`until` null) no longer is. `text` says what was and what will be."""

    target: str
    loop: str
    unit: str = ""
    before: float | None = None  # that was put last
    value: float | None = None  # at which it is held
    until: float | None = None
    text: str = ""
