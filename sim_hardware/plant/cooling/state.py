"""The state of the cooling of a whole site."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from sim_hardware.plant.cooling.airing import Air
from sim_hardware.plant.cooling.cdu import Cdu
from sim_hardware.plant.cooling.plates import Cards, Spot
from sim_hardware.plant.cooling.site import Site
from sim_hardware.plant.words import Happening

DEW_POINT = 12.0  # C: 24 C at 47 % relative humidity


class Inputs(msgspec.Struct, frozen=True):
    """What the other parts do to the cooling."""

    card_watts: Sequence[float]  # in the order of the rack
    other_watts: Sequence[float]  # by node: what air alone cools
    dead: frozenset[str] = frozenset()  # loads without power, of `cdu/0` and `n0/fan*`


class Branch(msgspec.Struct, frozen=True):
    """A node's branch of the loop."""

    closed: bool = False
    blocked: float = 0.0

    @property
    def open(self) -> float:
        """Its flow as a share of what it was built for."""
        return 0.0 if self.closed else 1.0 - self.blocked


class Node(msgspec.Struct, frozen=True):
    """What is in a node."""

    cards: Cards
    air: Air
    inlet: float  # C
    outlet: float  # C
    flow: float  # L/s
    branch: Branch = Branch()
    warm_air: float = 0.0  # J, on its way to the rear door


class State(msgspec.Struct, frozen=True):
    """All of it, at `at`."""

    site: Site
    at: float
    steps: int  # whole substeps that are behind it
    cdus: tuple[Cdu, ...]
    nodes: tuple[Node, ...]
    settled: bool = False  # the first update finds the balance for its inputs
    dew_point: float = DEW_POINT
    spots: Mapping[int, Spot] = {}  # by card
    stuck_sensors: Mapping[int, float] = {}  # by card, C
    happened: tuple[Happening, ...] = ()

    @property
    def next_time(self) -> float:
        """When something happens by itself between two grid points: a watchdog bites."""
        return min((cdu.controller.until for cdu in self.cdus), default=math.inf)


class Moment(msgspec.Struct, frozen=True):
    """What a substep has to do with."""

    site: Site
    at: float
    inputs: Inputs
    spots: Mapping[int, Spot]
    dew_point: float
    told: list[Happening]  # what happened so far; the one thing that is added to
