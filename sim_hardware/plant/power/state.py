"""The state of the power plant, frozen; and the draft in which one step is worked out.

Between two events every power is constant. `Flow` has those powers, and everything stored is what it was at `since` plus a rate
times the time passed, so that a step in which nothing happens need not touch anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import msgspec

from sim_hardware.plant.power.flows import EnergyBook, Flow
from sim_hardware.plant.power.spec import Spec
from sim_hardware.plant.power.things import Feed, Generator, Pdu, Timer, Ups, Utility
from sim_hardware.plant.words import Happening


class State(msgspec.Struct, frozen=True):
    """The power plant at `at` seconds. Stored things are as of `since`; see the module."""

    spec: Spec
    at: float
    since: float
    watts: tuple[float, ...]  # that each load would draw
    utilities: tuple[Utility, ...]
    generator: Generator
    feeds: tuple[Feed, ...]
    ups: tuple[Ups, ...]
    pdus: tuple[Pdu, ...]
    closed: tuple[bool, ...]  # outlets
    locked: frozenset[int]
    timers: tuple[Timer, ...]
    cords: tuple[tuple[int, ...], ...]
    fed: tuple[bool, ...]  # loads with a live cord
    live: tuple[bool, ...]  # loads that run
    lost_at: dict[int, float]  # loads that run out of hold-up
    inrush: dict[int, float]  # loads that draw their inrush, until then
    shelves: tuple[float, ...]  # J
    flow: Flow
    book: EnergyBook
    next_time: float = math.inf
    happened: tuple[Happening, ...] = ()


@dataclass
class Draft:
    """A step being worked out: the same as `State`, to be written on."""

    spec: Spec
    at: float
    since: float
    watts: tuple[float, ...]
    utilities: list[Utility]
    generator: Generator
    feeds: list[Feed]
    ups: list[Ups]
    pdus: list[Pdu]
    closed: list[bool]
    locked: frozenset[int]
    timers: tuple[Timer, ...]
    cords: tuple[tuple[int, ...], ...]
    fed: list[bool]
    live: list[bool]
    lost_at: dict[int, float]
    inrush: dict[int, float]
    shelves: list[float]
    flow: Flow
    book: EnergyBook
    next_time: float = math.inf
    happened: list[Happening] = field(default_factory=list)
    changed: bool = False

    def tell(self, kind: str, subject: str, text: str, value: float | None = None) -> None:
        """Something has happened."""
        self.happened.append(Happening(self.at, kind, subject, text, value))

    def wake(self, time: float) -> None:
        """Look again at this time, when it is still to come."""
        if self.at < time < self.next_time:
            self.next_time = time


def open_draft(state: State) -> Draft:
    """A draft of the state, with nothing happened."""
    return Draft(
        spec=state.spec,
        at=state.at,
        since=state.since,
        watts=state.watts,
        utilities=list(state.utilities),
        generator=state.generator,
        feeds=list(state.feeds),
        ups=list(state.ups),
        pdus=list(state.pdus),
        closed=list(state.closed),
        locked=state.locked,
        timers=state.timers,
        cords=state.cords,
        fed=list(state.fed),
        live=list(state.live),
        lost_at=dict(state.lost_at),
        inrush=dict(state.inrush),
        shelves=list(state.shelves),
        flow=state.flow,
        book=state.book,
        next_time=state.next_time,
    )


def close_draft(draft: Draft) -> State:
    """The state that was worked out."""
    return State(
        spec=draft.spec,
        at=draft.at,
        since=draft.since,
        watts=draft.watts,
        utilities=tuple(draft.utilities),
        generator=draft.generator,
        feeds=tuple(draft.feeds),
        ups=tuple(draft.ups),
        pdus=tuple(draft.pdus),
        closed=tuple(draft.closed),
        locked=draft.locked,
        timers=draft.timers,
        cords=draft.cords,
        fed=tuple(draft.fed),
        live=tuple(draft.live),
        lost_at=draft.lost_at,
        inrush=draft.inrush,
        shelves=tuple(draft.shelves),
        flow=draft.flow,
        book=draft.book,
        next_time=draft.next_time,
        happened=tuple(draft.happened),
    )
