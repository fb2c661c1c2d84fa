"""A CDU's state: valve, exchanger, pumps, pipes, gauges, and what has been told of it."""

from __future__ import annotations

import msgspec

from sim_hardware.plant.cooling.actuator import Actuator
from sim_hardware.plant.cooling.drives import Pump
from sim_hardware.plant.cooling.plc import Controller
from sim_hardware.plant.cooling.slugs import Pipe

Leaks = tuple[tuple[str, float], ...]  # place, L/min


class Faults(msgspec.Struct, frozen=True):
    """What is wrong with it, by order."""

    primary_lost: bool = False
    kelvin: float = 0.0
    kilopascals: float = 0.0
    fouled: float = 0.0
    air: float = 0.0
    leaks: Leaks = ()


class Water(msgspec.Struct, frozen=True):
    """Its coolant. Temperatures in C."""

    outlet: float  # of the exchanger: the real supply
    inlet: float  # the real return
    supplies: tuple[Pipe, ...]  # by row; an empty pipe has no length
    returns: tuple[Pipe, ...]
    flow: float  # share of rated
    level: float = 80.0  # % of the reservoir
    air: float = 0.0  # share drawn in


class Gauges(msgspec.Struct, frozen=True):
    """What its transmitters measure, C, and what its registers show."""

    supply: float
    returned: float
    shown_supply: float
    shown_return: float


class Told(msgspec.Struct, frozen=True):
    """What has been told and is not over; and what that is judged by."""

    past: tuple[float, ...]  # real supply, second by second, C
    out_of_band: bool = False
    swinging: bool = False
    condensing: bool = False
    low: bool = False
    airy: bool = False
    dry: bool = False  # no flow
    large: bool = False
    leaking: frozenset[str] = frozenset()
    wet: frozenset[str] = frozenset()  # sticky bits


class Book(msgspec.Struct, frozen=True):
    """Sums since the beginning, J."""

    cards: float = 0.0  # from cards into their plates
    coolant: float = 0.0  # from plates into the coolant
    door: float = 0.0  # from rear doors into the coolant
    room: float = 0.0  # from plates to the room
    primary: float = 0.0  # from the coolant to the primary water
    began_with: float = 0.0  # in the coolant at the beginning
    plates_began_with: float = 0.0


class Cdu(msgspec.Struct, frozen=True):
    """A CDU and the coolant of its loop."""

    live: bool
    controller: Controller
    actuator: Actuator
    pumps: tuple[Pump, ...]
    faults: Faults
    water: Water
    gauges: Gauges
    told: Told
    book: Book
    openness: tuple[float, ...]  # by row: the share of all branches that is open
    primary_watts: float = 0.0  # to the primary water at present
    primary_celsius: float = 0.0
    primary_kilopascals: float = 0.0
    kilopascals: float = 0.0  # over the branches
