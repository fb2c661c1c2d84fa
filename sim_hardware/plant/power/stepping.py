"""The power plant through time."""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from sim_hardware.plant.power import figures
from sim_hardware.plant.power.flows import EnergyBook, Flow
from sim_hardware.plant.power.mains import settle_mains
from sim_hardware.plant.power.pdus import settle_pdus
from sim_hardware.plant.power.solving import solve
from sim_hardware.plant.power.spec import UTILITIES, Spec, read_rack
from sim_hardware.plant.power.state import Draft, State, close_draft, open_draft
from sim_hardware.plant.power.things import Feed, Generator, Pdu, Ups, Utility
from sim_hardware.plant.power.ups import rest_path, settle_upses
from sim_hardware.plant.words import PlantError
from sim_hardware.rack import Rack

_PASSES = 20  # in which everything at one moment has settled; three are usual
_STEPS = 100_000  # events in one update


class Inputs(msgspec.Struct, frozen=True):
    """What each load draws while it runs, W. A load that is not named draws nothing."""

    loads: Mapping[str, float]


def start(rack: Rack, seed: int) -> State:
    """The plant of a rack with good mains, full batteries and full shelves. Nothing in it is left to chance: any seed will do."""
    del seed
    spec = read_rack(rack)
    upses = tuple(_start_ups(spec, number, name in rack.sim.power.bypass_sites) for number, name in enumerate(ups.name for ups in spec.ups))
    draft = open_draft(
        State(
            spec=spec,
            at=0.0,
            since=0.0,
            watts=(0.0,) * len(spec.loads),
            utilities=tuple(Utility(hertz=spec.hertz) for _ in UTILITIES),
            generator=Generator(state="off" if spec.generator else "absent"),
            feeds=tuple(Feed(hertz=spec.hertz) for _ in spec.feeds),
            ups=upses,
            pdus=tuple(Pdu() for _ in spec.pdus),
            closed=(True,) * len(spec.outlets),
            locked=frozenset(),
            timers=(),
            cords=spec.cords,
            fed=(True,) * len(spec.loads),
            live=(True,) * len(spec.loads),
            lost_at={},
            inrush={},
            shelves=tuple(node.shelf_j for node in spec.nodes),
            flow=Flow((), (), (), (), (), EnergyBook()),
            book=EnergyBook(),
        )
    )
    settle(draft)
    return close_draft(draft)


def _start_ups(spec: Spec, number: int, bypassed: bool) -> Ups:
    one = spec.ups[number]
    ups = Ups(energy=one.full_j, mode="bypass" if bypassed else "normal")
    return replace(ups, path=rest_path(one, ups))


def update(state: State, time: float, inputs: Inputs) -> State:
    """The plant at `time`, its loads having drawn `inputs` since `state.at`. Raises PlantError for a past time, and for bad watts."""
    if not state.at <= time < math.inf:
        raise PlantError(f"power: time {time} s is before the plant's own, {state.at} s; give one from then on")
    watts = _read_loads(state.spec, inputs)
    if watts == state.watts and time < state.next_time:
        return replace(state, at=time, happened=())
    draft = open_draft(state)
    if watts != state.watts:
        _check_watts(state.spec, watts)
        advance(draft, draft.at)
        draft.watts = watts
        settle(draft)
    for _ in range(_STEPS):
        if draft.next_time > time:
            draft.at = time
            return close_draft(draft)
        advance(draft, draft.next_time)
        settle(draft)
    raise PlantError(f"power: more than {_STEPS} events before {time} s; the plant does not come to rest at {draft.at} s")


def advance(draft: Draft, time: float) -> None:
    """Integrate all that is stored to `time`; what is due then stands exactly at its mark."""
    seconds, flow = time - draft.since, draft.flow
    draft.book = draft.book.add(flow.book, seconds)
    for index, ups_flow in enumerate(flow.ups):
        ups = draft.ups[index]
        energy = ups_flow.battery_mark if ups_flow.battery_due <= time else ups.energy + ups_flow.stored * seconds
        strain = ups_flow.strain_mark if ups_flow.strain_due <= time else ups.strain + ups_flow.strain * seconds
        draft.ups[index] = replace(ups, energy=energy, strain=strain)
    _heat_breakers(draft, time, seconds)
    for shelf in flow.shelves:
        draft.shelves[shelf.node] = shelf.mark if shelf.due <= time else draft.shelves[shelf.node] + shelf.stored * seconds
    draft.since = draft.at = time


def _heat_breakers(draft: Draft, time: float, seconds: float) -> None:
    left = math.exp(-seconds / figures.BREAKER_TAU_S)
    for index, breaker in enumerate(draft.flow.breakers):
        pdu = draft.pdus[index]
        heat = 1.0 if breaker.trip_at <= time else breaker.target + (pdu.heat - breaker.target) * left
        if heat != pdu.heat:
            draft.pdus[index] = replace(pdu, heat=heat)


def settle(draft: Draft) -> None:
    """Let everything that is due at this moment happen, and find the powers that flow from now on."""
    for _ in range(_PASSES):
        draft.next_time, draft.changed = math.inf, False
        settle_mains(draft)
        settle_upses(draft)
        settle_pdus(draft)
        if not draft.changed:
            solve(draft)
            return
    raise PlantError(f"power: the plant does not settle at {draft.at} s; the last happenings are {draft.happened[-3:]}")


def _read_loads(spec: Spec, inputs: Inputs) -> tuple[float, ...]:
    give = inputs.loads.get
    return tuple([give(load, 0.0) for load in spec.loads])


def _check_watts(spec: Spec, watts: tuple[float, ...]) -> None:
    for load, one in zip(spec.loads, watts, strict=True):
        if not 0.0 <= one < math.inf:
            raise PlantError(f"power: load {load} draws {one} W; give a finite number from 0 up")


def energy(state: State) -> EnergyBook:
    """Joules since the start."""
    return state.book.add(state.flow.book, state.at - state.since)
