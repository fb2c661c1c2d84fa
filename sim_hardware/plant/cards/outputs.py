"""Power, clock and speed of cards, from what was done to them and what the job asks."""

from __future__ import annotations

import math
from typing import TypeVar

import msgspec

from sim_hardware.plant.cards.shape import Card, Outputs, Site, State

Item = TypeVar("Item")

THROTTLED = 0.60  # of the full clock, ours
BRAKED = 0.30  # of the full clock, ours; server boards' power brakes are of this order
CLOCK_POWER = 2.2  # power over idle goes with clock to this: frequency times voltage squared, with voltage nearly flat, ours


def compute_clock(site: Site, card: Card, throttled: bool) -> float:
    """Share of the full clock. A cap is kept at any load: the governor reckons with a full one."""
    clock = 1.0
    if card.cap is not None:
        clock = min(clock, ((card.cap - site.idle_watts) / (site.full_watts - site.idle_watts)) ** (1.0 / CLOCK_POWER))
    if throttled:
        clock = min(clock, THROTTLED)
    return min(clock, BRAKED) if card.brake else clock


def compute_outputs(state: State) -> Outputs:
    """All of it; linear in cards."""
    site, load, throttled = state.site, state.inputs.load, state.inputs.throttled
    on = [node.power == "on" for node in state.nodes]
    draws = [node.power != "off" for node in state.nodes]
    span = site.full_watts - site.idle_watts
    watts, clocks, speeds, alive = [], [], [], []
    for number, (card, node) in enumerate(zip(state.cards, site.node_of, strict=True)):
        lives = on[node] and not (card.off or card.shut or card.full or card.isolated) and card.back_at == math.inf
        computes = lives and not card.hung
        clock = compute_clock(site, card, throttled[number])
        idle = site.idle_watts if draws[node] and not card.shut else 0.0
        watts.append(idle + load[number] * span * clock**CLOCK_POWER if computes else idle)
        clocks.append(clock)
        speeds.append(clock * (1.0 - card.slow) if computes else 0.0)
        alive.append(lives)
    first = site.first
    totals = [sum(watts[first[node] : first[node + 1]]) + (site.other_watts if draws[node] else 0.0) for node in range(len(on))]
    return Outputs(tuple(watts), tuple(clocks), tuple(speeds), tuple(alive), tuple(totals))


def refresh(state: State) -> State:
    """The same state with its outputs made anew, keeping every tuple that came out the same."""
    old, new = state.outputs, compute_outputs(state)
    outputs = Outputs(
        watts=_keep(old.watts, new.watts),
        clocks=_keep(old.clocks, new.clocks),
        speeds=_keep(old.speeds, new.speeds),
        alive=_keep(old.alive, new.alive),
        node_watts=_keep(old.node_watts, new.node_watts),
    )
    return msgspec.structs.replace(state, outputs=outputs)


def _keep(old: tuple[Item, ...], new: tuple[Item, ...]) -> tuple[Item, ...]:
    return old if old == new else new


def list_watts(state: State) -> tuple[float, ...]:
    """W by card."""
    return state.outputs.watts


def list_node_watts(state: State) -> tuple[float, ...]:
    """W by node, cards and other, without fans."""
    return state.outputs.node_watts


def list_speeds(state: State) -> tuple[float, ...]:
    """Share of full speed by card; 0 cannot compute."""
    return state.outputs.speeds


def list_alive(state: State) -> tuple[bool, ...]:
    """By card: a process can live on it. A hung card's does; that of one that is away, isolated or out of memory does not."""
    return state.outputs.alive


def list_up(state: State) -> tuple[bool, ...]:
    """By node: it is on."""
    return tuple(node.power == "on" for node in state.nodes)


def list_memory(state: State) -> tuple[float, ...]:
    """Used memory by card, B."""
    return tuple(map(state.measure_memory, range(len(state.cards))))
